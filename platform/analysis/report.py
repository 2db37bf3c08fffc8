"""A competition's whole analysis as one self-contained HTML page, fit for the appendix of a paper.

It is a section like others, so that it is computed by the site's worker and kept by the hash of its inputs: those
of all sections. What an audience may not see is not in what sections load for it, and so not in its report.
"""

import datetime as dt
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone

from analysis.cells import rows_shown
from analysis.drawing.inline import inline_svg
from analysis.inputs.audience import Audience, Scope, scopes, usual_scope
from analysis.inputs.boards import Loaded
from analysis.kept import fingerprint_of, forget_older, of_inputs, packed, unpacked
from analysis.models import Computed
from analysis.results import VERSION, Block, Figure, Heading, Note, Result, Table
from analysis.sections import BY_KEY, SECTIONS
from analysis.sections.base import Section, Tell, nothing
from analysis.versions import podium_version, versions
from competitions.models import Competition
from competitions.policy import EDITING

MOST_ROWS = 60  # of a table; the files of the pages have all
MOST_COLUMNS = 16  # beside each other on a sheet of A4; a wider table goes on below itself
HTML = "html"  # its place among what the result keeps


@dataclass(frozen=True)
class Part:
    """A section over its inputs, and where it is about one of several phases, about which."""

    key: str
    about: str
    audience: dict[str, Any]
    loaded: Loaded

    @property
    def section(self) -> Section:
        """The section."""
        return BY_KEY[self.key]


def load(competition: Competition, audience: Audience, now: dt.datetime) -> Loaded:
    """The inputs of every section; those about one phase are about the last that is over, and all together."""
    parts = [part for part in _parts(competition, Audience(audience.sees_hidden), now) if not nothing(part.loaded)]
    boards = parts[0].loaded.boards if parts else ()
    people = competition.organizers.filter(role__in=EDITING).select_related("user").order_by("pk")
    facts = {
        "competition": competition.pk,
        "title": competition.title,
        "summary": competition.summary,
        "url": settings.PODIUM_URL + competition.get_absolute_url(),
        "organizers": [one.user.display_name for one in people],
        "sees_hidden": audience.sees_hidden,
        "parts": parts,
    }
    return Loaded(boards, facts)


def _parts(competition: Competition, audience: Audience, now: dt.datetime) -> Iterator[Part]:
    found = scopes(competition, audience, now)
    for section in SECTIONS:
        if not section.of_phase:
            yield Part(section.key, "", audience.to_json(), section.load(competition, audience, now))
            continue
        for scope in _chosen(found, now, section):
            loaded = section.load(competition, scope.audience, now)
            yield Part(section.key, scope.label, scope.audience.to_json(), loaded)


def _chosen(found: list[Scope], now: dt.datetime, section: Section) -> list[Scope]:
    """All phases of a kind together by their deciding part, and the phase that a page shows first."""
    together = [scope for scope in found if scope.is_combined]
    tested = [scope for scope in together if scope.part == "test"]
    usual = usual_scope(found, now, both_parts=section.both_parts)
    return [*(tested or together), *([usual] if usual else [])]


def build(loaded: Loaded, tell: Tell) -> Result:
    """The page, in the result's extras; sections that are kept are not computed again."""
    parts: list[Part] = loaded.facts["parts"]
    results: list[tuple[Part, Result]] = []
    for index, part in enumerate(parts):
        what = f"{part.section.label}{f', {part.about}' if part.about else ''}"

        def told(share: float, sentence: str, before: int = index, what: str = what) -> None:
            tell(0.7 * (before + share) / len(parts), f"{what}: {sentence}")

        tell(0.7 * index / len(parts), f"{what} is being computed.")
        results.append((part, _result(loaded.facts["competition"], part, told)))
    tell(0.7, "The figures are being drawn.")
    html = _page(loaded.facts, results, tell)
    return Result(f"{len(parts)} analyses.", (), extras={HTML: html})


