"""Competitions that are set up as a whole, against what the chapter says of them."""

import datetime as dt
import json

import pytest
from django.core.management import call_command

from accounts.refusals import Refused
from competitions.actions.create import create
from competitions.blueprints import BLUEPRINTS, phases_of, problems
from competitions.lifecycle import due_handovers, takes_over_at
from competitions.models import Competition, Phase
from competitions.protocol_check import check_competition
from ingestion.budget import GIB
from tests.platform import factories as make

START = dt.datetime(2027, 1, 4, tzinfo=dt.UTC)


def by_title(name):
    return {phase.title: phase for phase in phases_of(BLUEPRINTS[name], START, Competition(title="A contest"))}


@pytest.mark.parametrize("name", BLUEPRINTS)
def test_every_blueprint_is_a_protocol(name):
    rounds = BLUEPRINTS[name].rounds
    datasets = {number: [10 * number + place for place in range(5)] for number in rounds}
    assert problems(BLUEPRINTS[name], START, datasets) == []
    assert all(problem.is_warning for problem in problems(BLUEPRINTS[name], START, {}))


def test_2015_has_six_rounds_and_rounds_0_and_5_are_shorter():
    phases = by_title("automl-2015")
    assert list(phases) == [
        *("Tweakathon[0]", "Final[0]"),
        *(f"{kind}[{number}]" for number in (1, 2, 3) for kind in ("AutoML", "Tweakathon", "Final")),
        *("AutoML[4]", "Tweakathon[4]", "Tweakathon[4] GPU", "Final[4]", "Final[4] GPU"),
        "AutoML[5]",
    ]
    assert list(BLUEPRINTS["automl-2015"].rounds.values()) == [
        "Preparation",
        "Novice",
        "Intermediate",
        "Advanced",
        "Expert",
        "Master",
    ]


def test_2015_code_goes_from_each_tweakathon_to_the_next_blind_phase_and_back():
    phases = by_title("automl-2015")
    for number in range(1, 6):
        assert phases[f"AutoML[{number}]"].parent is phases[f"Tweakathon[{number - 1}]"]
    for number in range(1, 5):
        tweakathon = phases[f"Tweakathon[{number}]"]
        assert (tweakathon.parent, tweakathon.carry_over) == (phases[f"AutoML[{number}]"], True)
        assert tweakathon.opens_at == phases[f"AutoML[{number}]"].closes_at
    for number in range(5):
        assert phases[f"Final[{number}]"].parent is phases[f"Tweakathon[{number}]"]
    assert phases["Tweakathon[0]"].parent is None


def test_2015_rules_and_budgets_are_those_of_the_challenge():
    phases = by_title("automl-2015")
    for phase in phases.values():
        assert (phase.tie_rule, phase.daily_quota, phase.counts, phase.any_time) == ("earlier", 5, "latest", True)
    assert phases["Tweakathon[0]"].wall_seconds is None, "round 0 has the budgets of its datasets"
    early, late = phases["AutoML[3]"], phases["AutoML[4]"]
    assert (early.wall_seconds, early.cores, early.memory_bytes) == (1200, 8, 24 * GIB)
    assert (late.wall_seconds, late.cores, late.memory_bytes) == (1200, 8, 56 * GIB)
    gpu = phases["Tweakathon[4] GPU"]
    assert (gpu.track, gpu.resource_class, gpu.parent) == ("gpu", "gpu", phases["AutoML[4]"])
    assert phases["Final[4] GPU"].parent is gpu


def test_2018_has_two_phases_with_scores_of_the_test_part_and_shared_places():
    phases = by_title("automl-2018")
    feedback, blind = phases["Feedback"], phases["AutoML"]
    assert (feedback.feedback_part, feedback.tie_rule, feedback.kind) == ("test", "shared", "tweakathon")
    assert (blind.kind, blind.parent, blind.tie_rule) == ("automl", feedback, "shared")
    for phase in (feedback, blind):
        assert (phase.wall_seconds, phase.cores, phase.memory_bytes) == (1200, 2, 8 * GIB)


@pytest.mark.django_db
@pytest.mark.parametrize("name", BLUEPRINTS)
def test_a_blueprint_becomes_a_draft_of_its_owner(name):
    olga = make.user("olga")
    rounds = {number: [make.dataset(olga) for _ in range(2)] for number in BLUEPRINTS[name].rounds}
    made = create(BLUEPRINTS[name], slug="series", owner=olga, start=START, datasets=rounds)
    assert made.state == Competition.State.DRAFT
    assert made.organizers.get().user == olga
    phases = list(made.phases())
    assert check_competition(phases) == []
    assert [phase.number for phase in phases] == list(range(1, len(phases) + 1))
    assert all(phase.tasks.count() == 2 for phase in phases)
    for phase in Phase.objects.filter(parent__isnull=False).select_related("parent"):
        if phase.takes_over:
            assert due_handovers([phase], takes_over_at(phase)) == [phase]
        assert phase.prizes.count() == (3 if phase.is_hidden else 0)


@pytest.mark.django_db
def test_whoever_was_not_granted_it_makes_no_competition():
    with pytest.raises(Refused, match="may not make"):
        create(BLUEPRINTS["single"], slug="x", owner=make.user("bob"), start=START, by=make.user("bob"))


@pytest.mark.django_db
def test_other_peoples_datasets_are_unknown():
    theirs = make.dataset(make.user("otto"))
    with pytest.raises(Refused, match="no such dataset"):
        create(BLUEPRINTS["single"], slug="x", owner=make.user("bob"), start=START, datasets={0: [theirs]})


@pytest.mark.django_db
def test_the_command_makes_a_competition_and_tells_its_phases(capsys):
    olga = make.user("olga")
    make.dataset(olga, "ada")
    words = ["--template", "automl-2018", "--slug", "again", "--start", "2027-01-04", "--owner", "olga"]
    call_command("create_competition", *words, "--dataset", "1=ada", "--json")
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["ok"]
    assert [phase["title"] for phase in told["phases"]] == ["Feedback", "AutoML"]
    assert told["phases"][0]["opens_at"] == "2027-01-04T00:00:00+00:00"
    with pytest.raises(SystemExit) as ended:
        call_command("create_competition", *words, "--json")
    assert ended.value.code == 1
    assert "already exists" in json.loads(capsys.readouterr().out.splitlines()[-1])["message"]
