"""Competitions that can be set up as a whole: rounds, phases, parents, budgets and rules, as data.

AutoML 2015/16 and AutoML 2018 are after sections 10.3 to 10.5 of "Analysis of the AutoML Challenge Series
2015-2018"; lengths of phases are rounded to weeks, because a template says how rounds follow each other, not when.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from competitions.models import Competition, Phase, Round
from competitions.presets import PRESETS
from competitions.protocol_check import ProtocolProblem, check_protocol

Kind = Phase.Kind
PRIZES = ("First place", "Second place", "Third place")


@dataclass(frozen=True)
class PhaseShape:
    """A phase of a blueprint. Days count from the start; `after` is the title of its parent."""

    round: int
    kind: str
    title: str
    opens: int
    closes: int | None
    after: str = ""
    preset: str = ""
    has_prizes: bool = False
    fields: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Blueprint:
    """A whole competition without its datasets."""

    name: str
    title: str
    summary: str
    rounds: Mapping[int, str]
    shapes: Sequence[PhaseShape]
    max_team_size: int = 1


def automl_2015() -> Blueprint:
    """Six rounds from Preparation to Master, with a GPU track beside round 4.

    Round 0 has no blind phase and takes its budgets from the datasets; round 5 is blind alone.
    """
    rounds = {0: "Preparation", 1: "Novice", 2: "Intermediate", 3: "Advanced", 4: "Expert", 5: "Master"}
    weeks = {0: 9, 1: 17, 2: 20, 3: 13, 4: 9}  # of the Tweakathons
    carried = {"carry_over": True}
    shapes: list[PhaseShape] = []
    day = 0
    for number in range(5):
        budget = "challenge" if number else "worker"
        after = ""
        if number:
            after = f"AutoML[{number}]"
            before = f"Tweakathon[{number - 1}]"
            shapes.append(PhaseShape(number, Kind.AUTOML, after, day, day + 7, before, budget, has_prizes=True))
            day += 7
        closes = day + 7 * weeks[number]
        title = f"Tweakathon[{number}]"
        shapes.append(
            PhaseShape(
                number, Kind.TWEAKATHON, title, day, closes, after, budget, fields=carried if number else {}
            )
        )
        finals = [PhaseShape(number, Kind.FINAL, f"Final[{number}]", closes, closes + 7, title, budget, True)]
        if number == 4:
            gpu = {"track": "gpu", "resource_class": "gpu"}
            own = "Tweakathon[4] GPU"
            shapes.append(PhaseShape(4, Kind.TWEAKATHON, own, day, closes, after, budget, fields=gpu))
            finals.append(PhaseShape(4, Kind.FINAL, "Final[4] GPU", closes, closes + 7, own, budget, True, gpu))
        shapes += finals
        day = closes
    shapes.append(PhaseShape(5, Kind.AUTOML, "AutoML[5]", day, day + 7, "Tweakathon[4]", "challenge", True))
    return Blueprint(
        "automl-2015",
        "AutoML challenge",
        "Six rounds of rising difficulty: months of tweaking, then blind tests of the code on unseen datasets.",
        rounds,
        shapes,
        max_team_size=20,
    )


def automl_2018() -> Blueprint:
    """One round in two phases: feedback on the test part of practice datasets, then one blind test."""
    shared = {"tie_rule": Phase.TieRule.SHARED}
    feedback = {**shared, "feedback_part": Phase.Part.TEST}
    return Blueprint(
        "automl-2018",
        "AutoML challenge 2018",
        "Practice on five datasets with scores at once; then the code of the last submission meets five new ones.",
        {1: "Feedback", 2: "AutoML"},
        (
            PhaseShape(1, Kind.TWEAKATHON, "Feedback", 0, 98, "", "2018", fields=feedback),
            PhaseShape(2, Kind.AUTOML, "AutoML", 98, 112, "Feedback", "2018", True, shared),
        ),
        max_team_size=20,
    )


def three_phases() -> Blueprint:
    """The protocol once: tweak and see validation scores, then test scores, and the code on unseen datasets."""
    return Blueprint(
        "three-phases",
        "A competition in three phases",
        "Tweak your code on known datasets; then their test scores are shown, and the code meets unseen datasets.",
        {0: "Practice", 1: "Blind test"},
        (
            PhaseShape(0, Kind.TWEAKATHON, "Tweakathon[0]", 0, 56, "", "worker"),
            PhaseShape(0, Kind.FINAL, "Final[0]", 56, 63, "Tweakathon[0]", "worker", True),
            PhaseShape(1, Kind.AUTOML, "AutoML[1]", 56, 63, "Tweakathon[0]", "worker", True),
        ),
        max_team_size=5,
    )


def single() -> Blueprint:
    """One phase in which people submit and see validation scores."""
    return Blueprint(
        "single",
        "A competition",
        "One phase: submit code or results and see validation scores at once.",
        {0: ""},
        (PhaseShape(0, Kind.OPEN, "Competition", 0, 91, "", "worker"),),
    )


BLANK = Blueprint("blank", "A competition", "", {}, ())
BLUEPRINTS = {blueprint.name: blueprint for blueprint in (three_phases(), single(), automl_2015(), automl_2018())}


def phases_of(blueprint: Blueprint, start: dt.datetime, competition: Competition) -> list[Phase]:
    """The phases of a blueprint that starts then, with their rounds and parents, none of them saved."""
    rounds = {
        number: Round(competition=competition, number=number, name=name)
        for number, name in blueprint.rounds.items()
    }
    made: dict[str, Phase] = {}
    for number, shape in enumerate(blueprint.shapes, start=1):
        preset = PRESETS[shape.preset or "worker"]
        fields: dict[str, object] = {**preset.fields(shape.round), **shape.fields}
        made[shape.title] = Phase(
            round=rounds[shape.round],
            number=number,
            kind=shape.kind,
            title=shape.title,
            opens_at=start + dt.timedelta(days=shape.opens),
            closes_at=None if shape.closes is None else start + dt.timedelta(days=shape.closes),
            parent=made[shape.after] if shape.after else None,
            **fields,
        )
    return list(made.values())


def problems(
    blueprint: Blueprint, start: dt.datetime, datasets: Mapping[int, Sequence[int]]
) -> list[ProtocolProblem]:
    """What is wrong with a blueprint; `datasets` maps the number of a round to the ids of its datasets."""
    competition = Competition(title=blueprint.title)
    phases = phases_of(blueprint, start, competition)
    by_phase = {number: datasets.get(shape.round, ()) for number, shape in enumerate(blueprint.shapes, start=1)}
    return check_protocol(phases, by_phase)
