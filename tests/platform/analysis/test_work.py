"""Sections are computed once for the same inputs, for those who may see them."""

import datetime as dt

import pytest
from django.test import Client
from django.utils import timezone

from analysis import work
from analysis.inputs.audience import Audience
from analysis.kept import KEPT_BESIDE
from analysis.models import Computed
from analysis.sections import BY_KEY
from competitions.models import Phase
from tests.platform import factories as make
from tests.platform.series import enter, finish

pytestmark = pytest.mark.django_db
STANDINGS = BY_KEY["standings"]


@pytest.fixture
def phase():
    """A phase that is open, with two entrants who have scores."""
    phase = make.phase(make.competition())
    for name in ("alice", "bob"):
        finish(enter(phase, make.user(name)))
    return phase


def over(phase: Phase) -> Phase:
    Phase.objects.filter(pk=phase.pk).update(closes_at=timezone.now() - dt.timedelta(minutes=1))
    phase.refresh_from_db()
    return phase


def seen(phase: Phase, part: str = "valid", **audience) -> work.Outcome:
    return work.wanted(phase.competition, STANDINGS, Audience(phase=phase.pk, part=part, **audience))


def test_an_open_phase_is_analysed_for_organizers_alone(phase):
    assert seen(phase).is_empty
    assert not seen(phase, sees_hidden=True).is_empty


def test_what_is_over_is_computed_once_and_kept(phase):
    over(phase)
    waits = seen(phase)
    assert waits.result is None and waits.row.is_busy
    work.process(waits.row.pk)
    assert seen(phase).result.named("standings").rows[0][1] == "alice"
    assert Computed.objects.count() == 1


def test_the_test_part_is_not_analysed_before_its_release(phase):
    over(phase)
    assert seen(phase, "test").is_empty


def test_a_new_score_asks_for_a_new_result(phase):
    over(phase)
    first = seen(phase).row
    work.process(first.pk)
    finish(
        enter(phase, make.user("carol")), {"valid": [0.9, 0.1, 0.8, 0.2], "test": [0.9, 0.1, 0.8, 0.2, 0.3, 0.7]}
    )
    assert seen(phase).row.pk != first.pk


def test_a_result_of_inputs_that_changed_before_it_was_computed_is_not_made(phase):
    over(phase)
    row = seen(phase).row
    finish(enter(phase, make.user("carol")))
    work.process(row.pk)
    assert not Computed.objects.filter(pk=row.pk).exists()


def test_the_page_waits_and_then_shows_it(phase):
    over(phase)
    address = f"/competitions/{phase.competition.slug}/analysis/standings/"
    assert "Waits for the site" in Client().get(address).content.decode()
    work.process(Computed.objects.get().pk)
    assert "alice" in Client().get(address).content.decode()


def test_results_that_scores_have_overtaken_do_not_pile_up(phase):
    over(phase)
    row = seen(phase).row
    for number in range(2 * KEPT_BESIDE):
        Computed.objects.create(
            competition=phase.competition,
            section=row.section,
            audience=row.audience,
            fingerprint=f"of older scores {number}",
            state=Computed.State.READY,
        )
    work.process(row.pk)
    assert Computed.objects.count() == 1 + KEPT_BESIDE
    assert seen(phase).result is not None


def test_a_competition_that_is_removed_while_it_is_analysed_leaves_nothing(phase, monkeypatch):
    over(phase)
    row = seen(phase).row
    usual = work.fingerprint_of

    def removes_it(section, loaded):
        found = usual(section, loaded)
        Computed.objects.filter(pk=row.pk).delete()
        return found

    monkeypatch.setattr(work, "fingerprint_of", removes_it)
    work.process(row.pk)
    assert not Computed.objects.exists()
