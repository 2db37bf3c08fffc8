"""Validation against test and blind code against tweaked, for those who may see both."""

import datetime as dt

import pytest
from django.utils import timezone

from analysis.inputs.audience import Audience
from analysis.sections.base import nothing, quiet
from analysis.sections.validation import SECTION
from competitions import clock
from competitions.models import Phase, Task
from tests.platform import factories as make
from tests.platform.series import BAD, GOOD, enter, finish, series

pytestmark = pytest.mark.django_db

OVERFITTED = {"valid": GOOD["valid"], "test": BAD["test"]}


@pytest.fixture
def over():
    """A series whose second Tweakathon has just ended: Alice is good, Bob bad, Carol is overfitted."""
    made = series(timezone.now() - dt.timedelta(hours=21), datasets=1)
    for name, values in (("alice", GOOD), ("bob", BAD), ("carol", OVERFITTED)):
        person = make.user(name)
        finish(enter(made["AutoML[1]"], person), BAD)
        finish(enter(made["Tweakathon[1]"], person), values)
        finish(enter(made["Final[1]"], person), values)
    Task.objects.update(revealed_at=timezone.now() - dt.timedelta(hours=9))
    return made


def released(made):
    Phase.objects.filter(title__in=("AutoML[1]", "Final[1]")).update(released_at=timezone.now())
    return made


def result(made, title, **audience):
    return SECTION.build(loaded(made, title, **audience), quiet)


def loaded(made, title, **audience):
    asked = Audience(phase=made[title].pk, **audience)
    return SECTION.load(made.contest, asked, clock.now(made.contest))


def test_nothing_is_compared_before_the_release(over):
    found = result(over, "Tweakathon[1]")
    assert found.headline == "No validation score can be compared with a test score."
    assert not list(found.figures())
    assert nothing(loaded(over, "Final[1]"))


def test_organizers_compare_sooner(over):
    found = result(over, "Tweakathon[1]", sees_hidden=True)
    rows = {row[0]: row for row in found.named("validation_test").rows}
    assert set(rows) == {"alice", "bob", "carol"}
    assert rows["carol"][3] > 0.5


@pytest.mark.parametrize("title", ["Tweakathon[1]", "Final[1]"])
def test_everybody_compares_after_the_release(over, title):
    found = result(released(over), title)
    rows = {row[0]: row for row in found.named("validation_test").rows}
    assert rows["carol"][3] > 0.5 > abs(rows["alice"][3])
    (dataset,) = found.named("datasets").rows
    assert dataset[1] == 3
    name = dataset[0]
    (figure,) = SECTION.tools[0].answer(found, {"dataset": name})
    assert len(figure.rows) == 3
    assert SECTION.tools[0].answer(found, {"dataset": "another"}) == ()


def test_blind_code_is_compared_with_what_was_tweaked(over):
    figure = result(released(over), "AutoML[1]").named("blind_tweaked")
    gains = {row[0]: row[5] for row in figure.rows}
    assert gains["alice"] > 1 and gains["bob"] == 0
    assert "1 of 3 entrants score better after tweaking" in figure.sentence


def test_one_entrant_alone_has_no_correlation():
    made = make.phase(make.competition(), tasks=1, closes_at=timezone.now() - dt.timedelta(minutes=1))
    finish(enter(made, make.user("alice")))
    asked = Audience(phase=made.pk, sees_hidden=True)
    found = SECTION.build(SECTION.load(made.competition, asked, timezone.now()), quiet)
    assert "nobody's validation score is too good" in found.headline
    assert found.named("validation_test").warnings
