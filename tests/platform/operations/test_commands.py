"""Podium's management commands: one JSON object as the last line, and the exit codes."""

import json
import shutil

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from accounts.models import User
from datasets.models import Dataset
from ingestion.dataset import write_dataset
from submissions.models import Submission, Worker
from tests.platform import factories

pytestmark = pytest.mark.django_db


def run(capsys, *arguments: str) -> tuple[dict, int]:
    """The JSON object on the last line of standard output, and the exit code."""
    code = 0
    try:
        call_command(*arguments, "--json")
    except SystemExit as end:
        code = int(end.code)
    return json.loads(capsys.readouterr().out.splitlines()[-1]), code


@pytest.fixture
def contest():
    made = factories.competition("round-0")
    factories.participant(made, factories.user("alice"))
    return made


@pytest.fixture
def phase(contest):
    return factories.phase(contest)


def test_submit_queues_a_run_for_each_task(capsys, phase, tmp_path):
    archive = factories.code_zip(tmp_path)
    answer, code = run(capsys, "submit", str(archive), "--competition", "round-0", "--user", "alice")
    assert code == 0
    submission = Submission.objects.get(pk=answer["submission"])
    assert submission.user.username == "alice"
    assert answer["state"] == "active"
    assert [(r["task"], r["state"], r["reason"], r["scores"]) for r in answer["runs"]] == [
        (task.name, "queued", None, {}) for task in phase.tasks.all()
    ]


def test_submit_tells_the_number_that_its_entrant_sees(capsys, phase, tmp_path):
    factories.submission(phase, factories.user("bob"))
    call_command("submit", str(factories.code_zip(tmp_path)), "--competition", "round-0", "--user", "alice")
    assert capsys.readouterr().out.startswith("Submission 1 of alice is active.")


def test_submit_tells_the_programs_own_words_with_the_sentence(phase):
    from operations.management.commands.submit import result_of

    made = factories.submission(phase, factories.user("alice"))
    run = made.runs.first()
    run.state, run.reason, run.sentence = "failed", "crashed", "The program ended with exit code 1."
    run.error_lines, run.output_bytes = "KeyError: 'x'", 12
    run.save()
    told = result_of(made)
    assert told["runs"][0]["sentence"] == "The program ended with exit code 1. Its last lines: KeyError: 'x'"
    assert told["sentence"] == told["runs"][0]["sentence"]
    assert told["runs"][0]["usage"]["output_bytes"] == 12


@pytest.mark.parametrize("order", ["before", "after"])
def test_submit_to_one_task(capsys, phase, tmp_path, order):
    archive = str(factories.code_zip(tmp_path))
    name = phase.tasks.all()[1].name
    words = ["--task", name, archive] if order == "before" else [archive, "--task", name]
    answer, code = run(capsys, "submit", "--competition", "round-0", "--user", "alice", *words)
    assert (code, [r["task"] for r in answer["runs"]]) == (0, [name])


def test_submit_shows_scores_of_every_part(capsys, phase, tmp_path):
    from operations.management.commands.submit import result_of

    made = factories.submission(phase, factories.user("alice"))
    factories.score(made.runs.first(), 0.5)
    factories.score(made.runs.first(), 0.25, part="test")
    assert result_of(made)["runs"][0]["scores"] == {
        "valid": {"value": 0.5, "raw": 0.75, "stderr": 0.0123},
        "test": {"value": 0.25, "raw": 0.625, "stderr": 0.0123},
    }


@pytest.mark.parametrize(
    ("competition", "user", "sentence"),
    [
        ("nothing", "alice", "There is no competition nothing."),
        ("round-0", "nobody", "There is no user nobody."),
        ("round-0", "charlie", "Only participants"),
    ],
)
def test_submit_refuses_with_a_sentence_and_keeps_nothing(capsys, phase, tmp_path, competition, user, sentence):
    factories.user("charlie")
    archive = str(factories.code_zip(tmp_path))
    answer, code = run(capsys, "submit", archive, "--competition", competition, "--user", user)
    assert code == 1
    assert (answer["submission"], answer["state"], answer["reason"]) == (None, "refused", "refused")
    assert answer["sentence"].startswith(sentence)
    assert not Submission.objects.exists()


