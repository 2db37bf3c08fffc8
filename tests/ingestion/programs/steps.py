"""Small programs of organizers and participants, and calls that run them in one sandbox."""

import os
import textwrap
import zipfile
from pathlib import Path

from ingestion.budget import MIB, Budget
from ingestion.programs import (
    EvaluateRequest,
    EvaluateResult,
    PredictRequest,
    PredictResult,
    evaluate,
    predict,
)
from ingestion.sandbox import Sandbox

OWNER = f"tests.{os.getpid()}"
INGEST = "python3 $ingestion_program/ingest.py $input $output $submission_program"
SCORE = "python3 $program/score.py $input $output"


class Steps:
    """Runs both steps in one sandbox; sources are text, zips are made of them."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self.sandbox = sandbox
        self.folder = folder
        self._made = 0

    def zip(self, **files: str) -> Path:
        """A zip of files: `score__py` is score.py."""
        return self.packed({name.replace("__", "."): text for name, text in files.items()})

    def packed(self, files: dict[str, str]) -> Path:
        """A zip of files by their paths."""
        self._made += 1
        path = self.folder / f"{self._made}.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, textwrap.dedent(text))
        return path

    def ingestion(self, source: str, command: str = INGEST) -> Path:
        """An ingestion program."""
        return self.packed({"metadata.yaml": f"command: {command}\n", "ingest.py": source})

    def scorer(self, source: str, command: str = SCORE, **files: str) -> Path:
        """A scoring program, with other files beside its script."""
        others = {name.replace("__", "."): text for name, text in files.items()}
        return self.packed({"metadata": f"command: {command}\n", "score.py": source, **others})

    def budget(self, **limits: int) -> Budget:
        """Little of everything, so that limits are met soon."""
        own = {"memory_bytes": 256 * MIB, "output_bytes": 8 * MIB, "output_files": 100, "processes": 64, **limits}
        return Budget(**{"wall_seconds": 30.0, "cores": 1, "temporary_bytes": 32 * MIB, **own})

    def predict_request(self, submission: Path, **fields: object) -> PredictRequest:
        """A request with the defaults of these tests."""
        self._made += 1
        own = {"budget": self.budget(), "output": self.folder / f"out-{self._made}", "owner": OWNER, **fields}
        return PredictRequest(submission=submission, sandbox=self.sandbox, **own)

    def predict(self, submission: Path, **fields: object) -> PredictResult:
        """The first step."""
        return predict(self.predict_request(submission, **fields))

    def evaluate(self, scoring: Path, *, stop=None, on_change=None, **fields: object) -> EvaluateResult:
        """The second step."""
        self._made += 1
        own = {"budget": self.budget(), "output": self.folder / f"out-{self._made}", "owner": OWNER, **fields}
        request = EvaluateRequest(scoring=scoring, scoring_command="", sandbox=self.sandbox, **own)
        return evaluate(request, stop=stop, on_change=on_change)


def files_of(archive: Path | None) -> dict[str, str]:
    """The texts in a zip, by name."""
    assert archive is not None
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name).decode() for name in opened.namelist()}
