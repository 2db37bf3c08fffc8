"""Tags of the leaderboard. Its rows are put together as text, because a page has hundreds of cells.

What people wrote is escaped; everything else in a row is a number, a moment or a word of ours.
"""

from collections.abc import Iterable
from typing import Any

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from pages import markup
from pages.boards import ShownRow
from pages.templatetags.podium import standard_error

register = template.Library()
GONE = ("failed", "missing", "cancelled")


@register.simple_tag
def board_rows(rows: Iterable[ShownRow], datasets: int, is_anonymous: bool) -> SafeString:
    """The rows of a table body, for the columns that `pages.views.leaderboard` heads."""
    return mark_safe("\n".join(_row(one, datasets, is_anonymous) for one in rows))  # noqa: S308


def _row(one: ShownRow, datasets: int, is_anonymous: bool) -> str:
    row = one.row
    tags = f'<span class="entrant-tags">{escape(", ".join(one.tags))}</span>' if one.tags else ""
    cells = "".join(f'<td class="cell">{_cell(cell)}</td>' for cell in one.cells)
    # The moments and counts of a row would tell whose it is.
    named = "" if is_anonymous else _of_entry(one)
    scored = "" if row.scored == datasets else f'<span class="second">{row.scored} of {datasets}</span>'
    mine = ' class="mine"' if one.is_own else ""
    return (
        f"<tr{mine}>"
        f'<td class="stick rank">{_place(one)}</td>'
        f'<th class="stick entrant" scope="row"><bdi>{escape(one.name)}</bdi>{tags}</th>'
        f'<td class="num">{row.mean_rank:.2f}</td><td class="num">{row.mean_score + 0.0:.4f}{scored}</td>'
        f"{cells}{named}</tr>"
    )


def _place(one: ShownRow) -> str:
    if one.row.rank is None:
        return f'<span class="between" title="takes no place; it stands {one.place}">{one.place}</span>'
    return f'<span class="place place-{one.row.rank}">{one.row.rank}</span>'


def _of_entry(one: ShownRow) -> str:
    row = one.row
    latest = ""
    if row.last_received_at != row.received_at:
        latest = f'<span class="second">latest {markup.time_tag(row.last_received_at, "cell")}</span>'
    return (
        f'<td class="num">{hours(row.wall_seconds)}</td><td class="num">{row.entries}</td>'
        f'<td class="nowrap">{markup.time_tag(row.received_at, "cell")}{latest}</td>'
    )


def _cell(cell: dict[str, Any]) -> str:
    """A score ± its standard error, the rank on the dataset, and a bar; or a word why there is none."""
    has_value = cell["value"] is not None
    top = " top" if cell["rank"] == 1 and has_value else ""
    badge = f'<span class="cell-rank{top}"><span class="sr">rank </span>{cell["rank"] or "–"}</span>'
    if not has_value:
        word = "missing" if cell["state"] in GONE else "pending"
        return f'<div class="cell-line"><span class="muted">{word}</span>{badge}</div>'
    error = "" if cell["stderr"] is None else f' <span class="pm">± {standard_error(cell["stderr"])}</span>'
    text = f'<span><span class="score">{escape(cell["text"])}</span>{error}</span>'
    spread = ""
    if cell.get("runs"):
        title = f"the lower median of {cell['repeats']} of {cell['runs']} runs counts"
        spread = f'<div class="spread" title="{title}">{cell["low"]} to {cell["high"]}</div>'
    return f'<div class="cell-line">{text}{badge}</div>{spread}{markup.score_bar(cell["value"], cell["stderr"])}'


def hours(value: float | None) -> str:
    """A long duration: `75 s`, `12 min`, `3.4 h`."""
    if value is None:
        return ""
    if value < 120:
        return f"{value:.0f} s"
    return f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"
