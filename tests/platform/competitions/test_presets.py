"""Budgets as presets of a phase, and a phase's budget in words."""

import pytest

from accounts.refusals import Refused
from competitions.actions.budgets import ApplyPreset
from competitions.models import AuditEntry, Round
from competitions.presets import PRESETS, in_words
from ingestion.budget import GIB
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase():
    return make.phase(make.competition(organizer=make.user("olga")))


def in_round(phase, number):
    Round.objects.filter(pk=phase.round_id).update(number=number)
    phase.refresh_from_db()
    return phase


def budget(phase):
    phase.refresh_from_db()
    return phase.wall_seconds, phase.cores, phase.memory_bytes


@pytest.mark.parametrize(("number", "memory"), [(0, 24), (3, 24), (4, 56), (5, 56)])
def test_the_challenge_gives_less_memory_up_to_round_3(phase, number, memory):
    ApplyPreset(by=make.user("olga"), phase=in_round(phase, number), preset="challenge").execute()
    assert budget(phase) == (1200, 8, memory * GIB)
    assert phase.tasks.first().budget().wall_seconds == 1200


def test_the_preset_of_2018(phase):
    ApplyPreset(by=None, phase=phase, preset="2018").execute()
    assert budget(phase) == (1200, 2, 8 * GIB)


def test_the_workers_own_empties_every_limit(phase):
    ApplyPreset(by=None, phase=phase, preset="challenge").execute()
    text = ApplyPreset(by=None, phase=phase, preset="worker").execute()
    assert budget(phase) == (None, None, None)
    assert AuditEntry.objects.first().text == text


def test_a_phase_with_submissions_keeps_its_budget(phase):
    make.submission(phase, make.user("alice"))
    with pytest.raises(Refused, match="Submissions exist"):
        ApplyPreset(by=make.user("olga"), phase=phase, preset="2018").execute()
    assert budget(phase) == (None, None, None)


def test_a_stranger_changes_no_budget(phase):
    with pytest.raises(Refused, match="Only organizers"):
        ApplyPreset(by=make.user("charlie"), phase=phase, preset="2018").execute()


def test_a_preset_that_there_is_not_is_refused(phase):
    with pytest.raises(Refused, match="no preset 2020"):
        ApplyPreset(by=None, phase=phase, preset="2020").execute()


def test_every_preset_is_named_by_its_key():
    assert {name: preset.name for name, preset in PRESETS.items()} == {name: name for name in PRESETS}


@pytest.mark.parametrize(
    ("fields", "walls", "words"),
    [
        ((None, 8, 56 * GIB), [1200.0, 1200.0], "20 min, 8 cores, 56 GiB for each dataset"),
        ((90.0, 1, GIB), [], "90 s, 1 core, 1 GiB for each dataset"),
        ((None, 2, 8 * GIB), [60.0, 300.0], "1 min to 5 min, 2 cores, 8 GiB for each dataset"),
        (
            (None, None, None),
            [10.0],
            "10 s for each dataset, and all the cores and memory that a worker gives one run",
        ),
        (
            (None, 4, None),
            [],
            "its own time, 4 cores for each dataset, and all the memory that a worker gives one run",
        ),
    ],
)
def test_a_budget_is_told_in_words(phase, fields, walls, words):
    phase.wall_seconds, phase.cores, phase.memory_bytes = fields
    assert in_words(phase, walls) == words


def test_the_admin_applies_a_preset_to_the_chosen_phases(phase, client):
    client.force_login(make.user("root2", is_superuser=True, is_staff=True))
    answer = client.post(
        "/admin/competitions/phase/", {"action": "preset_2018", "_selected_action": [phase.pk]}, follow=True
    )
    assert "2 cores, 8 GiB for each dataset" in answer.content.decode()
    assert budget(phase) == (1200, 2, 8 * GIB)


def test_the_phases_page_tells_the_budget(phase, client):
    ApplyPreset(by=None, phase=phase, preset="2018").execute()
    page = client.get(f"/competitions/{phase.competition.slug}/phases/").content.decode()
    assert "20 min, 2 cores, 8 GiB for each dataset" in page
