"""Asking for a readiness check, cancelling it, and what becomes of one that nobody does."""

import datetime as dt

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.refusals import Refused
from submissions import dispatch, readiness, readiness_attempts
from submissions.files import ORPHAN_AGE, sweep
from submissions.models import ReadinessCheck, ReadinessRow, Submission
from submissions.models.readiness import CheckState
from submissions.reconciler import reconcile
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase():
    return make.phase(make.competition(), tasks=1)


@pytest.fixture
def alice(phase):
    person = make.user("alice")
    make.participant(phase.competition, person)
    return person


@pytest.fixture
def submission(phase, alice):
    return make.submission(phase, alice, state=Submission.State.FINISHED)


@pytest.fixture(autouse=True)
def no_run_waits(submission):
    submission.runs.update(state="finished")


def refused(submission, by):
    with pytest.raises(Refused) as told:
        readiness.ask(submission, by=by)
    return told.value


def test_a_check_is_queued_and_costs_no_quota(submission, alice):
    check = readiness.ask(submission, by=alice)
    assert (check.state, check.wall_seconds, check.image) == (CheckState.QUEUED, 20, submission.phase.image)
    assert check.sentence
    assert Submission.objects.counting_for_quota().count() == 1
    assert check.budget.cores is None and check.budget.memory_bytes is None


def test_only_the_entrant_and_organizers_may_ask(submission):
    assert refused(submission, make.user("bob")).status == 403
    assert refused(submission, make.user("charlie")).status == 403
    check = readiness.ask(submission, by=make.user("olga"))
    assert not check.counts, "what an organizer asks for is not the entrant's"


def test_nothing_is_checked_where_no_log_may_be_shown(submission, alice):
    submission.phase.kind = "final"
    submission.phase.save()
    assert "hidden phase" in refused(submission, alice).message


def test_results_without_code_are_refused_with_a_sentence(submission, alice):
    Submission.objects.update(kind=Submission.Kind.RESULTS)
    submission.refresh_from_db()
    assert "holds no code" in refused(submission, alice).message


def test_strangers_code_is_refused_where_nothing_confines_it(submission, alice):
    make.worker(sandbox="unconfined")
    assert "no sandbox" in refused(submission, alice).message
    Submission.objects.update(is_kit_code=True)
    submission.refresh_from_db()
    assert readiness.ask(submission, by=alice).state == CheckState.QUEUED


def test_one_check_of_an_entrant_at_a_time(submission, alice, phase):
    first = readiness.ask(submission, by=alice)
    other = make.submission(phase, alice)
    told = refused(other, alice)
    assert told.status == 429 and "another submission has not ended" in told.message
    with pytest.raises(IntegrityError), transaction.atomic():
        ReadinessCheck.objects.create(
            submission=other, entrant=other.entrant, user=alice, wall_seconds=20, state=CheckState.RUNNING
        )
    readiness.cancel(first, by=alice)
    assert readiness.ask(other, by=alice).state == CheckState.QUEUED


def test_ten_checks_a_day_and_those_that_we_lost_do_not_count(submission, alice, settings):
    settings.READINESS_A_DAY = 2
    for state in (CheckState.FINISHED, CheckState.FAILED, CheckState.CANCELLED):
        readiness.ask(submission, by=alice)
        ReadinessCheck.objects.filter(state=CheckState.QUEUED).update(state=state)
    assert "All 2 readiness checks of today are used." in refused(submission, alice).message
    assert readiness.left_today(submission.entrant, timezone.now() + dt.timedelta(days=1)) == 2
    readiness.ask(submission, by=make.user("olga"))


def test_a_queued_check_is_cancelled_at_once_and_an_ended_one_not_at_all(submission, alice):
    check = readiness.ask(submission, by=alice)
    with pytest.raises(Refused):
        readiness.cancel(check, by=make.user("bob"))
    assert readiness.cancel(check, by=alice).state == CheckState.CANCELLED
    with pytest.raises(Refused, match="has ended already"):
        readiness.cancel(check, by=alice)


def test_a_check_that_no_worker_has_time_for_is_given_up_after_a_day(submission, alice):
    check = readiness.ask(submission, by=alice)
    reconcile(timezone.now() + dt.timedelta(hours=23))
    check.refresh_from_db()
    assert check.state == CheckState.QUEUED
    reconcile(timezone.now() + dt.timedelta(hours=25))
    check.refresh_from_db()
    assert check.state == CheckState.FAILED
    assert "Ask for it again" in check.sentence


def test_a_waiting_check_says_why_it_waits(submission, alice):
    check = readiness.ask(submission, by=alice)
    dispatch.ring()
    check.refresh_from_db()
    assert check.sentence == "Waits: no worker is connected at the moment."
    make.worker()
    dispatch.ring()
    check.refresh_from_db()
    assert check.sentence == dispatch.WAITS


def test_doorbells_ring_for_runs_before_they_ring_for_checks(submission, alice, phase, monkeypatch):
    rung = []
    monkeypatch.setattr("submissions.doorbell.ring_worker", lambda number, queue: rung.append(("run", number)))
    monkeypatch.setattr(
        "submissions.doorbell.ring_worker_for_check", lambda number, queue: rung.append(("check", number))
    )
    check = readiness.ask(submission, by=alice)
    run = make.submission(phase, alice).runs.get()
    worker, _ = make.worker()
    dispatch.ring()
    assert rung == [("run", run.pk)]
    assert (dispatch.next_for(worker), dispatch.next_check_for(worker)) == (run.pk, None)
    make.worker()
    dispatch.ring()
    assert rung[1:] == [("check", check.pk)], "a second worker is free for the check"


def test_logs_of_rows_are_kept_and_those_without_a_row_are_swept(submission, alice, tmp_path):
    check = readiness.ask(submission, by=alice)
    row = ReadinessRow(readiness_check=check, trait="dense", ok=True, ran=True)
    row.log.save("log.txt", ContentFile(b"kept"))
    left = default_storage.save("checks/left", ContentFile(b"left"))
    sweep(timezone.now() + ORPHAN_AGE * 2)
    assert row.log.read() == b"kept"
    assert not default_storage.exists(left)


def test_the_names_of_traits_fit_their_columns():
    longest = max(map(len, readiness_attempts.NAMES))
    assert longest <= ReadinessRow._meta.get_field("trait").max_length
