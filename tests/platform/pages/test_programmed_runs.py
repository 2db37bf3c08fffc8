"""Who reads what of a run that organizers' programs score: values, logs, details, files; and what is offered."""

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.utils import timezone

from competitions.models import Organizer, Phase, PhaseFile
from submissions.actions import submit
from submissions.models import ColumnScore, Run, RunFile, RunState, Submission
from tests.platform import factories as make
from tests.platform.submissions.programs import contest as programmed

pytestmark = pytest.mark.django_db
DETAILS = "<p>Confusion</p><script>alert(1)</script>"


def browser(person) -> Client:
    client = Client()
    client.force_login(person)
    return client


class World:
    """Alice's finished submission to a phase with an ingestion program; Bob competes, Rita reviews, Olga owns."""

    def __init__(self, folder, **fields):
        self.phase = programmed.phase(ingestion=True, **fields)
        self.contest = self.phase.competition
        self.board = programmed.board(self.contest, "accuracy", "loss")
        self.olga, self.rita = self.contest.created_by, make.user("rita")
        Organizer.objects.create(competition=self.contest, user=self.rita, role=Organizer.Role.REVIEWER)
        self.alice, self.bob = make.user("alice"), make.user("bob")
        for person in (self.alice, self.bob):
            make.participant(self.contest, person)
        archive = programmed.archive(folder)
        self.submission = submit(user=self.alice, phase=self.phase, archive=archive, filename="code.zip")
        self.run = self.submission.runs.get()
        self.finish()

    def finish(self):
        report = {"notes": ["noteq"], "scoring_lines": "scorerq", "ingestion_lines": "ingestq"}
        Run.objects.filter(pk=self.run.pk).update(
            state=RunState.FINISHED, ended_at=timezone.now(), error_lines="errorq", program_report=report
        )
        Submission.objects.filter(pk=self.submission.pk).update(state=Submission.State.FINISHED)
        for key, value in (("accuracy", 0.98765), ("loss", 3.0)):
            ColumnScore.objects.create(run=self.run, key=key, value=value)
        for kind in RunFile.Kind.values:
            file = RunFile(run=self.run, kind=kind, name=kind, sha256="0" * 64, size=3)
            content = DETAILS if kind == "details" else f"content of {kind}"
            file.file.save(kind, ContentFile(content.encode()), save=False)
            file.save()

    def page(self, person) -> str:
        answer = browser(person).get(self.submission.get_absolute_url())
        assert answer.status_code == 200
        return answer.content.decode()

    def file(self, person, kind):
        return browser(person).get(f"{self.submission.get_absolute_url()}runs/{self.run.pk}/files/{kind}/")

    def readable(self, person) -> set[str]:
        return {kind for kind in RunFile.Kind.values if self.file(person, kind).status_code == 200}


EVERYTHING = set(RunFile.Kind.values)
OWN = {"predictions", "ingestion_log"}


def test_an_entrant_reads_what_the_own_code_left_and_organizers_everything(tmp_path):
    world = World(tmp_path)
    assert world.readable(world.alice) == OWN
    assert world.readable(world.rita) == OWN
    assert world.readable(world.olga) == EVERYTHING
    assert world.file(world.bob, "predictions").status_code == 404


def test_the_scoring_programs_log_and_details_are_for_entrants_where_the_phase_says_so(tmp_path):
    world = World(tmp_path, shows_details=True)
    assert world.readable(world.alice) == OWN | {"scoring_log", "details"}


def test_a_phase_that_hides_output_shows_scores_and_no_files(tmp_path):
    world = World(tmp_path, hides_output=True, shows_details=True)
    assert world.readable(world.alice) == set()
    assert world.readable(world.olga) == EVERYTHING
    page = world.page(world.alice)
    assert "0.99" in page
    assert "errorq" not in page
    url = f"{world.submission.get_absolute_url()}archive/"
    assert browser(world.alice).get(url).status_code == 200


def test_details_wait_until_the_scores_are_shown(tmp_path):
    world = World(tmp_path, shows_details=True, hides_scores=True)
    assert world.readable(world.alice) == OWN
    assert world.readable(world.olga) == EVERYTHING


def test_a_hidden_phase_shows_neither_files_nor_scores(tmp_path):
    world = World(tmp_path, shows_details=True)
    Phase.objects.filter(pk=world.phase.pk).update(kind=Phase.Kind.FINAL)
    assert world.readable(world.alice) == set()
    page = world.page(world.alice)
    for secret in ("0.99", "errorq", "scorerq", "ingestq", "noteq"):
        assert secret not in page


