"""Filters and tags of the pages: numbers, moments, bars, and strangers' text."""

import datetime as dt
import math

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from competitions.models import Competition
from ingestion.budget import format_size
from pages import markup
from pages import text as texts

register = template.Library()

STATE_STYLES = {
    "queued": "waiting",
    "claimed": "live moving",
    "running": "live moving",
    "active": "live moving",
    "collected": "live",
    "scoring": "live moving",
    "finished": "good",
    "failed": "bad",
    "lost": "bad",
    "cancelled": "",
    "open": "good",
    "upcoming": "live",
    "closed": "",
    "released": "accent",
}


@register.filter
def markdown(text: str, competition: Competition | None = None) -> SafeString:
    """Organizers' Markdown as clean HTML; with the pictures of the competition, where it is one's text."""
    pictures_at = f"{competition.get_absolute_url()}images/" if competition else ""
    return texts.render_markdown(text or "", pictures_at=pictures_at)


@register.filter
def plain_log(text: str) -> str:
    """A program's output without terminal control sequences; the template escapes it."""
    return texts.plain_log(text or "")


@register.filter
def state_style(state: str) -> str:
    """The class that gives a state its colour; the word itself always stands beside it."""
    return STATE_STYLES.get(state, "")


@register.filter
def seconds(value: float | None) -> str:
    """A duration as people read it: `0.4 s`, `12 s`, `1,200 s`."""
    if value is None:
        return ""
    if value < 10 and value != round(value):
        return f"{value:.1f} s"
    return f"{value:,.0f} s"


@register.filter
def size(value: int | None) -> str:
    """A number of bytes with its unit."""
    return "" if value is None else format_size(value)


@register.filter
def decimals(value: float | None, digits: int = 3) -> str:
    """A number with a fixed number of decimals; empty for none."""
    return "" if value is None else f"{value + 0.0:.{int(digits)}f}"


@register.filter
def thousands(value: int | None) -> str:
    """An integer with separators, so that 425,240 can be read."""
    return "" if value is None else f"{value:,}"


@register.filter
def fraction(value: float | None) -> str:
    """A share between 0 and 1 to two significant digits; exact 0 and 1 stay short."""
    if value is None:
        return ""
    if value in (0, 1):
        return f"{value:.0f}"
    return f"{value:.3f}" if value >= 0.01 else f"{value:.1e}"


@register.filter
def standard_error(value: float | None) -> str:
    """A standard error to two significant digits, never in powers of ten where that can be helped.

    What rounding leaves of equal resamples, some 1e-17, is shown as 0.
    """
    if value is None or not math.isfinite(value):
        return ""
    if value < 1e-9:
        return "0"
    digits = min(8, max(1, 1 - math.floor(math.log10(value))))
    return f"{value:.{digits}f}"


@register.filter
def at(mapping: dict[object, object], key: object) -> object:
    """The value of a key; empty where it is absent."""
    return mapping.get(key, "")


@register.simple_tag
def moment(value: dt.datetime | None, style: str = "long") -> SafeString | str:
    """A moment in UTC. The page's script shows it in the reader's zone, and beside it how far away it is.

    `style`: long; short, for tables; exact or cell, for where the distance stands already or has no room.
    """
    if value is None:
        return ""
    return mark_safe(markup.time_tag(value, escape(style)))  # noqa: S308


@register.filter
def utc_text(value: dt.datetime | None) -> str:
    """`1 Dec 2025, 00:00 UTC`."""
    if value is None:
        return ""
    return markup.utc_text(value.astimezone(dt.UTC))


@register.filter
def until(value: dt.datetime, now: dt.datetime) -> str:
    """How long it is until a moment, in its largest unit: `12 days`, `3 hours`, `4 minutes`."""
    left = max(dt.timedelta(0), value - now)
    for unit, length in (("day", dt.timedelta(days=1)), ("hour", dt.timedelta(hours=1))):
        count = left // length
        if count >= 2:
            return f"{count} {unit}s"
    minutes = left // dt.timedelta(minutes=1)
    return f"{minutes} minute{'' if minutes == 1 else 's'}"


@register.simple_tag
def score_bar(value: float | None, stderr: float | None = None) -> SafeString | str:
    """A bar from 0 to 1 for a normalised score, with a line of one standard error to both sides.

    The number stands beside it, so the picture is hidden from screen readers.
    """
    if value is None:
        return ""
    return mark_safe(markup.score_bar(value, stderr))  # noqa: S308


@register.simple_tag
def budget_bar(used: float | None, limit: float) -> SafeString:
    """A bar of the time used out of the budget."""
    share = (used or 0.0) / limit if limit else 0.0
    return format_html(
        '<svg class="bar" aria-hidden="true" focusable="false">'
        '<rect class="bar-ground" width="100%" height="100%"/>'
        '<rect class="{}" width="{}" height="100%"/></svg>',
        "bar-over" if share >= 1 else "bar-fill",
        markup.percent(share),
    )
