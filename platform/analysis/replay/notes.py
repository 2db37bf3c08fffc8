"""The block "As published" on the analyses of a replay: what was printed beside what comes out here."""

import datetime as dt
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from analysis.inputs.audience import Audience
from analysis.inputs.boards import Loaded
from analysis.models import Replay
from analysis.replay.claims import CLAIMS, NO, YES, Claim, Found
from analysis.results import Block, Column, Heading, Note, Result, Table
from analysis.sections.base import Section, Tell
from competitions.models import Competition

COLUMNS = (
    Column("where", "Section of the chapter"),
    Column("statement", "Statement"),
    Column("printed", "Printed"),
    Column("here", "Here"),
    Column("agrees", "Reproduced"),
    Column("remark", "Remark"),
)
ABOUT = (
    "Statements of the chapter about the challenge of 2015/16, answered from the numbers of this page. They are "
    "those of the systems that its authors ran again, rounded as they were published."
)
OF_CURVES = (
    "The standings show the scores that were published for each system. The curves are of the predictions that it "
    "left with a time, of which many came after the budget: at the end of the budget both need not agree."
)
REPLAY = "replay"  # its place among what a section loads


def with_published(section: Section) -> Section:
    """The same section, which on a replay also says what was printed and what is reproduced."""
    if not any(claim.section == section.key for claim in CLAIMS):
        return section

    def load(competition: Competition, audience: Audience, now: dt.datetime) -> Loaded:
        loaded = section.load(competition, audience, now)
        facts = facts_of(competition)
        return replace(loaded, facts={**loaded.facts, REPLAY: facts}) if facts else loaded

    def build(loaded: Loaded, tell: Tell) -> Result:
        result = section.build(loaded, tell)
        return replace(result, blocks=(*result.blocks, *as_published(section.key, loaded, result)))

    return replace(section, load=load, build=build)


def facts_of(competition: Competition) -> dict[str, Any]:
    """What is known of the source of a replay; empty where the competition is none. One query."""
    found = Replay.objects.filter(competition=competition).values_list("facts", flat=True).first()
    return dict(found or {})


def as_published(section: str, loaded: Loaded, result: Result) -> tuple[Block, ...]:
    """The blocks for one section; none where nothing was published about what it shows."""
    found = answers(section, loaded, result)
    bars = error_bars(loaded) if section == "standings" and REPLAY in loaded.facts else None
    blocks: list[Block] = [*_statements(found)] if found else []
    blocks += [Note(OF_CURVES)] if found and section == "curves" else []
    blocks += [bars] if bars is not None and bars.rows else []
    return (Heading("As published", ABOUT), *blocks) if blocks else ()


def _statements(found: list[tuple[Claim, Found]]) -> Iterator[Block]:
    """What was printed beside what came out, and a warning for each that does not come out."""
    rows = tuple(
        (claim.where, claim.text, claim.printed, answer.here, YES if answer.agrees else NO, claim.remark)
        for claim, answer in found
    )
    missed = [claim for claim, answer in found if not answer.agrees]
    verb = "statement is" if len(found) == 1 else "statements are"
    agreed = f"{len(found) - len(missed)} of {len(found)} {verb} reproduced."
    yield Table("as-published", "As published", COLUMNS, rows, agreed)
    for claim in missed:
        yield Note(f"Not reproduced ({claim.where}): {claim.text} {claim.remark}".strip(), "warning")


def error_bars(loaded: Loaded) -> Table:
    """Published error bars beside the same from the predictions, of the datasets of the boards."""
    known = {dataset.name for board in loaded.boards for dataset in board.datasets}
    bars = {name: bar for name, bar in loaded.facts[REPLAY].get("error_bars", {}).items() if name in known}
    rows = tuple(
        (
            name,
            bar["published"],
            bar["spread"],
            bar["stderr"],
            {None: "", True: YES, False: NO}[_agrees(bar["published"], bar["spread"])],
        )
        for name, bar in sorted(bars.items())
    )
    missed = [row[0] for row in rows if row[-1] == NO]
    columns = (
        Column("dataset", "Dataset"),
        Column("published", "Published", "number", 4),
        Column("spread", "By their recipe, here", "number", 4),
        Column("stderr", "Standard error", "number", 4),
        Column("is_reproduced", "Reproduced", title="To one unit of the last digit that was published."),
    )
    sentence = (
        "Of aad_freiburg, within its budget: the published error bars, the standard deviation over 100 subsamples "
        "of a tenth of the test rows, and the standard error of the score by bootstrap."
    )
    if missed:
        sentence += (
            f" Not reproduced: {', '.join(missed)}. The published bar is that of a published score, which these "
            "predictions need not have."
        )
    return Table("published-error-bars", "Error bars as published", columns, rows, sentence)


def _agrees(published: float | None, found: float | None) -> bool | None:
    """Whether two error bars differ by no more than a unit of the only digit that was published."""
    if published is None or found is None or published <= 0:
        return None
    return bool(abs(published - found) <= 1.0001 * 10 ** math.floor(math.log10(published) + 1e-9))


def answers(section: str, loaded: Loaded, result: Result) -> list[tuple[Claim, Found]]:
    """The claims about a section that its result can answer."""
    facts = loaded.facts.get(REPLAY)
    if not facts:
        return []
    asked = [(claim, claim.find(loaded, result, facts)) for claim in CLAIMS if claim.section == section]
    return [(claim, answer) for claim, answer in asked if answer is not None]
