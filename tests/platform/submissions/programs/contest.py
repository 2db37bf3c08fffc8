"""A small contest with programs of its own, and what its programs are said to have done."""

import hashlib
import io
import zipfile
from pathlib import Path

from django.core.files.base import ContentFile

from competitions.models import Column, ColumnBoard, Competition, Phase, Program, Task
from datasets.models import Dataset, DatasetVersion
from ingestion.programs.requests import EvaluateRequest, EvaluateResult, PredictRequest, PredictResult
from tests.platform import factories as make

SCORER = "import json, sys\n"


def packed(**files: str) -> bytes:
    """A zip of these files, a double underscore in a name standing for a dot."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return buffer.getvalue()


def program(contest: Competition, kind: str = "scoring", *, source: str = SCORER, **fields) -> Program:
    """A program of the organizers: one file of Python, which the metadata's command runs."""
    content = packed(metadata=f"command: python3 {kind}.py", **{f"{kind}__py": source})
    fields = {"command": f"python3 {kind}.py $input $output", "name": f"the {kind}", **fields}
    digest = hashlib.sha256(content).hexdigest()
    made = Program(competition=contest, kind=kind, sha256=digest, size=len(content), **fields)
    made.file.save(f"{kind}.zip", ContentFile(content), save=False)
    made.save()
    return made


def files_version(dataset: Dataset, **fields) -> DatasetVersion:
    """Input data and reference data that only programs read."""
    public, hidden = packed(input__txt="rows"), packed(answers__txt="the hidden answers")
    made = DatasetVersion(
        dataset=dataset,
        layout=DatasetVersion.Layout.FILES,
        name=dataset.slug,
        public_sha256=hashlib.sha256(public).hexdigest(),
        reference_sha256=hashlib.sha256(hidden).hexdigest(),
        **fields,
    )
    made.public_zip.save("input.zip", ContentFile(public), save=False)
    made.reference.save("reference.zip", ContentFile(hidden), save=False)
    made.save()
    return made


def phase(contest: Competition | None = None, *, tasks: int = 1, ingestion: bool = False, **fields) -> Phase:
    """An open phase of tasks that one program scores, perhaps with an ingestion program before it."""
    contest = contest or make.competition()
    made = make.phase(contest, tasks=0, **{"kind": Phase.Kind.OPEN, "title": "Development", **fields})
    scorer = contest.programs.filter(kind="scoring").first() or program(contest)
    before = program(contest, "ingestion") if ingestion else None
    for order in range(tasks):
        slug = f"files{contest.pk}-{made.number}-{order}"
        dataset = Dataset.objects.create(owner=contest.created_by, slug=slug, title=slug)
        files_version(dataset)
        Task.objects.create(
            phase=made, dataset=dataset, order=order, scoring_program=scorer, ingestion_program=before
        )
    return made


def board(contest: Competition, *keys: str, **fields) -> ColumnBoard:
    """A board with a column for each key."""
    made = ColumnBoard.objects.create(competition=contest, key="board", title="Board", primary=keys[0], **fields)
    for order, key in enumerate(keys):
        Column.objects.create(board=made, key=key, title=key.capitalize(), order=order)
    return made


def archive(folder: Path, *, command: str = "") -> Path:
    """A submission: with a command code, else any file."""
    files = {"metadata": f"command: {command}"} if command else {"answer.txt": "42"}
    return make.zip_of(folder, files)


class FakePrograms:
    """Stands for `ingestion.programs`: keeps what it was asked, and answers as it was told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[EvaluateRequest | PredictRequest] = []
        self.scores: dict[str, object] = {"accuracy": 0.75}
        self.fields: dict = {}
        self.live: list[dict[str, object]] = []
        self.details = ""
        self.predicted = PredictResult(status="ok", reason=None, sentence="")
        self.seen_live: list = []

    def evaluate(self, request, *, stop, on_change, progress):
        self.asked.append(request)
        self.reference = request.reference.read_bytes() if request.reference else None
        self.predictions = request.predictions.read_bytes() if request.predictions else None
        for scores in self.live:
            on_change(scores, None)
            self.seen_live.append(scores)
        answer = {"status": "ok", "reason": None, "sentence": "", "scores": self.scores, **self.fields}
        answer["log_path"] = request.output / "scoring_log.txt"
        answer["log_path"].write_text("said by the scorer")
        if self.details:
            answer["details"] = request.output / "detailed_results.html"
            answer["details"].write_text(self.details)
        return EvaluateResult(**answer)

    def predict(self, request, *, stop, progress):
        self.asked.append(request)
        return self.predicted
