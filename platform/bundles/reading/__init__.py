"""Reading bundles of Codabench (v2) and CodaLab (v1.5) into one normal form, with a report of all problems."""
