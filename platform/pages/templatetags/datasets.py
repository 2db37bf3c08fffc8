"""Filters of the pages of datasets."""

from collections import Counter
from collections.abc import Sequence

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from datasets.uploads.models import Upload
from pages import markup
from pages.datasets import SEVERITIES, FindingLine
from pages.templatetags.podium import fraction

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


@register.filter
def any_mend(lines: Sequence[FindingLine]) -> bool:
    """Whether a finding says what mends it; notes alone need no column for that."""
    return any(line.mend for line in lines)


COLUMNS = {
    "C": "classes or labels",
    "Cbal": "class balance: entropy over log C",
    "Sparse": "share of zeros",
    "Miss": "share of missing values",
    "Cat": "categorical features",
    "Irr": "share of probes",
    "Pte": "test samples",
    "Pva": "validation samples",
    "Ptr": "training samples",
    "N": "features",
    "Ptr/N": "training samples by features",
}


@register.filter
def column_abbreviation(name: str) -> SafeString:
    """A column's name with what it means."""
    return format_html('<abbr title="{}">{}</abbr>', COLUMNS.get(name, name), name)


@register.filter
def card_value(value: float | int | None, name: str) -> str:
    """A value of a card as its column shows it; a dash for what nobody said or may not be seen."""
    if value is None:
        return "–"
    if name == "Cbal":
        return f"{value:.3f}"
    if name == "Ptr/N":
        return f"{value:,.2f}"
    return fraction(value) if name in ("Sparse", "Miss", "Irr") else f"{value:,}"


@register.simple_tag
def share_bar(length: float) -> SafeString:
    """A bar of a share; the number stands beside it, so it is hidden from screen readers."""
    return format_html(
        '<svg class="bar" aria-hidden="true" focusable="false">'
        '<rect class="bar-ground" width="100%" height="100%"/>'
        '<rect class="bar-fill" width="{}" height="100%"/></svg>',
        markup.percent(length),
    )
