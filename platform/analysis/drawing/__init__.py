"""Drawing specifications: the script for browsers, and pictures for files and reports."""
