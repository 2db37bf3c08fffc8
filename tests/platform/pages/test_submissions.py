"""A submission's page: what is live, what is hidden, what strangers' text may do."""

import datetime as dt

import pytest
from django.utils import timezone

from leaderboards import board
from pages import own
from submissions.models import Run, RunState, Submission
from submissions.moderation import Disqualify
from tests.platform import factories as make
from tests.platform.pages.conftest import scored

HTMX = {"HX-Request": "true"}


def page(world, submission=None, role="participant", headers=None):
    submission = submission or world.submission
    return world.client(role).get(submission.get_absolute_url(), headers=headers).content.decode()


def test_an_active_submission_asks_again_every_two_seconds_and_an_ended_one_does_not(world):
    assert 'hx-trigger="every 2s"' in page(world)
    assert "hx-trigger" not in page(world, world.finished, "other")


def test_htmx_gets_the_live_part_alone(world):
    part = page(world, headers=HTMX)
    assert part.lstrip().startswith('<div id="submission"')
    assert "<html" not in part


def test_the_list_asks_again_only_while_something_runs(world):
    url = world.url("submissions/")
    assert "every 2s" in world.client("participant").get(url).content.decode()
    assert "every 2s" not in world.client("other").get(url).content.decode()


def test_the_place_in_the_queue_is_shown(world):
    assert "next in the queue" in page(world)


def test_logs_are_escaped_and_without_terminal_codes(world):
    shown = page(world)
    assert "red &lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "\x1b" not in shown


def test_the_log_is_plain_text_that_no_browser_executes(world):
    url = f"{world.submission.get_absolute_url()}runs/{world.run.pk}/log/"
    response = world.client("participant").get(url)
    assert response.content == b"red <script>alert(1)</script>\n"
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Security-Policy"].startswith("sandbox")
    download = world.client("participant").get(url + "?download=1")
    assert download.headers["Content-Disposition"].startswith("attachment")
    assert b"".join(download.streaming_content).startswith(b"\x1b[31m")


def test_a_run_of_another_submission_is_not_found_under_this_one(world):
    foreign = world.finished.runs.first()
    url = f"{world.submission.get_absolute_url()}runs/{foreign.pk}/log/"
    assert world.client("organizer").get(url).status_code == 404


def test_the_archive_comes_back_as_it_was_sent(world):
    response = world.client("participant").get(world.submission.get_absolute_url() + "archive/")
    assert b"".join(response.streaming_content) == b"PK"
    assert response.headers["Content-Disposition"] == 'attachment; filename="submission-1.zip"'
    assert response.headers["Content-Security-Policy"].startswith("sandbox")


def test_the_entrant_sees_the_validation_score_and_only_organizers_the_test_score(world):
    own_view = page(world, world.finished, "other")
    assert "0.4000" in own_view
    assert "0.5000" not in own_view
    assert "0.5000" in page(world, world.finished, "organizer")


def test_a_hidden_phase_shows_its_entrant_nothing_but_reason_and_rounded_time(world):
    world.blind.opens_at = timezone.now() - dt.timedelta(hours=1)
    world.blind.save()
    hidden = make.submission(world.blind, world.people["participant"], filename="secret-name.zip")
    Run.objects.filter(submission=hidden).update(
        state=RunState.FAILED, reason="crashed", sentence="KeyError: 'secret column'", log_tail="secret log",
        wall_seconds=7.3, cpu_seconds=5.0, peak_memory_bytes=10**9, output_bytes=7 * 2**20, prediction_bytes=5000,
        error_lines="secret last words",
    )  # fmt: skip
    shown = page(world, hidden)
    assert "The program failed." in shown
    assert "It took about 7 s." in shown
    assert "dataset1" in shown
    names = [run.task.dataset_name for run in hidden.runs.all()]
    for secret in (
        *names,
        "of 10 s",
        "AUC",
        "secret",
        "KeyError",
        "7.3",
        "Processor",
        "MiB",
        "Output",
        "kit.py run",
    ):
        assert secret not in shown
    url = f"{hidden.get_absolute_url()}runs/{hidden.runs.first().pk}/log/"
    assert world.client("participant").get(url).status_code == 403
    assert "secret log" in page(world, hidden, "organizer")


