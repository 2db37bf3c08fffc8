"""The studio's sections on submissions and on the queue, as organizers use them."""

import re

import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from competitions.models import Competition, Phase
from pages import frame, submission_table
from submissions import bulk, doorbell, selecting
from submissions.models import Attempt, BulkWork, Prediction, Run, RunState, Submission
from submissions.transitions import settle
from tests.platform import factories as make

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
MOST_QUERIES = 10


@pytest.fixture(autouse=True)
def no_bells(monkeypatch):
    monkeypatch.setattr(doorbell, "_send", lambda *args, **options: None)


def text(world, ending, role="organizer", status=200, **more):
    response = world.client(role).get(world.url(f"manage/{ending}"), **more)
    assert response.status_code == status
    return " ".join(response.content.decode().split())


def many(world, role="organizer", **given):
    """Choose submissions; returns the address of the preview."""
    answer = world.client(role).post(world.url("manage/submissions/many/"), given)
    assert answer.status_code == 302, answer.content.decode()
    return answer.url


def test_the_table_lists_what_matches_and_leads_to_the_next_page(world, monkeypatch):
    monkeypatch.setattr(selecting, "PER_PAGE", 1)
    page = text(world, "submissions/")
    assert "2 in all" in page
    older = re.search(r'href="(\?after=\d+)" rel="next"', page)[1]
    second = text(world, f"submissions/{older}")
    names = {name for name in ("alice", "bob") for shown in (page, second) if f"<bdi>{name}</bdi>" in shown}
    assert names == {"alice", "bob"}
    assert 'rel="prev"' in second
    assert 'rel="next"' not in second
    assert "No submission matches." in text(world, "submissions/?q=nobody")


def test_the_table_of_a_new_competition_says_what_to_do(world):
    empty = make.competition("empty", world.people["organizer"])
    page = world.client("organizer").get(f"/competitions/{empty.slug}/manage/submissions/").content.decode()
    assert "Nobody has submitted yet." in page


def test_a_page_of_the_table_costs_ten_queries_however_many_there_are(world):
    client = world.client("organizer")
    for _ in range(8):
        make.submission(world.phase, make.user("alice"))
    for ending in ("", "?state=active&kind=code", "?order=entrant&reason=crashed", "?q=alice"):
        with CaptureQueriesContext(connection) as queries:
            assert client.get(world.url(f"manage/submissions/{ending}")).status_code == 200
            assert len(queries) <= MOST_QUERIES, "\n".join(query["sql"][:3000] for query in queries)


def test_ticked_submissions_are_previewed_then_changed_then_told(world, django_capture_on_commit_callbacks):
    address = many(world, kind="cancel", which="ticked", submission=[world.submission.pk])
    client = world.client("organizer")
    page = " ".join(client.get(address).content.decode().split())
    assert "Nothing has changed yet" in page
    assert "Cancel: 1 of 1 submission, those that were ticked." in page
    assert Submission.objects.get(pk=world.submission.pk).state == "active"
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(address, {"confirm": "yes"}).status_code == 302
    assert Submission.objects.get(pk=world.submission.pk).state == "cancelled"
    page = " ".join(client.get(address).content.decode().split())
    assert "1 of 1 looked at: 1 changed, 0 left as they were." in page
    assert client.post(address, {"confirm": "yes"}).status_code == 409


def test_all_that_match_are_taken_whatever_is_on_the_page(world, monkeypatch):
    monkeypatch.setattr(selecting, "PER_PAGE", 1)
    for run in world.submission.runs.all():
        make.score(run, 0.5)
    settle(world.submission)
    many(world, kind="rescore", which="all", state="finished")
    work = BulkWork.objects.get()
    assert set(work.submissions) == {world.submission.pk, world.finished.pk}
    assert work.told == "all that match: finished"
    many(world, kind="rerun", which="all", q="bob")
    assert BulkWork.objects.first().told == "all that match: “bob”"


def test_a_disqualification_of_many_asks_why(world, django_capture_on_commit_callbacks):
    address = many(world, kind="disqualify", which="ticked", submission=[world.finished.pk])
    client = world.client("organizer")
    assert 'name="why"' in client.get(address).content.decode()
    answer = client.post(address, {"confirm": "yes", "why": " "})
    assert answer.status_code == 400
    assert "Say why" in answer.content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        client.post(address, {"confirm": "yes", "why": "Shared account."})
    assert Submission.objects.get(pk=world.finished.pk).disqualified_at is not None


