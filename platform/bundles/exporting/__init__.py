"""Writing a competition as a bundle."""

from bundles.exporting.writing import write_bundle

__all__ = ["write_bundle"]
