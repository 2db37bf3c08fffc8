"""Things that two people, workers or processes do at the same moment."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, connections
from django.test import Client
from django.utils import timezone

from accounts.refusals import Refused
from competitions.actions import entrant_of
from leaderboards.models import LeaderboardRow
from submissions.actions import cancel, submit
from submissions.models import Attempt, Run, Submission
from submissions.reconciler import reconcile
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


def test_people_who_submit_at_once_do_not_wait_for_each_other_in_a_circle(phase, tmp_path):
    people = [make.user(f"person{number}") for number in range(8)]
    for person in people:
        make.participant(phase.competition, person)
    archive = make.results_zip(tmp_path, phase)

    def upload(person):
        return lambda: submit(user=person, phase=phase, archive=archive, filename="r.zip")

    answers = at_once([upload(person) for person in people])
    assert [type(answer) for answer in answers] == [Submission] * 8
    at_once([lambda pk=run.pk: score_run(pk) for run in Run.objects.all()])
    for part in ("valid", "test"):
        rows = LeaderboardRow.objects.filter(board__part=part)
        assert sorted(rows.values_list("rank", flat=True)) == list(range(1, 9))


def test_cancelling_and_scoring_at_once_end_in_one_of_the_two(phase, tmp_path):
    alice = make.user("alice")
    make.participant(phase.competition, alice)
    phase.daily_quota = None
    phase.save()
    for _ in range(6):
        submission = submit(user=alice, phase=phase, archive=make.results_zip(tmp_path, phase), filename="r.zip")
        scorers = [lambda pk=run.pk: score_run(pk) for run in submission.runs.all()]
        at_once([*scorers, lambda submission=submission: cancel(submission, by=alice)])
        submission.refresh_from_db()
        states = {run.state for run in submission.runs.all()}
        assert states <= {"finished", "cancelled"}
        assert submission.state == ("cancelled" if "cancelled" in states else "finished")
        for run in submission.runs.all():
            assert run.scores.exists() == (run.state == "finished")


def test_a_report_and_the_end_of_its_lease_at_once_give_one_result(phase):
    run = make.submission(phase, make.user("alice")).runs.first()
    _, token = make.worker()
    headers = {"Authorization": f"Bearer {token}"}
    claimed = Client().post(f"/worker/runs/{run.pk}/claim", headers=headers).json()
    body = {"attempt": claimed["attempt"], "secret": claimed["secret"], "status": "failed", "reason": "crashed"}
    Run.objects.filter(pk=run.pk).update(deadline=timezone.now())

    def report():
        return (
            Client().post(f"/worker/runs/{run.pk}/report", body, "application/json", headers=headers).status_code
        )

    answers = at_once([report, reconcile, report])
    run.refresh_from_db()
    outcome = run.attempts.get().outcome
    assert (run.state, outcome) in [("failed", "reported"), ("queued", "lost")]
    assert [answers[0], answers[2]].count(200) == (1 if run.state == "failed" else 0)


def test_one_worker_that_claims_two_runs_at_once_gets_one(phase):
    runs = list(make.submission(phase, make.user("alice")).runs.all())
    _, token = make.worker()
    headers = {"Authorization": f"Bearer {token}"}

    def claim(pk):
        return lambda: Client().post(f"/worker/runs/{pk}/claim", headers=headers).status_code

    assert sorted(at_once([claim(run.pk) for run in runs])) == [200, 409]


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
    assert [cell["value"] for cell in LeaderboardRow.objects.get(board__part="valid").cells] == [1.0, 1.0]


@pytest.mark.sqlite
def test_sqlite_waits_for_a_lock_instead_of_failing():
    options = connection.settings_dict["OPTIONS"]
    assert options["transaction_mode"] == "IMMEDIATE"
    assert options["timeout"] >= 20