def test_a_work_in_progress_is_followed_live_and_can_be_stopped(
    world, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(bulk, "WITHIN_A_REQUEST", 0)
    address = many(world, kind="cancel", which="ticked", submission=[world.submission.pk])
    client = world.client("organizer")
    with django_capture_on_commit_callbacks(execute=True):
        client.post(address, {"confirm": "yes"})
    part = client.get(address, headers=HTMX).content.decode()
    assert 'hx-trigger="every 2s"' in part
    assert "<html" not in part
    assert "0 of 1 are done" in text(world, "submissions/")
    client.post(address, {"confirm": "stop"})
    assert BulkWork.objects.get().state == BulkWork.State.STOPPED
    assert 'hx-trigger="every 2s"' not in client.get(address, headers=HTMX).content.decode()


def test_submissions_of_another_competition_are_never_chosen(world):
    elsewhere = make.submission(make.phase(make.competition("elsewhere")), make.user("alice"))
    client = world.client("organizer")
    given = {"kind": "cancel", "which": "ticked", "submission": [elsewhere.pk, "x"]}
    assert client.post(world.url("manage/submissions/many/"), given).status_code == 400
    many(world, kind="cancel", which="all")
    assert elsewhere.pk not in BulkWork.objects.get().submissions
    other = BulkWork.objects.create(competition=Competition.objects.get(slug="elsewhere"), user=make.user("olga"))
    assert client.get(world.url(f"manage/submissions/many/{other.pk}/")).status_code == 404


def test_a_reviewer_reads_the_table_and_changes_nothing(world):
    page = text(world, "submissions/", "reviewer")
    assert "alice" in page
    assert 'name="which"' not in page
    given = {"kind": "cancel", "which": "all"}
    assert world.client("reviewer").post(world.url("manage/submissions/many/"), given).status_code == 403
    assert "Ring again" not in text(world, "queue/", "reviewer")


def test_how_hidden_runs_end_is_not_listed_for_who_may_not_know(world):
    Phase.objects.filter(pk=world.phase.pk).update(kind=Phase.Kind.FINAL, release=Phase.When.BY_HAND)
    page = text(world, "submissions/?state=finished", "reviewer")
    assert "is hidden from you" in page
    assert "<bdi>bob</bdi>" not in page
    assert ">counts<" in text(world, "submissions/")
    assert ">counts<" not in text(world, "submissions/", "reviewer")
    queue = text(world, "queue/", "reviewer")
    assert "they are not listed here" in queue
    assert "<bdi>alice</bdi>" not in queue
    assert "<bdi>alice</bdi>" in text(world, "queue/")


def test_a_filter_in_words_names_datasets_and_phases(world):
    request = type("Request", (), {"user": world.people["organizer"]})()
    shown = frame.load(request, world.contest.slug)
    task = world.phase.tasks.first()
    wanted = selecting.Filter(phase=1, failed_on=task.pk, kind="code", entrant=1)
    told = submission_table.in_words(shown, wanted)
    failed = f"failed on {task.name}, {world.phase.title}"
    assert told == f"all that match: in {world.phase.title}, with code, {failed}, of one entrant"
    assert submission_table.in_words(shown, selecting.Filter()) == "all of the competition"


def test_the_queue_says_what_waits_why_and_in_which_place(world):
    page = text(world, "queue/")
    assert "Waits for a worker." in page
    assert '<td class="num">1</td>' in page
    part = text(world, "queue/", headers=HTMX)
    assert "<html" not in part
    Run.objects.update(state=RunState.FINISHED)
    assert "No run of this competition waits for a worker." in text(world, "queue/")


def test_the_queue_shows_what_is_at_work_where_and_how_long(world):
    worker, _ = make.worker("machine1")
    run = world.run
    Run.objects.filter(pk=run.pk).update(state=RunState.RUNNING, attempt_number=2, started_at=timezone.now())
    Attempt.objects.create(run=run, number=2, worker=worker, secret_hash="x", heard_at=timezone.now())
    page = text(world, "queue/")
    assert 'id="at-work"' in page
    assert 'machine1 <span class="muted">attempt 2</span>' in page
    assert "of 10 s" in page


def test_organizers_see_only_the_workers_that_concern_them(world):
    make.worker("ours")
    scoped, _ = make.worker("of-another-contest")
    scoped.competitions.add(make.competition("elsewhere"))
    make.worker("of-another-class", resource_class="big")
    other = make.submission(make.phase(Competition.objects.get(slug="elsewhere")), make.user("bob"))
    busy, _ = make.worker("busy")
    Attempt.objects.create(run=other.runs.first(), number=1, worker=busy, secret_hash="x")
    page = text(world, "queue/")
    assert "ours" in page
    assert "of-another-contest" not in page
    assert "of-another-class" not in page
    assert "another run" in page
    assert other.runs.first().dataset_name not in page


def test_a_dataset_that_failed_for_everybody_is_suggested_set_aside_and_taken_back(world):
    task = world.phase.tasks.first()
    Run.objects.filter(task=task).delete()
    for name in ("alice", "bob", "carol"):
        make.run(make.submission(world.blind, make.user(name)), task, state=RunState.FAILED, reason="crashed")
    page = text(world, "queue/")
    assert f"{task.name} in {world.phase.title} has failed for everybody:" in page
    client = world.client("organizer")
    where = world.url("manage/act/quarantine/")
    given = {"task": task.pk, "reason": "Its labels are wrong."}
    assert "No run on" in client.post(where, given).content.decode()
    answer = client.post(where, {**given, "confirm": "yes"})
    assert answer.url == world.url("manage/queue/")
    page = text(world, "queue/")
    assert "set aside" in page
    assert "has failed for everybody" not in page
    board = Client().get(world.url(f"leaderboard/?phase={world.phase.number}")).content.decode()
    assert "is set aside by the organizers" in board
    assert "Its labels are wrong." in board
    client.post(world.url("manage/act/lift-quarantine/"), {"task": task.pk, "confirm": "yes"})
    assert "take back" not in text(world, "queue/")


def test_ringing_cancelling_and_scoring_again_lead_back_to_where_one_was(world):
    client = world.client("organizer")
    rung = client.post(world.url("manage/act/ring-again/"), {"confirm": "yes"})
    assert rung.url == world.url("manage/queue/")
    ids = {"submission": world.submission.pk, "confirm": "yes"}
    cancelled = client.post(world.url("manage/act/cancel-submission/"), ids)
    assert cancelled.url == world.submission.get_absolute_url()
    assert client.post(world.url("manage/act/cancel-submission/"), ids).status_code == 409
    scored = client.post(world.url("manage/act/rescore-submission/"), {**ids, "submission": world.finished.pk})
    assert scored.url == world.finished.get_absolute_url()


def test_the_queue_costs_no_more_queries_for_more_runs(world):
    client = world.client("organizer")
    make.worker()
    client.get(world.url("manage/queue/"))
    with CaptureQueriesContext(connection) as few:
        client.get(world.url("manage/queue/"))
    for name in ("carol", "dan", "erin"):
        make.submission(world.phase, make.user(name))
    with CaptureQueriesContext(connection) as more:
        client.get(world.url("manage/queue/"))
    assert len(more) <= len(few)


def test_organizers_read_every_attempt_worker_and_file_of_a_run_and_its_entrant_does_not(world):
    worker, _ = make.worker("machine1")
    run = world.run
    Attempt.objects.create(
        run=run, number=1, worker=worker, secret_hash="x", outcome="lost", note="Its disk was full."
    )
    file = Prediction.objects.create(
        run=run, part="valid", name="set_valid.predict", sha256="ab" * 32, size=9, counts=True
    )
    file.file.save("p", ContentFile(b"0.5\n"))
    address = world.submission.get_absolute_url()
    page = " ".join(world.client("organizer").get(address).content.decode().split())
    for told in (
        "1 attempt, 1 file",
        "machine1",
        "Its disk was full.",
        "set_valid.predict",
        "abababababababab",
        "Seed",
    ):
        assert told in page
    download = f"{address}runs/{run.pk}/predictions/{file.pk}/"
    assert download in page
    answer = world.client("organizer").get(download)
    assert b"".join(answer.streaming_content) == b"0.5\n"
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    assert world.client("participant").get(download).status_code == 403
    assert world.client("organizer").get(f"{address}runs/{run.pk + 1}/predictions/{file.pk}/").status_code == 404
    own = world.client("participant").get(address).content.decode()
    assert "machine1" not in own
    assert "For organizers" not in own
    Phase.objects.filter(pk=world.phase.pk).update(kind=Phase.Kind.FINAL)
    assert "machine1" not in world.client("reviewer").get(address).content.decode()