def test_a_failed_run_shows_the_programs_last_lines_apart_and_what_it_used(world):
    Run.objects.filter(pk=world.run.pk).update(
        state=RunState.FAILED, reason="crashed", sentence="The program ended with exit code 1.",
        error_lines="Traceback <b>\nKeyError: 'x'", wall_seconds=3.0, cpu_seconds=2.0, peak_memory_bytes=3 * 2**20,
        output_bytes=7 * 2**20, prediction_bytes=2048,
    )  # fmt: skip
    for role in ("participant", "organizer"):
        shown = page(world, role=role)
        assert "The program ended with exit code 1.</p>" in shown
        assert '<pre class="run-error"' in shown
        assert "Traceback &lt;b&gt;\nKeyError: &#x27;x&#x27;</pre>" in shown
        for figure in ("<dd>2 s</dd>", "<dd>3 MiB", "<dd>7 MiB</dd>", "<dd>2 KiB</dd>"):
            assert figure in shown


def test_only_the_latest_that_has_ended_counts(world):
    bob = world.people["other"]
    assert own.counting([world.phase.pk], [world.finished.entrant_id]) == {world.finished.pk}
    newer = make.submission(world.phase, bob)
    assert own.counting([world.phase.pk], [newer.entrant_id]) == {world.finished.pk}
    Submission.objects.filter(pk=newer.pk).update(state=Submission.State.FAILED)
    assert own.counting([world.phase.pk], [newer.entrant_id]) == {newer.pk}
    Submission.objects.filter(pk=newer.pk).update(state=Submission.State.LOST)
    assert own.counting([world.phase.pk], [newer.entrant_id]) == {world.finished.pk}


def test_what_counts_here_is_what_counts_on_the_board(world):
    from leaderboards.board import entries_that_count

    scored(world.phase, world.people["other"], 0.3)
    make.submission(world.phase, world.people["other"])
    standing = {submission.pk for submission in entries_that_count(world.phase).values()}
    entrants = world.contest.entrants.values_list("pk", flat=True)
    assert own.counting([world.phase.pk], entrants) == standing


def test_where_the_best_counts_the_list_says_what_the_board_says(world):
    world.phase.counts = "best"
    world.phase.save()
    scored(world.phase, world.people["other"], 0.1)
    board.refresh_now(world.phase)
    assert own.counting([world.phase.pk], [world.finished.entrant_id]) == {world.finished.pk}


def test_who_was_disqualified_reads_so_and_whom_to_ask_but_not_the_log(world):
    owner = world.contest.organizers.get(role="owner").user
    Disqualify(by=owner, submission=world.finished, why="Two accounts of one person.").execute()
    shown = page(world, world.finished, "other")
    assert "The organizers disqualified this submission." in shown
    assert f"Ask them for the reason: <bdi>{owner.display_name}</bdi>" in shown
    assert "Two accounts" not in shown
    assert "The organizers disqualified" not in page(world, world.finished, "organizer")


def test_cancelling_ends_what_waits(world):
    response = world.client("participant").post(world.submission.get_absolute_url() + "cancel/")
    world.submission.refresh_from_db()
    assert response.url == world.submission.get_absolute_url()
    assert world.submission.state == Submission.State.CANCELLED


def test_what_has_ended_cannot_be_cancelled(world):
    response = world.client("other").post(world.finished.get_absolute_url() + "cancel/")
    assert response.status_code == 409
    assert b"ended already" in response.content


@pytest.mark.parametrize("reason", ["timed_out", "out_of_memory", "crashed", "no_predictions", "bad_predictions"])
def test_each_failure_of_a_program_comes_with_advice(world, reason):
    Run.objects.filter(submission=world.submission).update(state=RunState.FAILED, reason=reason)
    assert 'class="run-advice"' in page(world)


def test_pages_of_submissions_ask_a_bounded_number_of_queries(world, django_assert_max_num_queries):
    client = world.client("participant")
    for _ in range(12):
        scored(world.phase, world.people["participant"], 0.5)
    with django_assert_max_num_queries(20):
        client.get(world.url("submissions/"))
    with django_assert_max_num_queries(20):
        client.get(world.submission.get_absolute_url(), headers=HTMX)
    manager = world.client("organizer")
    with django_assert_max_num_queries(38):
        manager.get(world.url("manage/submissions/"))