def test_submit_of_something_that_is_not_a_zip(capsys, phase, tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    words = ["--competition", "round-0", "--user", "alice"]
    answer, code = run(capsys, "submit", str(tmp_path / "notes.txt"), *words)
    assert (code, answer["reason"]) == (1, "refused")
    assert not Submission.objects.exists()


def test_submit_to_a_phase_that_has_closed(capsys, phase, tmp_path):
    type(phase).objects.filter(pk=phase.pk).update(closes_at=timezone.now())
    words = ["--competition", "round-0", "--user", "alice", "--phase", "1"]
    answer, code = run(capsys, "submit", str(factories.code_zip(tmp_path)), *words)
    assert code == 1
    assert "closed" in answer["sentence"]


def test_submit_without_an_archive_is_wrong_usage(phase):
    with pytest.raises(CommandError, match="ARCHIVE") as wrong:
        call_command("submit", "--competition", "round-0", "--user", "alice")
    assert wrong.value.returncode == 2


@pytest.fixture
def tiny(tmp_path):
    """A binary dataset of a few rows in AutoML format."""
    import numpy as np

    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(30, 3)), np.arange(30) % 2
    write_dataset(
        tmp_path / "tiny",
        "tiny",
        task="binary.classification",
        metric="AUC",
        time_budget=10,
        train=(features[:10], labels[:10]),
        valid=(features[10:20], labels[10:20]),
        test=(features[20:], labels[20:]),
    )
    return tmp_path / "tiny"


def test_import_dataset_keeps_it(capsys, tiny):
    factories.user("olga")
    answer, code = run(capsys, "import_dataset", str(tiny), "--owner", "olga")
    assert (code, answer["ok"], answer["slug"], answer["errors"]) == (0, True, "tiny", [])
    assert Dataset.objects.get(slug="tiny").current.train_num == 10


def test_import_dataset_says_under_which_slug_and_version_it_was_kept(capsys, tiny):
    factories.user("olga")
    told = []
    for _ in range(2):
        call_command("import_dataset", str(tiny), "--owner", "olga")
        told.append(capsys.readouterr().out.splitlines()[-1])
    assert told == ["Imported as tiny, version 1.", "Imported as tiny, version 2."]
    call_command("import_dataset", str(tiny), "--owner", "olga", "--check-only")
    assert "would be imported as tiny" in capsys.readouterr().out


def test_import_dataset_with_check_only_keeps_nothing(capsys, tiny):
    factories.user("olga")
    answer, code = run(capsys, "import_dataset", str(tiny), "--owner", "olga", "--check-only")
    assert (code, answer["ok"]) == (0, True)
    assert not Dataset.objects.exists()


def test_import_dataset_reports_what_is_wrong_and_where(capsys, tiny):
    factories.user("olga")
    lines = (tiny / "tiny_train.solution").read_text().splitlines()
    (tiny / "tiny_train.solution").write_text("\n".join(lines[:-1]) + "\n")
    answer, code = run(capsys, "import_dataset", str(tiny), "--owner", "olga")
    assert (code, answer["ok"]) == (1, False)
    assert set(answer["errors"][0]) == {"place", "message", "mend"}
    assert not Dataset.objects.exists()


def test_import_dataset_tells_severities_the_card_and_a_round(capsys, tiny):
    factories.user("olga")
    call_command("import_dataset", str(tiny), "--owner", "olga", "--check-only")
    lines = capsys.readouterr().out.splitlines()
    assert {line.partition(":")[0] for line in lines[:-3]} <= {"warning", "note"}
    assert lines[-3].startswith("C 2, Cbal ")
    assert lines[-2].startswith("Round 1, Novice: ")


