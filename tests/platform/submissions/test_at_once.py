"""Things that two people, workers or processes do at the same moment."""

import datetime as dt
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection, connections
from django.test import Client
from django.utils import timezone

from accounts.refusals import Refused
from competitions import teams
from competitions.actions import entrant_of
from competitions.models import Phase
from leaderboards.models import LeaderboardRow
from submissions.actions import cancel, submit
from submissions.changes import ChangeBudget, Rescore
from submissions.models import Attempt, Handover, Run, Submission
from submissions.models.submission import quota_left
from submissions.moderation import Disqualify, Rerun, Withdraw
from submissions.reconciler import reconcile
from submissions.scoring import score_run
from tests.platform import factories as make
from tests.platform.series import enter, finish, series, tick

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


def statuses(answers):
    """How often each status came; 201 for what was accepted."""
    return Counter(answer.status if isinstance(answer, Refused) else 201 for answer in answers)


def stored():
    """The files of submissions that lie in the storage."""
    return {path.name for path in Path(default_storage.path("submissions")).glob("*")}


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


@pytest.mark.parametrize("quotas", [{"daily_quota": 5}, {"daily_quota": 7, "total_quota": 5}], ids=str)
def test_fifty_uploads_at_once_with_a_quota_of_five_leave_exactly_five(phase, tmp_path, quotas):
    Phase.objects.filter(pk=phase.pk).update(**quotas)
    phase.refresh_from_db()
    alice = make.user("alice")
    make.participant(phase.competition, alice)
    archive, before = make.code_zip(tmp_path), stored()
    answers = at_once([lambda: submit(user=alice, phase=phase, archive=archive, filename="s.zip")] * 50)
    assert statuses(answers) == {201: 5, 429: 45}
    assert quota_left(phase, entrant_of(phase.competition, alice), timezone.now()) == 0
    made = list(Submission.objects.all())
    assert sorted(one.number for one in made) == [1, 2, 3, 4, 5]
    assert all(one.uses_quota and one.runs.count() == phase.tasks.count() for one in made)
    assert stored() - before == {Path(one.archive.name).name for one in made}
    assert list(Path(settings.FILE_UPLOAD_TEMP_DIR).iterdir()) == []


def test_team_mates_who_upload_at_once_share_one_quota_and_one_entrant(phase, tmp_path):
    contest = phase.competition
    contest.max_team_size = 3
    contest.save()
    mates = [make.user(name) for name in ("alice", "bob", "charlie")]
    for mate in mates:
        make.participant(contest, mate)
    team = teams.create(contest, mates[0], "The three")
    for mate in mates[1:]:
        teams.invite(team, mate, by=mates[0])
        teams.accept(team, mate)
    archive = make.code_zip(tmp_path)

    def upload(mate):
        return lambda: submit(user=mate, phase=phase, archive=archive, filename="s.zip")

    answers = at_once([upload(mate) for mate in mates * 4])
    assert Counter(answer.status if isinstance(answer, Refused) else 201 for answer in answers) == {
        201: 2,
        429: 10,
    }
    assert set(Submission.objects.values_list("entrant", flat=True)) == {team.entrant.pk}
    assert sorted(Submission.objects.values_list("number", flat=True)) == [1, 2]


def test_forming_a_team_and_uploading_at_once_leave_one_entrant_with_the_whole_quota_used(phase, tmp_path):
    contest = phase.competition
    contest.max_team_size = 2
    contest.save()
    alice = make.user("alice")
    make.participant(contest, alice)
    archive = make.code_zip(tmp_path)

    def upload():
        return submit(user=alice, phase=phase, archive=archive, filename="s.zip")

    at_once([upload, upload, lambda: teams.create(contest, alice, "One and all"), upload, upload])
    upload_more = [answer for answer in at_once([upload] * 3) if isinstance(answer, Refused)]
    assert {refusal.status for refusal in upload_more} <= {429}
    assert contest.entrants.count() == 1
    assert contest.entrants.get().submissions.count() == 2


