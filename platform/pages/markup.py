"""Pieces of markup made of numbers and moments alone, so that nothing in them needs escaping.

Tables with hundreds of them put these together as text; the tags of templates mark the same pieces as safe.
"""

import datetime as dt


def utc_text(moment: dt.datetime) -> str:
    """`1 Dec 2025, 00:00 UTC`, of a moment in UTC."""
    return f"{moment.day} {moment:%b %Y, %H:%M} UTC"


def time_tag(moment: dt.datetime, style: str = "long") -> str:
    """A moment in UTC that the page's script shows in the reader's zone."""
    utc = moment.astimezone(dt.UTC)
    stamp = utc.isoformat(timespec="seconds").replace("+00:00", "Z")
    return f'<time datetime="{stamp}" data-moment="{style}">{utc_text(utc)}</time>'


def percent(share: float) -> str:
    """A share of a width."""
    return f"{100 * min(1.0, max(0.0, share)):.2f}%"


def score_bar(value: float, stderr: float | None = None) -> str:
    """A bar from 0 to 1 for a normalised score, with a line of one standard error to both sides."""
    whisker = ""
    if stderr and value > 0:
        ends = f'x1="{percent(value - stderr)}" x2="{percent(value + stderr)}"'
        whisker = f'<line class="bar-whisker" {ends} y1="50%" y2="50%"/>'
    return (
        '<svg class="bar" aria-hidden="true" focusable="false">'
        '<rect class="bar-ground" width="100%" height="100%"/>'
        f'<rect class="bar-soft" width="{percent(value)}" height="100%"/>{whisker}</svg>'
    )