def test_import_dataset_looks_for_hidden_targets_in_files_that_others_can_reach(capsys, tiny, tmp_path):
    factories.user("olga")
    for part in ("valid", "test"):
        (tiny / f"tiny_{part}.solution").write_text("1\n0\n0\n1\n1\n" * 10)
        (tiny / f"tiny_{part}.data").write_text((tiny / "tiny_train.data").read_text() * 5)
    (tmp_path / "answers.csv").write_text("answer\n" + "yes\nno\nno\nyes\nyes\n" * 10)
    options = ("import_dataset", str(tiny), "--owner", "olga", "--reachable", str(tmp_path / "answers.csv"))
    answer, code = run(capsys, *options)
    assert (code, answer["ok"]) == (1, False)
    assert "answers.csv" in answer["errors"][0]["message"]
    answer, code = run(capsys, *options[:-1], str(tmp_path / "nowhere.csv"))
    assert (code, "nowhere.csv" in answer["errors"][0]["message"]) == (1, True)


def test_import_dataset_of_a_folder_that_is_not_there(capsys, tmp_path):
    factories.user("olga")
    answer, code = run(capsys, "import_dataset", str(tmp_path / "nowhere"), "--owner", "olga")
    assert (code, answer["ok"], answer["slug"]) == (1, False, None)
    assert "nowhere" in answer["errors"][0]["message"]


def test_our_own_fault_ends_with_3(capsys, tiny, monkeypatch):
    def broken(*arguments, **options):
        raise OSError("the disk is full")

    factories.user("olga")
    monkeypatch.setattr("operations.management.commands.import_dataset.import_dataset", broken)
    answer, code = run(capsys, "import_dataset", str(tiny), "--owner", "olga")
    assert code == 3
    assert "the disk is full" in answer["message"]


def test_worker_token_works_and_a_new_one_ends_the_first_only_when_that_is_asked_for(capsys):
    first, code = run(capsys, "worker_token", "gpu-1", "--resource-class", "gpu", "--trusted")
    assert code == 0
    worker = Worker.by_token(first["token"])
    assert (worker.name, worker.resource_class, worker.is_trusted) == ("gpu-1", "gpu", True)
    refused, code = run(capsys, "worker_token", "gpu-1")
    assert code == 1 and "--replace" in refused["message"]
    assert Worker.by_token(first["token"]) == worker
    second, code = run(capsys, "worker_token", "gpu-1", "--replace")
    assert code == 0
    assert Worker.by_token(first["token"]) is None
    assert Worker.by_token(second["token"]).is_trusted is False


def test_worker_token_makes_one_for_each_slot_of_a_machine(capsys):
    made, _ = run(capsys, "worker_token", "lab", "--slots", "3")
    assert made["workers"] == ["lab-1", "lab-2", "lab-3"]
    assert [Worker.by_token(token).name for token in made["token"].split(",")] == made["workers"]
    refused, code = run(capsys, "worker_token", "lab", "--slots", "2")
    assert code == 1 and "lab-1 and lab-2" in refused["message"]


def test_worker_token_prints_the_line_for_the_other_machine(capsys):
    call_command("worker_token", "lab")
    assert "PODIUM_WORKER_TOKEN=" in capsys.readouterr().out


@pytest.fixture(autouse=True)
def no_leftovers(settings):
    yield
    shutil.rmtree(settings.FILES / "datasets", ignore_errors=True)


# Who may organize.


def test_a_registered_person_is_allowed_to_organize_and_the_right_is_taken_back(capsys):
    factories.user("olga")
    assert run(capsys, "allow_organizer", "olga") == ({"user": "olga", "allowed": True}, 0)
    olga = User.objects.get(username="olga")
    assert olga.has_perm("competitions.add_competition") and olga.has_perm("datasets.add_dataset")
    assert run(capsys, "allow_organizer", "olga", "--take-back")[1] == 0
    assert not User.objects.get(username="olga").user_permissions.exists()


def test_nobody_is_allowed_to_organize_who_has_not_registered(capsys):
    answer, code = run(capsys, "allow_organizer", "nobody")
    assert code == 1
    assert "There is no user nobody" in answer["message"]
