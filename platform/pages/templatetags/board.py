"""Tags of the leaderboard: cells made in one piece, because a page has hundreds."""

from typing import Any

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from pages.templatetags.podium import score_bar, standard_error

register = template.Library()
GONE = ("failed", "missing", "cancelled")


@register.simple_tag
def board_cell(cell: dict[str, Any]) -> SafeString:
    """A score ± its standard error, the rank on the dataset, and a bar; or a word why there is none."""
    rank = "–" if cell["rank"] is None else int(cell["rank"])
    top = " top" if cell["rank"] == 1 and cell["value"] is not None else ""
    badge = f'<span class="cell-rank{top}" title="rank on this dataset">{rank}</span>'
    if cell["value"] is None:
        word = "missing" if cell["state"] in GONE else "pending"
        # Every part is a number or a word of ours.
        return mark_safe(f'<div class="cell-line"><span class="muted">{word}</span>{badge}</div>')  # noqa: S308
    error = "" if cell["stderr"] is None else f' <span class="pm">± {standard_error(cell["stderr"])}</span>'
    text = f'<span><span class="score">{escape(cell["text"])}</span>{error}</span>'
    spread = _spread(cell) if cell.get("runs") else ""
    bar = score_bar(cell["value"], cell["stderr"])
    return mark_safe(f'<div class="cell-line">{text}{badge}</div>{spread}{bar}')  # noqa: S308


def _spread(cell: dict[str, Any]) -> SafeString:
    """The lowest and highest of the repeats."""
    return format_html(
        '<div class="spread" title="the lower median of {} of {} runs counts">{} to {}</div>',
        cell["repeats"],
        cell["runs"],
        cell["low"],
        cell["high"],
    )


@register.filter
def hours(value: float | None) -> str:
    """A long duration: `75 s`, `12 min`, `3.4 h`."""
    if value is None:
        return ""
    if value < 120:
        return f"{value:.0f} s"
    return f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"
