"""Filters of the pages of datasets."""

from collections import Counter
from collections.abc import Sequence

from django import template

from datasets.uploads.models import Upload
from pages.datasets import SEVERITIES, FindingLine

register = template.Library()

STYLES = {
    Upload.State.RECEIVING: "waiting",
    Upload.State.WAITING: "waiting",
    Upload.State.WORKING: "live moving",
    Upload.State.TABLE: "gold",
    Upload.State.CHECKED: "live",
    Upload.State.IMPORTED: "good",
    Upload.State.REFUSED: "bad",
    Upload.State.FAILED: "bad",
}


@register.filter
def upload_style(upload: Upload) -> str:
    """The class that gives the state its colour; the word stands beside it."""
    return STYLES.get(Upload.State(upload.state), "")


@register.filter
def severity_counts(lines: Sequence[FindingLine]) -> str:
    """How many findings of each weight there are: `2 errors, 1 note`."""
    counts = Counter(line.severity for line in lines)
    words = [(counts[severity], severity) for severity in SEVERITIES if counts[severity]]
    return ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in words)