def test_cancelling_and_claiming_at_once_cost_quota_if_and_only_if_the_worker_won(phase):
    alice = make.user("alice")
    for _ in range(6):
        submission = make.submission(phase, alice)
        _, token = make.worker()
        headers = {"Authorization": f"Bearer {token}"}
        first = submission.runs.first()
        address = f"/worker/runs/{first.pk}/claim"
        claim = partial(Client().post, address, headers=headers)
        claimed, _ = at_once([claim, partial(cancel, submission, by=alice)])
        submission.refresh_from_db()
        first.refresh_from_db()
        assert submission.runs.last().state == "cancelled"
        if claimed.status_code == 200:
            assert (first.state, first.cancel_asked, submission.uses_quota) == ("claimed", True, True)
        else:
            assert (first.state, submission.state, submission.uses_quota) == ("cancelled", "cancelled", False)
            assert not first.attempts.exists()


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


def claimed_by(run):
    """Claim a run with a worker of its own; returns a call that reports that its program failed."""
    _, token = make.worker()
    headers = {"Authorization": f"Bearer {token}"}
    proof = Client().post(f"/worker/runs/{run.pk}/claim", headers=headers).json()
    body = {"attempt": proof["attempt"], "secret": proof["secret"], "status": "failed", "reason": "crashed"}
    return partial(Client().post, f"/worker/runs/{run.pk}/report", body, "application/json", headers=headers)


@pytest.mark.parametrize("what", ["rerun", "budget", "rescore", "disqualify", "withdraw"])
def test_an_organizer_and_workers_who_act_at_once_on_one_entry_never_wait_for_each_other_in_a_circle(what):
    phase = make.phase(make.competition(), tasks=4, daily_quota=None)
    for _ in range(2):
        submissions = [make.submission(phase, make.user("alice")) for _ in range(2)]
        reports = []
        for submission in submissions:
            for run in submission.runs.all()[::2]:
                Run.objects.filter(pk=run.pk).update(state="finished")
            reports += [claimed_by(run) for run in submission.runs.filter(state="queued")]
        submission = submissions[0]
        phase.refresh_from_db()
        action = {
            "rerun": lambda submission=submission: Rerun(by=None, submission=submission),
            "budget": lambda: ChangeBudget(
                by=None, phase=phase, wall_seconds=(phase.wall_seconds or 50) + 1, cores=None, memory_bytes=None
            ),
            "rescore": lambda: Rescore(by=None, phase=phase),
            "disqualify": lambda submission=submission: Disqualify(by=None, submission=submission, why="Copied."),
            "withdraw": lambda submission=submission: Withdraw(by=None, entrant=submission.entrant),
        }[what]()
        answers = at_once([*reports[::2], action.execute, *reports[1::2]])
        assert isinstance(answers[len(reports[::2])], str)
        for answer in (*answers[: len(reports[::2])], *answers[len(reports[::2]) + 1 :]):
            assert answer.status_code == 200, answer.content
        for submission in submissions:
            submission.refresh_from_db()
            states = {run.state for run in submission.runs.all()}
            waiting = states - {"finished", "failed", "cancelled"}
            # What has ended stays so while it is scored again: its old scores stand until the new ones come.
            may_wait = {"collected"} if what == "rescore" else set()
            assert waiting if submission.state == "active" else waiting <= may_wait


def test_two_beats_at_once_end_a_lost_attempt_once(phase):
    run = make.submission(phase, make.user("alice")).runs.first()
    _, token = make.worker()
    Client().post(f"/worker/runs/{run.pk}/claim", headers={"Authorization": f"Bearer {token}"})
    Run.objects.filter(pk=run.pk).update(deadline=timezone.now())
    at_once([reconcile] * 4)
    run.refresh_from_db()
    assert (run.state, run.attempt_number) == ("queued", 1)
    assert list(run.attempts.values_list("outcome", flat=True)) == ["lost"]


def test_two_beats_at_once_hand_each_entrant_over_once(tmp_path):
    contest = series(timezone.now() - dt.timedelta(hours=10, minutes=1))
    for name in ("alice", "bob", "charlie"):
        finish(enter(contest["Tweakathon[0]"], make.user(name), hours_ago=1))
    Handover.objects.all().delete()
    Submission.objects.filter(origin__isnull=False).delete()
    at_once([tick] * 4)
    for title in ("Final[0]", "AutoML[1]"):
        assert contest[title].handovers.count() == 3
        assert contest[title].submissions.count() == 3
        assert Run.objects.filter(submission__phase=contest[title]).count() == 6
    assert {number for _, number in Submission.objects.values_list("entrant", "number")} == {1, 2, 3}


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
