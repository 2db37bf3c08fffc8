"""What has runs is not removed, and the refusal says what to do instead."""

import pytest

from accounts.refusals import Refused
from competitions.actions.remove import remove_dataset, remove_entrant, remove_task
from competitions.models import AuditEntry, Entrant
from datasets.models import Dataset
from tests.platform import factories as make
from tests.platform.series import enter, series

pytestmark = pytest.mark.django_db


@pytest.fixture
def contest(clock):
    return series(clock.now)


def test_a_dataset_that_a_phase_uses_is_not_removed(contest):
    olga = make.user("olga")
    used = contest["Tweakathon[0]"].tasks.first().dataset
    with pytest.raises(Refused, match=r"is used by Tweakathon\[0\]"):
        remove_dataset(used, by=olga)
    with pytest.raises(Refused, match="Only its owner"):
        remove_dataset(used, by=make.user("bob"))
    free = make.dataset(olga)
    remove_dataset(free, by=olga)
    assert not Dataset.objects.filter(pk=free.pk).exists()


def test_a_dataset_leaves_a_phase_only_while_nothing_has_run_on_it(contest):
    olga = make.user("olga")
    first, last = contest["Tweakathon[0]"].tasks.all()
    remove_task(last, by=olga)
    enter(contest["Tweakathon[0]"], make.user("alice"))
    with pytest.raises(Refused, match="1 runs exist"):
        remove_task(first, by=olga)
    with pytest.raises(Refused, match="Only organizers"):
        remove_task(first, by=make.user("bob"))
    assert AuditEntry.objects.get().action == "remove_task"


def test_an_entrant_with_submissions_is_withdrawn_not_removed(contest):
    olga = make.user("olga")
    alice = enter(contest["Tweakathon[0]"], make.user("alice")).entrant
    with pytest.raises(Refused, match="has 1 submissions"):
        remove_entrant(alice, by=olga)
    idle = make.entrant(contest.contest, make.user("bob"))
    remove_entrant(idle, by=olga)
    assert not Entrant.objects.filter(pk=idle.pk).exists()
