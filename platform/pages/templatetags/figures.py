"""Figures and tables of the analyses on pages.

A page that shows some loads `{% figure_scripts %}` in its head and shows each by `{% block_of block files %}`, or
all of a result by `{% blocks_of result files %}`. `files` is what comes before the key in the addresses of their
files; without it there are no links to files.
"""

import json
from collections.abc import Iterable
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import json_script
from django.utils.safestring import SafeString, mark_safe

from analysis.cells import rows_shown
from analysis.charts import bundle
from analysis.charts.look import CONFIG
from analysis.results import VERSION, Block, Figure, Heading, Note, Table

register = template.Library()

SHOWN_OF_FIGURES = 50  # rows; files have all
SHOWN_OF_TABLES = 1000
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
    most = SHOWN_OF_FIGURES if isinstance(block, Figure) else SHOWN_OF_TABLES
    return render_to_string(f"analysis/{block.kind}.html", _context(block, most, files, query))


@register.simple_tag
def blocks_of(blocks: Iterable[Block], files: str = "", query: str = "") -> SafeString:
    """All blocks of a result, in order."""
    return mark_safe("\n".join(block_of(block, files, query) for block in blocks))  # noqa: S308 (each is a template's)


def _context(block: Figure | Table, most: int, files: str, query: str) -> dict[str, Any]:
    rows = rows_shown(block.columns, block.rows[:most])
    return {
        "block": block,
        "rows": rows,
        "left_off": len(rows) < len(block.rows),
        "files": files,
        "query": query,
        "suffixes": SUFFIXES,
        "version": VERSION,
        "frame_id": f"{block.key}-rows",
    }
