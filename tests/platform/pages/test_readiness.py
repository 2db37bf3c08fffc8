"""The panel of readiness checks on a submission's page: who sees it, what it offers, what it shows live."""

import pytest
from django.core.files.base import ContentFile

from ingestion.traits import TRAITS
from submissions import readiness
from submissions.models import ReadinessCheck, ReadinessRow, Submission
from submissions.models.readiness import CheckState
from tests.platform.pages.test_submissions import HTMX, page

BUTTON = "Check readiness for blind datasets"
FINE = {"test": {"predicted": True, "shape": True, "finite": True}}
EVIL = "\x1b[31mred\x1b[0m <script>alert(1)</script>\n"


@pytest.fixture
def check(world):
    return readiness.ask(world.submission, by=world.people["participant"])


def row(check, trait, **fields):
    made = ReadinessRow(readiness_check=check, trait=trait, **{"ok": True, "ran": True, "parts": FINE, **fields})
    made.log.save("log", ContentFile(EVIL.encode()), save=False)
    made.save()
    return made


def panel(world, role="participant", headers=HTMX):
    url = f"{world.submission.get_absolute_url()}readiness/"
    return world.client(role).get(url, headers=headers).content.decode()


def test_every_submission_of_code_offers_the_check(world):
    shown = page(world)
    assert BUTTON in shown
    assert "10 checks left today (UTC), at most" in shown
    assert "it costs no quota" in shown
    assert "csrfmiddlewaretoken" in shown


def test_reviewers_read_it_and_have_no_button(world, check):
    ReadinessCheck.objects.update(state=CheckState.FINISHED)
    assert "Check again" in page(world)
    shown = page(world, role="reviewer")
    assert "Readiness for blind datasets" in shown and "Check again" not in shown


def test_results_and_hidden_phases_have_no_panel(world):
    Submission.objects.update(kind=Submission.Kind.RESULTS)
    assert "Readiness" not in page(world)
    Submission.objects.update(kind=Submission.Kind.CODE)
    world.phase.kind = "final"
    world.phase.save()
    assert "Readiness" not in page(world)


def test_asking_leads_back_to_the_submission_and_is_refused_in_a_sentence_while_one_runs(world):
    client = world.client("participant")
    url = f"{world.submission.get_absolute_url()}readiness/ask/"
    answer = client.post(url)
    assert answer.url == f"{world.submission.get_absolute_url()}#readiness"
    assert world.submission.readiness_checks.get().state == CheckState.QUEUED
    again = client.post(url)
    assert again.status_code == 429
    assert "has not ended yet" in again.content.decode()


def test_a_running_check_asks_again_every_two_seconds_and_says_how_far_it_is(world, check):
    row(check, "dense")
    ReadinessCheck.objects.update(
        state=CheckState.RUNNING, current_trait="sparse", current_seconds=3, sentence="Is running."
    )
    shown = panel(world)
    assert shown.lstrip().startswith('<section class="panel" id="readiness"')
    assert 'hx-trigger="every 2s"' in shown
    assert f"1 of {len(TRAITS)} traits tried; now sparse numbers, 3 s of 20 s." in shown
    assert shown.count("✓") == 4, "there was no validation part to look at"
    assert shown.count(">waits<") == len(TRAITS) - 2
    assert "Cancel the check" in shown


def test_an_ended_check_shows_each_fault_with_its_sentence_and_log_and_is_still(world, check):
    row(check, "dense", log_tail="all is well")
    failed = {"ok": False, "ran": False, "reason": "crashed", "parts": {}}
    row(check, "missing", **failed, sentence="It ended with <b>code 1</b>.", log_tail=EVIL)
    ReadinessCheck.objects.update(state=CheckState.FINISHED, sentence="Not ready: 1 of 15 traits failed.")
    shown = panel(world)
    assert "hx-trigger" not in shown
    assert "Not ready: 1 of 15 traits failed." in shown
    assert "It ended with &lt;b&gt;code 1&lt;/b&gt;." in shown and "the program failed" in shown
    assert "red &lt;script&gt;alert(1)&lt;/script&gt;" in shown and "\x1b" not in shown
    assert "all is well" in shown
    assert "was not tried" in shown


def test_the_panel_is_a_page_of_its_own_too(world, check):
    shown = panel(world, headers={})
    assert "<html" in shown and "Cancel the check" in shown


def test_the_whole_log_is_plain_text_under_headings_that_no_browser_executes(world, check):
    row(check, "dense", sentence="It left predictions.")
    url = f"{world.submission.get_absolute_url()}readiness/log/"
    response = world.client("participant").get(url)
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.headers["Content-Security-Policy"].startswith("sandbox")
    text = response.content.decode()
    assert text.startswith("==== dense: dense numbers, binary.classification\n==== ok: It left predictions.\n")
    assert "red <script>alert(1)</script>" in text and "\x1b" not in text
    download = world.client("participant").get(url + "?download=1")
    assert download.headers["Content-Disposition"].startswith("attachment")
    assert EVIL in download.content.decode()


def test_a_submission_that_was_never_checked_has_no_log(world):
    url = f"{world.submission.get_absolute_url()}readiness/log/"
    assert world.client("participant").get(url).status_code == 404


def test_another_submission_of_the_entrant_names_the_check_that_runs(world, check):
    other = Submission.objects.get(pk=world.submission.pk)
    other.pk, other.number = None, world.submission.number + 1
    other.save()
    shown = page(world, other)
    assert f'A check of <a href="{world.submission.get_absolute_url()}">' in shown
    assert "disabled" in shown


def test_how_many_queries_the_panel_takes_does_not_depend_on_its_rows(world, check, django_assert_max_num_queries):
    for trait in TRAITS:
        row(check, trait.name)
    with django_assert_max_num_queries(30):
        panel(world)
