"""Things that two people, workers or processes do at the same moment."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, connections
from django.test import Client

from accounts.refusals import Refused
from competitions.actions import entrant_of
from leaderboards.models import LeaderboardRow
from submissions.actions import submit
from submissions.models import Attempt, Submission
from submissions.scoring import score_run
from tests.platform import factories as make

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(calls):
    """Run the calls in threads, each with its own database connection; returns their answers or refusals."""

    def closing(call):
        try:
            return call()
        except Refused as refusal:
            return refusal
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(closing, calls))


@pytest.fixture
def phase():
    return make.phase(make.competition(), daily_quota=2)


def test_six_uploads_at_once_use_a_quota_of_two_exactly(phase, tmp_path):
    alice = make.user("alice")
    make.participant(phase.competition, alice)
    archive = make.code_zip(tmp_path)

    def upload():
        return submit(user=alice, phase=phase, archive=archive, filename="s.zip")

    answers = at_once([upload] * 6)
    refusals = [answer for answer in answers if isinstance(answer, Refused)]
    assert {refusal.status for refusal in refusals} == {429}
    assert len(refusals) == 4
    assert sorted(Submission.objects.values_list("number", flat=True)) == [1, 2]


def test_four_workers_that_claim_at_once_get_one_run_once(phase):
    run = make.submission(phase, make.user("alice")).runs.first()
    tokens = [make.worker()[1] for _ in range(4)]

    def claim(token):
        headers = {"Authorization": f"Bearer {token}"}
        return lambda: Client().post(f"/worker/runs/{run.pk}/claim", headers=headers).status_code

    assert sorted(at_once([claim(token) for token in tokens])) == [200, 409, 409, 409]
    assert Attempt.objects.count() == 1


def test_two_runs_scored_at_once_leave_a_finished_submission_and_a_whole_board(phase, tmp_path):
    alice = make.user("alice")
    make.participant(phase.competition, alice)
    entrant_of(phase.competition, alice)
    archive = make.results_zip(tmp_path, phase, lambda part, rows: [0.1, 0.9, 0.2, 0.8, 0.9, 0.1][:rows])
    submission = submit(user=alice, phase=phase, archive=archive, filename="r.zip")
    at_once([lambda pk=run.pk: score_run(pk) for run in submission.runs.all()])
    submission.refresh_from_db()
    assert submission.state == Submission.State.FINISHED
    assert [cell["value"] for cell in LeaderboardRow.objects.get().cells] == [1.0, 1.0]


def test_sqlite_waits_for_a_lock_instead_of_failing():
    if connection.vendor != "sqlite":
        pytest.skip("only SQLite locks the whole database")
    options = connection.settings_dict["OPTIONS"]
    assert options["transaction_mode"] == "IMMEDIATE"
    assert options["timeout"] >= 20
