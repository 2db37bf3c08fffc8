"""Making a competition of a bundle."""

from bundles.importing.action import import_bundle
from bundles.importing.report import ImportReport

__all__ = ["ImportReport", "import_bundle"]
