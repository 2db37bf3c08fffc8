"""Cards show entrants what the phase allows: nothing, then what the files tell, in the end everything."""

import datetime as dt
from dataclasses import replace

import pytest
from django.utils import timezone

from competitions import cards
from competitions.models import Phase
from datasets.card import Shown
from tests.platform import factories as make
from tests.platform.datasets.test_rounds import EASY

pytestmark = pytest.mark.django_db

DAY = dt.timedelta(days=1)


@pytest.fixture
def now():
    return timezone.now()


@pytest.fixture
def contest():
    return make.competition()


def task_of(phase, **fields):
    """The phase's one task, whose dataset has a card with another balance in its hidden part, and probes."""
    card = replace(EASY, balance=0.75, train_balance=1.0, irrelevant=0.25)
    dataset = make.dataset(phase.round.competition.created_by, card=card.to_json())
    return phase.tasks.create(dataset=dataset, **fields)


def test_a_blind_phase_shows_nothing_before_it_is_revealed(contest, now):
    task = task_of(make.phase(contest, tasks=0, kind=Phase.Kind.AUTOML))
    assert cards.shown(task, now) == Shown.NOTHING
    assert cards.card_for_entrants(task, now) is None


def test_a_revealed_dataset_keeps_its_neutral_name_and_the_hidden_balance(contest, now):
    task = task_of(make.phase(contest, tasks=0, kind=Phase.Kind.AUTOML), revealed_at=now - DAY)
    card = cards.card_for_entrants(task, now)
    assert card is not None
    assert (card.name, card.balance, card.irrelevant) == ("dataset1", 1.0, None)


def test_the_same_dataset_is_hidden_in_a_later_phase_while_the_blind_one_hides_it(contest, now):
    blind = task_of(make.phase(contest, tasks=0, kind=Phase.Kind.AUTOML))
    later = make.phase(contest, tasks=0, opens_at=now - DAY / 2).tasks.create(dataset=blind.dataset)
    assert cards.shown(later, now) == Shown.NOTHING


def test_a_phase_that_has_not_begun_shows_nothing(contest, now):
    assert cards.shown(task_of(make.phase(contest, tasks=0, opens_at=now + DAY)), now) == Shown.NOTHING


def test_an_alias_conceals_the_name(contest, now):
    task = task_of(make.phase(contest, tasks=0), alias="riddle")
    card = cards.card_for_entrants(task, now)
    assert card is not None
    assert card.name == "riddle"


def test_an_open_phase_names_the_dataset_but_tells_nothing_of_the_hidden_part(contest, now):
    task = task_of(make.phase(contest, tasks=0))
    card = cards.card_for_entrants(task, now)
    assert cards.shown(task, now) == Shown.NAMED
    assert card is not None
    assert (card.balance, card.irrelevant) == (1.0, None)


def test_everything_is_shown_once_no_phase_uses_it_any_more(contest, now):
    task = task_of(make.phase(contest, tasks=0, closes_at=now - DAY / 2))
    assert cards.shown(task, now) == Shown.ALL
    card = cards.card_for_entrants(task, now)
    assert card is not None
    assert (card.balance, card.irrelevant) == (0.75, 0.25)


@pytest.mark.parametrize("release", [Phase.When.AT_CLOSE, Phase.When.BY_HAND])
def test_an_unreleased_final_keeps_the_hidden_part_hidden(contest, now, release):
    task = task_of(make.phase(contest, tasks=0, closes_at=now - DAY / 2))
    final = make.phase(contest, tasks=0, kind=Phase.Kind.FINAL, closes_at=now - DAY / 4, release=release)
    final.tasks.create(dataset=task.dataset)
    expected = Shown.ALL if release == Phase.When.AT_CLOSE else Shown.NAMED
    assert cards.shown(task, now) == expected


def test_another_competition_that_still_uses_it_keeps_the_hidden_part_hidden(contest, now):
    task = task_of(make.phase(contest, tasks=0, closes_at=now - DAY / 2))
    make.phase(make.competition(), tasks=0).tasks.create(dataset=task.dataset)
    assert cards.shown(task, now) == Shown.NAMED


def test_a_version_without_a_card_shows_none(contest, now):
    task = make.phase(contest, tasks=1).tasks.get()
    assert cards.card_for_entrants(task, now) is None
