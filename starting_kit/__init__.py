"""What a participant downloads: sample submissions, sample data and `kit.py` to try them at home.

The package marker is for tests and linters; in the unzipped kit the files are plain scripts.
"""
