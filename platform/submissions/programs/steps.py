"""What a programmed run needs on the site's machine, laid out in a private folder, and the steps done with it."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from competitions.models import Program
from ingestion import programs
from ingestion.programs.requests import EvaluateRequest, EvaluateResult, PredictRequest, PredictResult
from submissions.models import Run, RunFile
from submissions.programs import kinds, site_sandbox
from submissions.programs.stored import fetched

OnChange = Callable[[Mapping[str, object], Path | None], None]


@dataclass
class Steps:
    """The steps of one run that happen here. `folder` is empty, private, and removed by the caller."""

    run: Run
    folder: Path
    stop: threading.Event

    def predict(self) -> PredictResult:
        """Let the submission meet an ingestion program that reads labels, each in a sandbox of its own."""
        return programs.predict(self._meeting(), stop=self.stop, progress=lambda progress: None)

    def evaluate(self, predicted: PredictResult | None, on_change: OnChange) -> EvaluateResult:
        """Let the scoring program judge what is there, or what was just predicted here."""
        run, program = self.run, self.run.task.scoring_program
        assert program is not None, "only programmed runs come here"
        said = run.program_report.get("metadata") or {}
        request = EvaluateRequest(
            scoring=self._program(program),
            scoring_command=program.command,
            scoring_name=program.name,
            output=self._made("scored"),
            budget=site_sandbox.filled(run.budget),
            sandbox=site_sandbox.site_sandbox(),
            reference=self._reference(),
            input_data=self._input_data(),
            predictions=predicted.predictions if predicted else self._predictions(),
            beside=self._beside(),
            image=program.image or run.submission.phase.image or None,
            owner=site_sandbox.owner(),
            layout=program.layout,
            metadata=predicted.metadata if predicted else said,
            submitted_by=run.submission.entrant.name,
        )
        return programs.evaluate(request, stop=self.stop, on_change=on_change, progress=lambda progress: None)

    def _beside(self) -> PredictRequest | None:
        """The ingestion program that runs beside the scoring program, with the submission."""
        task, phase = self.run.task, self.run.submission.phase
        program = kinds.ingestion_of(task, phase)
        if program is None or not task.overlaps:
            return None
        return self._meeting()

    def _meeting(self) -> PredictRequest:
        run, phase = self.run, self.run.submission.phase
        program = kinds.ingestion_of(run.task, phase)
        return PredictRequest(
            submission=self._archive(),
            output=self._made("predicted"),
            budget=site_sandbox.filled(run.budget),
            sandbox=site_sandbox.site_sandbox(),
            ingestion=self._program(program) if program else None,
            ingestion_command=program.command if program else "",
            ingestion_name=program.name if program else "",
            input_data=self._input_data(),
            hidden=self._reference() if kinds.may_read_labels(run.task, phase) else None,
            image=run.image or None,
            owner=site_sandbox.owner(),
            layout=kinds.layout_of(run.task),
            seed=run.seed,
        )

    def _predictions(self) -> Path | None:
        """What a worker collected; of results alone the archive itself; nothing where all happens beside."""
        found = self.run.files.filter(kind=RunFile.Kind.PREDICTIONS).first()
        if found is not None:
            return self._fetched("predictions.zip", found.file, found.sha256)
        return self._archive() if self.run.source == Run.Source.RESULTS else None

    def _archive(self) -> Path:
        submission = self.run.submission
        path = self._fetched("archive.zip", submission.archive, submission.sha256)
        assert path is not None, "a submission has an archive"
        return path

    def _program(self, program: Program) -> Path:
        path = self._fetched(f"{program.kind}.zip", program.file, program.sha256)
        assert path is not None, "a program has its files"
        return path

    def _input_data(self) -> Path | None:
        version = self.run.dataset_version
        return self._fetched("input.zip", version.public_zip, version.public_sha256)

    def _reference(self) -> Path | None:
        version = self.run.dataset_version
        return self._fetched("reference.zip", version.reference, version.reference_sha256)

    def _fetched(self, name: str, field: Any, sha256: str) -> Path | None:
        """A private copy of a stored file, made once; None where nothing is stored."""
        target = self.folder / name
        if not field or target.exists():
            return target if field else None
        return fetched(field, target, sha256=sha256)

    def _made(self, name: str) -> Path:
        target = self.folder / name
        target.mkdir(exist_ok=True)
        return target
