"""Reading bundles of Codabench (v2) and CodaLab (v1.5) into one normal form, with a report of all problems."""

from bundles.reading.reader import read_bundle
from bundles.reading.report import BundleReport, Choice, Problem, Question

__all__ = ["BundleReport", "Choice", "Problem", "Question", "read_bundle"]
