"""Figures and tables of the analyses on pages.

A page that shows some loads `{% figure_scripts %}` in its head and shows each by `{% block_of block files %}`, or
all of a result by `{% blocks_of result files %}`. `files` is what comes before the key in the addresses of their
files; without it there are no links to files.
"""

import json
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import json_script
from django.utils.safestring import SafeString, mark_safe

from analysis.cells import Shown, rows_shown
from analysis.charts.look import CONFIG
from analysis.drawing import bundle
from analysis.results import VERSION, Block, Figure, Heading, Note, Table

register = template.Library()

SHOWN_OF_FIGURES = 50  # rows; files have all
MOST_CELLS = 10_000  # of a table on a page; figures' files and tables' files have all
SUFFIXES = ("svg", "png", "csv", "json")
_ESCAPES = {ord(">"): "\\u003E", ord("<"): "\\u003C", ord("&"): "\\u0026"}


@register.simple_tag
def figure_scripts() -> SafeString:
    """What a page with figures loads in its head."""
    look = SafeString(json.dumps(CONFIG).translate(_ESCAPES))
    vega = reverse("vega", args=[bundle.version()])
    return render_to_string("analysis/scripts.html", {"look": look, "vega": vega})


@register.simple_tag
def spec_of(block: Figure) -> SafeString:
    """The specification of a figure where the script finds it."""
    script = json_script(block.spec)
    return mark_safe(script.replace("<script ", "<script data-spec ", 1))  # noqa: S308 (json_script has escaped it)


@register.simple_tag
def block_of(block: Block, files: str = "", query: str = "") -> SafeString:
    """One block of a result."""
    if isinstance(block, Note | Heading):
        return render_to_string(f"analysis/{block.kind}.html", {"block": block})
    most = SHOWN_OF_FIGURES
    if isinstance(block, Table):
        most = max(most, MOST_CELLS // max(len(block.columns), 1))
    return render_to_string(f"analysis/{block.kind}.html", _context(block, most, files, query))


@register.simple_tag
def blocks_of(blocks: Iterable[Block], files: str = "", query: str = "") -> SafeString:
    """All blocks of a result, in order."""
    return mark_safe("\n".join(block_of(block, files, query) for block in blocks))  # noqa: S308 (each is a template's)


def _context(block: Figure | Table, most: int, files: str, query: str) -> dict[str, Any]:
    return {
        "block": block,
        "body": _body(block, most),
        "shown": min(most, len(block.rows)),
        "left_off": most < len(block.rows),
        "files": files,
        "query": query,
        "suffixes": SUFFIXES,
        "version": VERSION,
        "frame_id": f"{block.key}-rows",
    }


def _body(block: Figure | Table, most: int) -> SafeString:
    """The rows of a table. They are many, so no template makes them: that would take a second for 600 entrants."""
    rows = ("".join(_cells(row)) for row in rows_shown(block.columns, block.rows[:most]))
    return mark_safe("\n".join(f"<tr>{row}</tr>" for row in rows))  # noqa: S308 (every cell is escaped below)


def _cells(row: list[Shown]) -> Iterator[str]:
    for place, cell in enumerate(row):
        text = escape(cell.text)
        if not cell.is_text:
            yield f'<td class="num">{text}</td>'
        elif place == 0:
            yield f'<th scope="row" class="stick"><bdi>{text}</bdi></th>'
        else:
            yield f"<td><bdi>{text}</bdi></td>"
