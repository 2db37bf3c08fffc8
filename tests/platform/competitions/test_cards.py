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


def seen(task, now):
    """How much is shown of the card of one task, and the card."""
    level = cards.shown([task], now)[task.pk]
    return level, cards.card_of(task.dataset.current, task, level)


def test_a_blind_phase_shows_nothing_before_it_is_revealed(contest, now):
    task = task_of(make.phase(contest, tasks=0, kind=Phase.Kind.AUTOML))
    assert seen(task, now) == (Shown.NOTHING, None)


def test_a_revealed_dataset_has_its_name_but_tells_nothing_of_the_hidden_part(contest, now):
    level, card = seen(task_of(make.phase(contest, tasks=0, kind=Phase.Kind.AUTOML), revealed_at=now - DAY), now)
    assert level == Shown.NAMED
    assert (card.name, card.balance, card.irrelevant) == ("easy", 1.0, None)


def test_the_same_dataset_is_hidden_in_a_later_phase_while_the_blind_one_hides_it(contest, now):
    blind = task_of(make.phase(contest, tasks=0, kind=Phase.Kind.AUTOML))
    later = make.phase(contest, tasks=0, opens_at=now - DAY / 2).tasks.create(dataset=blind.dataset)
    assert seen(later, now)[0] == Shown.NOTHING


def test_a_phase_that_has_not_begun_shows_nothing(contest, now):
    assert seen(task_of(make.phase(contest, tasks=0, opens_at=now + DAY)), now)[0] == Shown.NOTHING


def test_an_alias_conceals_the_name(contest, now):
    task = task_of(make.phase(contest, tasks=0), alias="riddle")
    level, card = seen(task, now)
    assert (level, card.name) == (Shown.CONCEALED, "riddle")


def test_an_open_phase_names_the_dataset_but_tells_nothing_of_the_hidden_part(contest, now):
    task = task_of(make.phase(contest, tasks=0))
    level, card = seen(task, now)
    assert level == Shown.NAMED
    assert (card.balance, card.irrelevant) == (1.0, None)


def test_everything_is_shown_once_no_phase_uses_it_any_more(contest, now):
    task = task_of(make.phase(contest, tasks=0, closes_at=now - DAY / 2))
    level, card = seen(task, now)
    assert level == Shown.ALL
    assert (card.balance, card.irrelevant) == (0.75, 0.25)


@pytest.mark.parametrize("release", [Phase.When.AT_CLOSE, Phase.When.BY_HAND])
def test_an_unreleased_final_keeps_the_hidden_part_hidden(contest, now, release):
    task = task_of(make.phase(contest, tasks=0, closes_at=now - DAY / 2))
    final = make.phase(contest, tasks=0, kind=Phase.Kind.FINAL, closes_at=now - DAY / 4, release=release)
    final.tasks.create(dataset=task.dataset)
    expected = Shown.ALL if release == Phase.When.AT_CLOSE else Shown.NAMED
    assert seen(task, now)[0] == expected


def test_another_competition_that_still_uses_it_keeps_the_hidden_part_hidden(contest, now):
    task = task_of(make.phase(contest, tasks=0, closes_at=now - DAY / 2))
    make.phase(make.competition(), tasks=0).tasks.create(dataset=task.dataset)
    assert seen(task, now)[0] == Shown.NAMED


def test_a_version_without_a_card_shows_none(contest, now):
    assert seen(make.phase(contest, tasks=1).tasks.get(), now) == (Shown.NAMED, None)


def test_many_tasks_take_as_many_queries_as_one(contest, now, django_assert_max_num_queries):
    phase = make.phase(contest, tasks=0)
    tasks = [task_of(phase, order=order) for order in range(5)]
    with django_assert_max_num_queries(3):
        assert set(cards.shown(tasks, now).values()) == {Shown.NAMED}