def _result(competition: int, part: Part, tell: Tell) -> Result:
    fingerprint = fingerprint_of(part.section, part.loaded)
    row = of_inputs(competition, part.section, fingerprint).filter(state=Computed.State.READY).first()
    if row is not None and row.content is not None:
        return unpacked(row.content)
    result = part.section.build(part.loaded, tell)
    row, _ = Computed.objects.update_or_create(
        competition_id=competition,
        section=part.key,
        fingerprint=fingerprint,
        defaults={
            "audience": part.audience,
            "state": Computed.State.READY,
            "content": packed(result),
            "sentence": "",
            "deadline": None,
            "share": 1.0,
        },
    )
    forget_older(row)
    return result


def _page(facts: dict[str, Any], made: list[tuple[Part, Result]], tell: Tell) -> str:
    results = [(part, result) for part, result in made if _shows_something(result)]
    shown = {part.key for part, _ in results}
    empty = _once(part.section.label for part, _ in made if part.key not in shown)
    count = sum(isinstance(block, Figure) for _, result in results for block in result.blocks)
    numbers = _Numbers(max(count, 1), tell)
    chapters = [
        {
            "label": part.section.label,
            "about": part.about,
            "question": part.section.question,
            "headline": result.headline,
            "blocks": [numbers.shown(block) for block in result.blocks],
        }
        for part, result in results
    ]
    return render_to_string(
        "analysis/report.html",
        {
            **facts,
            "chapters": chapters,
            "empty": empty,
            "methods": _once(result.methods for _, result in results),
            "references": sorted(_once(one for _, result in results for one in result.references)),
            "made_at": timezone.now(),
            "version": podium_version(),
            "definitions": VERSION,
            "versions": versions(),
        },
    )


def _shows_something(result: Result) -> bool:
    """Whether there is more than a sentence that says why there is nothing."""
    return any(isinstance(block, Figure | Table) for block in result.blocks)


def pieces(table: Table) -> list[dict[str, Any]]:
    """The table in pieces that fit beside each other on paper; each begins with the columns that name its rows."""
    count = len(table.columns)
    named = next((index + 1 for index, column in enumerate(table.columns) if column.kind == "text"), 0)
    if count <= MOST_COLUMNS or named >= MOST_COLUMNS:
        groups = [list(range(count))]
    else:
        number = math.ceil((count - named) / (MOST_COLUMNS - named))
        size = math.ceil((count - named) / number)
        starts = range(named, count, size)
        groups = [[*range(named), *range(start, min(start + size, count))] for start in starts]
    return [_piece(table, chosen) for chosen in groups]


def _piece(table: Table, chosen: Sequence[int]) -> dict[str, Any]:
    columns = tuple(table.columns[index] for index in chosen)
    rows = [tuple(row[index] for index in chosen) for row in table.rows[:MOST_ROWS]]
    return {"columns": columns, "rows": rows_shown(columns, rows)}


def _once(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))


@dataclass
class _Numbers:
    """Numbers figures and tables in the order in which they are shown, and tells how far the drawing is."""

    count: int
    tell: Tell
    figures: int = 0
    tables: int = 0

    def shown(self, block: Block) -> dict[str, Any]:
        """A block as the template takes it."""
        if isinstance(block, Note | Heading):
            return {"kind": block.kind, "block": block}
        if isinstance(block, Table):
            self.tables += 1
            return {
                "kind": block.kind,
                "block": block,
                "number": self.tables,
                "pieces": pieces(block),
                "left_off": len(block.rows) - MOST_ROWS,
            }
        self.figures += 1
        self.tell(0.7 + 0.3 * self.figures / self.count, f"Figure {self.figures} of {self.count} is being drawn.")
        picture = inline_svg(block.spec, f"f{self.figures}-")
        return {"kind": block.kind, "block": block, "number": self.figures, "picture": picture}


REPORT = Section(
    key="report",
    label="Report",
    question="All that is analysed, on one page to keep or to print.",
    load=load,
    build=build,
)