def test_an_ingestion_program_that_reads_labels_keeps_what_it_left_from_entrants(tmp_path):
    world = World(tmp_path)
    world.contest.programs.filter(kind="ingestion").update(
        command="python3 $ingestion_program/a.py $hidden", layout=1
    )
    assert world.readable(world.alice) == set()


def test_the_page_shows_values_rounded_to_their_columns_and_leaves_hidden_columns_out(tmp_path):
    world = World(tmp_path)
    world.board.columns.filter(key="accuracy").update(precision=3)
    world.board.columns.filter(key="loss").update(is_hidden=True)
    page = world.page(world.alice)
    assert "0.988" in page
    assert "0.98765" not in page
    assert "Loss" not in page
    assert "Loss" in world.page(world.olga)


def test_a_column_that_is_hidden_in_a_phase_is_not_shown_there(tmp_path):
    world = World(tmp_path, hidden_columns=["loss"])
    assert "Loss" not in world.page(world.alice)


def test_scores_that_a_phase_keeps_until_its_end_are_not_shown_before(tmp_path):
    world = World(tmp_path, hides_scores=True)
    assert "0.99" not in world.page(world.alice)
    assert "0.99" in world.page(world.olga)
    Phase.objects.filter(pk=world.phase.pk).update(closes_at=timezone.now())
    assert "0.99" in world.page(world.alice)


def test_what_programs_said_is_for_organizers(tmp_path):
    world = World(tmp_path)
    for secret in ("scorerq", "ingestq", "noteq"):
        assert secret not in world.page(world.alice)
        assert secret in world.page(world.olga)


def test_details_are_shown_without_scripts_cookies_or_guesses(tmp_path):
    world = World(tmp_path, shows_details=True)
    answer = world.file(world.alice, "details")
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("sandbox;")
    assert "default-src 'none'" in policy
    assert "allow" not in policy
    assert "script" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert not answer.cookies
    assert b"".join(answer.streaming_content).decode() == DETAILS


def test_logs_are_plain_text_and_predictions_are_saved(tmp_path):
    world = World(tmp_path)
    assert world.file(world.alice, "ingestion_log").headers["Content-Type"] == "text/plain; charset=utf-8"
    assert "attachment" in world.file(world.alice, "predictions").headers["Content-Disposition"]


def test_public_data_and_programs_go_to_participants_where_they_are_offered(tmp_path):
    world = World(tmp_path)
    kit = PhaseFile(phase=world.phase, kind="starting_kit", name="kit.zip", sha256="0" * 64, size=2)
    kit.file.save("kit.zip", ContentFile(b"PK"), save=False)
    kit.save()
    program = world.contest.programs.get(kind="scoring")
    base = world.contest.get_absolute_url()
    file, code = f"{base}files/{kit.pk}/", f"{base}programs/{program.pk}/"
    datasets = f"{base}datasets/"
    assert browser(world.alice).get(file).status_code == 200
    assert browser(make.user("charlie")).get(file).status_code == 403
    assert browser(world.alice).get(code).status_code == 404
    assert browser(world.olga).get(code).status_code == 200
    assert "Starting kit" in browser(world.alice).get(datasets).content.decode()
    assert code not in browser(world.alice).get(datasets).content.decode()
    type(world.contest).objects.filter(pk=world.contest.pk).update(programs_are_public=True)
    assert browser(world.alice).get(code).status_code == 200
    assert browser(make.user("charlie")).get(code).status_code == 404
    assert code in browser(world.alice).get(datasets).content.decode()


def test_input_data_of_programs_are_offered_where_their_task_says_so(tmp_path):
    world = World(tmp_path)
    task = world.phase.tasks.get()
    url = f"{world.contest.get_absolute_url()}datasets/{task.pk}/download/"
    assert browser(world.alice).get(url).status_code == 404
    world.phase.tasks.update(shows_input=True)
    answer = browser(world.alice).get(url)
    assert b"".join(answer.streaming_content) == task.dataset.current.public_zip.read()


def test_public_data_keep_their_kind_and_no_name_of_theirs_is_taken_for_anything_else(tmp_path):
    world = World(tmp_path)
    for name, shown in (("Words.CSV", "words.csv"), ('a"; x=.html\r\n', "a-x.bin"), ("noend", "noend.bin")):
        file = PhaseFile(phase=world.phase, kind="public_data", name=name, sha256="0" * 64, size=2)
        file.file.save("file", ContentFile(b"a,b"), save=False)
        file.save()
        answer = browser(world.alice).get(f"{world.contest.get_absolute_url()}files/{file.pk}/")
        assert answer.headers["Content-Disposition"] == f'attachment; filename="{shown}"'
        assert answer.headers["Content-Type"] == "application/octet-stream"
