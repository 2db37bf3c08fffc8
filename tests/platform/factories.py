"""Short factories. Alice competes, Bob is another participant, Charlie a stranger; Olga organizes."""

import datetime as dt
import io
import itertools
import zipfile
from pathlib import Path

from django.core.files.base import ContentFile
from django.utils import timezone

from accounts.models import User
from competitions.models import Competition, Entrant, Organizer, Participant, Phase, Round, Task
from datasets.models import Dataset, DatasetVersion
from submissions.models import Run, RunState, Score, Submission, Worker

_count = itertools.count(1)
PASSWORD = "correct horse battery"


def user(username: str = "", **fields) -> User:
    name = username or f"user{next(_count)}"
    found = User.objects.filter(username=name).first()
    return found or User.objects.create_user(name, f"{name}@example.org", PASSWORD, **fields)


def competition(slug: str = "", organizer: User | None = None, **fields) -> Competition:
    organizer = organizer or user("olga")
    fields = {"title": "Round 0", "state": Competition.State.PUBLISHED, **fields}
    made = Competition.objects.create(slug=slug or f"contest-{next(_count)}", created_by=organizer, **fields)
    Organizer.objects.create(competition=made, user=organizer, role=Organizer.Role.OWNER)
    return made


def participant(contest: Competition, person: User, state: str = Participant.State.APPROVED) -> Participant:
    return Participant.objects.create(competition=contest, user=person, state=state)


def entrant(contest: Competition, person: User, **fields) -> Entrant:
    made, _ = Entrant.objects.get_or_create(
        competition=contest, user=person, defaults={"name": person.username, **fields}
    )
    return made


def phase(contest: Competition, *, tasks: int = 2, **fields) -> Phase:
    """An open Tweakathon with `tasks` binary AUC datasets of 4 valid and 6 test rows."""
    now = timezone.now()
    group, _ = Round.objects.get_or_create(competition=contest, number=0, defaults={"name": "Preparation"})
    fields = {
        "number": contest.phases().count() + 1,
        "title": "Tweakathon[0]",
        "opens_at": now - dt.timedelta(days=1),
        "closes_at": now + dt.timedelta(days=30),
        **fields,
    }
    made = Phase.objects.create(round=group, **fields)
    for order in range(tasks):
        Task.objects.create(phase=made, dataset=dataset(contest.created_by), order=order)
    return made


def dataset(owner: User, name: str = "", **fields) -> Dataset:
    name = name or f"set{next(_count)}"
    made = Dataset.objects.create(owner=owner, slug=name, title=name.capitalize())
    version(made, name, **fields)
    return made


VALID = [0, 1, 0, 1]
TEST = [0, 1, 0, 1, 1, 0]


def version(of: Dataset, name: str, **fields) -> DatasetVersion:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"{name}/{name}_public.info", f"name = {name}\n")
    fields = {
        "name": name,
        "task_kind": "binary.classification",
        "metric": "AUC",
        "time_budget": 10,
        "feat_num": 3,
        "target_num": 1,
        "label_num": 2,
        "train_num": 8,
        "valid_num": len(VALID),
        "test_num": len(TEST),
        "has_valid_solution": True,
        "has_test_solution": True,
        "facts": {"class_balance": 1.0, "sparsity": 0.0, "missing_fraction": 0.0, "categorical_count": 0},
        "public_sha256": "0" * 64,
        "public_bytes": len(buffer.getvalue()),
        **fields,
    }
    made = DatasetVersion(dataset=of, number=of.versions.count() + 1, **fields)
    made.public_zip.save(f"{name}.zip", ContentFile(buffer.getvalue()), save=False)
    made.valid_solution.save(f"{name}_valid.solution", ContentFile(column(VALID)), save=False)
    made.test_solution.save(f"{name}_test.solution", ContentFile(column(TEST)), save=False)
    made.save()
    return made


def column(values) -> bytes:
    return "".join(f"{value}\n" for value in values).encode()


def zip_of(folder: Path, files: dict[str, bytes | str], name: str = "submission.zip") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        for inner, content in files.items():
            archive.writestr(inner, content)
    return path


def zip_bytes(files: dict[str, bytes | str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for inner, content in files.items():
            archive.writestr(inner, content)
    return buffer.getvalue()


def code_zip(folder: Path, source: str = "class Model:\n    pass\n") -> Path:
    return zip_of(folder, {"model.py": source})


def results_zip(folder: Path, of: Phase, values=None) -> Path:
    """Prediction files for every task of a phase; `values(part, rows)` gives one column."""
    values = values or (lambda part, rows: [0.5] * rows)
    files: dict[str, bytes | str] = {}
    for task in of.tasks.all():
        for part, rows in (("valid", len(VALID)), ("test", len(TEST))):
            files[f"{task.name}_{part}.predict"] = column(values(part, rows))
    return zip_of(folder, files)


def submission(of: Phase, person: User, *, state: str = Submission.State.ACTIVE, **fields) -> Submission:
    """A code submission with a queued run for each task, made without the door."""
    who = entrant(of.competition, person)
    fields = {
        "number": who.submissions.count() + 1,
        "received_at": timezone.now(),
        "filename": "submission.zip",
        "sha256": "0" * 64,
        "size": 100,
        "kind": Submission.Kind.CODE,
        "interface": "model",
        **fields,
    }
    made = Submission(entrant=who, phase=of, user=person, state=state, **fields)
    made.archive.save("submission.zip", ContentFile(b"PK"), save=False)
    made.save()
    for order, task in enumerate(of.tasks.all()):
        run(made, task, order=order)
    return made


def run(of: Submission, task: Task, **fields) -> Run:
    dataset_version = task.dataset.current
    fields = {
        "source": Run.Source.CODE,
        "dataset_version": dataset_version,
        "dataset_name": task.name,
        "metric": task.metric or dataset_version.metric,
        "budget_json": task.budget().to_json(),
        "sentence": "Waits for a worker.",
        **fields,
    }
    return Run.objects.create(submission=of, task=task, **fields)


def score(of: Run, value: float, part: str = "valid", **fields) -> Score:
    """Give a run a score and finish it, as the scoring task would; the caller refreshes the board."""
    Run.objects.filter(pk=of.pk).update(state=RunState.FINISHED, ended_at=timezone.now())
    fields = {"metric": of.metric, "raw": (value + 1) / 2, "stderr": 0.0123, **fields}
    return Score.objects.create(run=of, part=part, value=value, **fields)


def worker(name: str = "", **fields) -> tuple[Worker, str]:
    """A living worker that announced 2 cores and 8 GiB, with its token."""
    fields = {
        "is_trusted": True,
        "seen_at": timezone.now(),
        "sandbox": "docker",
        "cores": 2,
        "memory_bytes": 8 * 2**30,
        **fields,
    }
    return Worker.with_new_token(name or f"worker{next(_count)}", **fields)
