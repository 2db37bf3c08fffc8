"""The second step of a programmed run: the organizer's scoring program, away from all code of participants."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import yaml

from ingestion.archive import Limits, RefusedArchive, open_archive
from ingestion.budget import GIB, Budget, format_duration, format_size
from ingestion.programs import places, staging
from ingestion.programs.output import opened_file, read_small
from ingestion.programs.predicting import Failed, Prediction, filled, write_log
from ingestion.programs.requests import (
    CODALAB,
    EvaluateReason,
    EvaluateRequest,
    EvaluateResult,
    Fault,
    PredictResult,
)
from ingestion.programs.scores import BadScores, scores_in
from ingestion.programs.together import Job, Progress, SharedFull, run_together
from ingestion.runner import copied_folder, make_readable
from ingestion.sandbox.base import FileTimes, OutputWatcher
from ingestion.sandbox.log import BoundedLog
from ingestion.sandbox.scratch import Scratch
from ingestion.sandbox.shared import SharedFolder, shared_folder
from ingestion.verdict import described_end

log = logging.getLogger(__name__)

LOG_NAME = "scoring_log.txt"
DETAILS_NAME = "detailed_results.html"
_LARGEST_DETAILS = 64 * 2**20  # bytes; pages hold their pictures in themselves
_PREDICTIONS = Limits(entries=200_000, expanded_bytes=64 * GIB, ratio=100_000)

OnChange = Callable[[Mapping[str, object], Path | None], None]


class ScoreWatcher(OutputWatcher):
    """Looks from outside at the scores file and the details page, and takes them whenever they have changed."""

    def __init__(self, output: Path, on_change: OnChange | None) -> None:
        self._output = output
        self._on_change = on_change
        self._seen: tuple[object, ...] = ()
        self.scores: Mapping[str, object] = {}
        self.scores_path: Path | None = None
        self.details: Path | None = None
        self.problem = ""

    def look(self, output: int, seconds: float) -> None:
        """Tell of what has changed. What is only half written is read at a later look."""
        if self._on_change is None or not self._has_changed(output):
            return
        with contextlib.suppress(BadScores):
            self._take_scores(output)
        self._take_details(output)
        if not self.scores and self.details is None:
            return
        try:
            self._on_change(self.scores, self.details)
        except Exception:
            # Who listens may fail; the program goes on, and its last word is taken in the end.
            log.exception("scores could not be told while a program runs")

    def last_look(self, output: int, seconds: float, *, ended_early: bool, times: FileTimes | None = None) -> None:
        """Take what is there in the end; `problem` says what is wrong with the scores."""
        try:
            self._take_scores(output)
        except BadScores as error:
            self.problem = str(error)
        self._take_details(output)

    def _has_changed(self, output: int) -> bool:
        names = [name for name in sorted(os.listdir(output)) if name.startswith("scores.") or _is_page(name)]
        seen: list[object] = []
        for name in names:
            with contextlib.suppress(OSError):
                status = os.stat(name, dir_fd=output, follow_symlinks=False)
                seen.append((name, status.st_mtime_ns, status.st_size, status.st_ino))
        has_changed = bool(seen) and tuple(seen) != self._seen
        self._seen = tuple(seen)
        return has_changed

    def _take_scores(self, output: int) -> None:
        name, self.scores = scores_in(output)
        content = read_small(output, name, 2**20)
        if content is not None:
            self.scores_path = self._output / name
            self.scores_path.write_bytes(content)

    def _take_details(self, output: int) -> None:
        """The page `detailed_results.html`, else the first page; programs of CodaLab name it as they like."""
        pages = sorted(filter(_is_page, os.listdir(output)), key=lambda name: (name != DETAILS_NAME, name))
        for name in pages:
            if _copied(output, name, self._output / DETAILS_NAME):
                self.details = self._output / DETAILS_NAME
                return


def _is_page(name: str) -> bool:
    return name.lower().endswith((".html", ".htm"))


def _copied(folder: int, name: str, target: Path) -> bool:
    """Copy a page in one piece; False where it is empty, no regular file or too large."""
    with opened_file(folder, name) as descriptor:
        if descriptor is None or not 0 < os.fstat(descriptor).st_size <= _LARGEST_DETAILS:
            return False
        content = b""
        while len(content) <= _LARGEST_DETAILS and (piece := os.read(descriptor, 2**20)):
            content += piece
    waiting = target.with_name(f".{target.name}")
    waiting.write_bytes(content[:_LARGEST_DETAILS])
    waiting.replace(target)
    return True


class ScoringFailed(Exception):
    """A step that failed, with the reason and the sentence of its result."""

    def __init__(self, reason: EvaluateReason, sentence: str, fault: Fault) -> None:
        super().__init__(sentence)
        self.reason: EvaluateReason = reason
        self.sentence = sentence
        self.fault: Fault = fault


class Evaluation:
    """The steps of one request, with a scratch folder; each sandbox gets one more, until `opened` is closed."""

    def __init__(
        self, request: EvaluateRequest, scratch: Path, opened: ExitStack, on_change: OnChange | None
    ) -> None:
        self.request = request
        self.scratch = scratch
        self.opened = opened
        self.log = BoundedLog(request.budget.log_bytes)
        self.watcher = ScoreWatcher(request.output, on_change)
        self.job: Job | None = None
        self.ingestion: Job | None = None
        self.prediction: Prediction | None = None
        self.name = (
            f'The organizer\'s program "{request.scoring_name}"'
            if request.scoring_name
            else "The organizer's scoring program"
        )

    def run(self, stop: threading.Event, progress: Progress | None) -> None:
        """Run the scorer, and what runs beside it. Raises ScoringFailed, and SandboxError for faults of ours."""
        self.request.output.mkdir(parents=True, exist_ok=True)
        budget = filled(self.request.budget, programs=2 if self.request.beside else 1)
        shared, beside = None, self.request.beside
        if beside is not None:
            if self.request.predictions is not None:
                # What a submission's own command left is what the ingestion program takes up here.
                beside = replace(beside, submission=self.request.predictions)
            size = min(budget.output_bytes, max((budget.memory_bytes or 0) // 4, 1))
            folder = shared_folder(self.scratch / "shared", size=size, files=budget.output_files)
            shared = self.opened.enter_context(folder)
            self.prediction = Prediction(beside, self.scratch / "beside", self.opened)
            self._prepare_beside(self.prediction, filled(beside.budget, programs=2), shared)
        self.job = self._scoring_job(budget, shared)
        jobs = [job for job in (self.job, self.ingestion) if job is not None]
        try:
            run_together(jobs, stop=stop, progress=progress, shared=shared)
        except SharedFull as error:
            sentence = "The programs filled the folder that they share, and were stopped."
            raise ScoringFailed("ingestion_failed", sentence, "ingestion") from error
        self._judge()

    # Preparing ----------------------------------------------------------------------------------------------

    def _prepare_beside(self, prediction: Prediction, budget: Budget, shared: SharedFolder) -> None:
        prediction.scratch.mkdir()
        try:
            prediction.open()
            self.ingestion = prediction.ingestion_job(budget, None, common=shared, beside_scoring=True)
        except RefusedArchive as error:
            raise ScoringFailed(
                "ingestion_failed", f"The submission cannot be unpacked: {error}", "submission"
            ) from (error)
        except Failed as error:
            raise ScoringFailed("ingestion_failed", error.sentence, error.fault) from error

    def _scoring_job(self, budget: Budget, shared: SharedFolder | None) -> Job:
        request = self.request
        run = self.opened.enter_context(Scratch(request.owner))
        stage = staging.Stage(run, request.sandbox, request.layout, "scoring", budget)
        try:
            program = staging.opened_program(request.scoring, self.scratch / "scoring_program")
            stage.add_program(program, places.PROGRAM)
            self._show_input(stage)
            if shared is not None:
                stage.show(shared.path, places.SHARED, is_writable=True)
            spec = stage.spec(
                request.scoring_command or staging.own_command(program),
                log=self.log,
                environment=staging.program_environment(budget),
                watcher=self.watcher,
                image=request.image,
                owner=request.owner,
                cpus=request.cpus,
            )
        except staging.BadProgram as error:
            raise self._scorer_failed(f"{self.name} {error}.") from error
        except places.BadCommand as error:
            raise self._scorer_failed(f"The command of {_inner(self.name)} {error}.") from error
        return Job(spec, request.sandbox)

    def _show_input(self, stage: staging.Stage) -> None:
        """The folder with `ref` and `res`, which is only read."""
        request = self.request
        folder = self.scratch / "input"
        (folder / "res").mkdir(parents=True)
        self._lay_out_predictions(folder / "res")
        if request.layout == CODALAB and request.submitted_by:
            (folder / "metadata").write_text(yaml.safe_dump({"submitted-by": request.submitted_by}))
        reference = None
        if request.reference is not None:
            (folder / "ref").mkdir()
            reference = self._opened(request.reference, folder / "ref", "reference data")
        make_readable(folder)
        stage.show(folder, places.INPUT)
        if reference is not None and reference != folder / "ref":
            stage.show(reference, places.REFERENCE)
        if request.input_data is not None and request.layout != CODALAB:
            data = self._opened(request.input_data, self.scratch / "input_data", "input data")
            stage.show(data, places.INPUT_DATA)

    def _opened(self, source: Path, target: Path, what: str) -> Path:
        try:
            return staging.opened_data(source, target)
        except staging.BadProgram as error:
            raise self._scorer_failed(f"The {what} of {_inner(self.name)} {error}.") from error

    def _lay_out_predictions(self, target: Path) -> None:
        """What is scored: regular files only, copied, so that nothing of it can change any more."""
        source = self.request.predictions
        if source is None and self.prediction is not None:
            source = self.prediction.submission
        if source is not None:
            target.rmdir()
            try:
                if source.is_dir():
                    copied_folder(source, target)
                else:
                    open_archive(source, target, limits=_PREDICTIONS)
            except RefusedArchive as error:
                sentence = f"The predictions cannot be unpacked: {error}"
                raise ScoringFailed("scoring_failed", sentence, "submission") from error
        self._write_metadata(target / "metadata")

    def _write_metadata(self, own: Path) -> None:
        """Durations and exit codes are what the platform measured, whatever the submission has in this place.

        CodaLab had no such file where nothing ran; and beside ingestion there is nothing measured yet.
        """
        has_none = self.request.layout == CODALAB or self.request.predictions is None
        if has_none and not self.request.metadata and not own.exists():
            return
        if own.is_dir():
            shutil.rmtree(own)
        own.unlink(missing_ok=True)
        measured = dict(self.request.metadata) or PredictResult(status="ok", reason=None, sentence="").metadata
        own.write_text(yaml.safe_dump(measured, default_flow_style=False))

    # Judging ------------------------------------------------------------------------------------------------

    def _judge(self) -> None:
        assert self.job is not None and self.job.outcome is not None, "the scorer has run"
        jobs = [job for job in (self.job, self.ingestion) if job is not None]
        if any(job.outcome and job.outcome.stopped == "cancelled" and not job.was_dropped for job in jobs):
            raise ScoringFailed("cancelled", "The scoring was cancelled.", "")
        if self.ingestion is not None and self.ingestion.failed and not self.ingestion.was_dropped:
            assert self.prediction is not None, "the ingestion program has a request"
            try:
                self.prediction.judge(None, self.ingestion, None)
            except Failed as error:
                raise ScoringFailed("ingestion_failed", error.sentence, error.fault) from error
        self._judge_scorer()

    def _judge_scorer(self) -> None:
        assert self.job is not None and self.job.outcome is not None, "the scorer has run"
        outcome, budget = self.job.outcome, self.job.spec.budget
        if outcome.stopped == "time":
            limit = format_duration(budget.wall_seconds)
            raise self._scorer_failed(f"{self.name} did not end within {limit} and was stopped.")
        if outcome.memory_killed and outcome.exit_code != 0:
            limit = format_size(budget.memory_bytes or 0)
            raise self._scorer_failed(f"{self.name} was ended because it reached the memory limit of {limit}.")
        if outcome.exit_code != 0:
            full = " Its output folder was full." if outcome.output_full else ""
            raise self._scorer_failed(f"{described_end(outcome, budget, self.name)}{full}")
        if self.watcher.problem:
            raise self._scorer_failed(f"{self.name} {self.watcher.problem}.")

    def _scorer_failed(self, sentence: str) -> ScoringFailed:
        return ScoringFailed("scoring_failed", sentence, "scoring")

    # Results ------------------------------------------------------------------------------------------------

    def result(self, failure: ScoringFailed | None) -> EvaluateResult:
        """Everything that is known, with the logs written."""
        job, output = self.job, self.request.output
        outcome = job.outcome if job is not None else None
        beside = self._beside_result(failure)
        return EvaluateResult(
            status="failed" if failure else "ok",
            reason=failure.reason if failure else None,
            sentence=failure.sentence if failure else f"{self.name} ended by itself and wrote scores.",
            program_at_fault=failure.fault if failure else "",
            scores=dict(self.watcher.scores),
            scores_path=self.watcher.scores_path,
            details=self.watcher.details,
            wall_seconds=job.usage.wall_seconds if job else 0.0,
            cpu_seconds=job.usage.cpu_seconds if job else 0.0,
            peak_memory_bytes=job.usage.peak_memory_bytes if job else 0,
            log_path=write_log(self.log, output / LOG_NAME) if job else None,
            log_tail=self.log.tail() if job else "",
            ingestion_log_path=beside.ingestion_log_path if beside else None,
            ingestion_lines=beside.ingestion_lines if beside else "",
            beside=beside,
            output_bytes=outcome.output_bytes if outcome else 0,
            exit_code=outcome.exit_code if outcome else None,
            stopped=outcome.stopped if outcome and job and not job.was_dropped else None,
        )

    def _beside_result(self, failure: ScoringFailed | None) -> PredictResult | None:
        if self.prediction is None or self.ingestion is None:
            return None
        failed = None
        if failure is not None and failure.reason == "ingestion_failed":
            failed = Failed("ingestion_failed", failure.sentence, failure.fault)
        result = self.prediction.result(None, self.ingestion, None, failed)
        return result if failed else replace(result, sentence="The ingestion program ran beside the scorer.")


def _inner(name: str) -> str:
    return name[:1].lower() + name[1:]


def run_evaluation(
    request: EvaluateRequest,
    scratch: Path,
    *,
    stop: threading.Event,
    on_change: OnChange | None,
    progress: Progress | None,
) -> EvaluateResult:
    """Score. Raises SandboxError for faults of ours, BadProgram for data of organizers that cannot be opened."""
    with ExitStack() as opened:
        evaluation = Evaluation(request, scratch, opened, on_change)
        failure: ScoringFailed | None = None
        try:
            evaluation.run(stop, progress)
        except ScoringFailed as error:
            failure = error
        return evaluation.result(failure)
