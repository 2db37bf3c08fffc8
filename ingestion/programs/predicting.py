"""The first step of a programmed run: the submission, the ingestion program, or both, leave predictions."""

from __future__ import annotations

import os
import shutil
import threading
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ingestion.archive import RefusedArchive
from ingestion.budget import Budget, Capacity, format_duration, format_size
from ingestion.programs import places, staging
from ingestion.programs.output import Packed, TooMuchOutput, pack
from ingestion.programs.requests import CODALAB, Fault, PredictReason, PredictRequest, PredictResult
from ingestion.programs.together import Job, Progress, SharedFull, run_together
from ingestion.runner import make_readable
from ingestion.sandbox.base import FileTimes, OutputWatcher, SandboxError, SandboxSpec
from ingestion.sandbox.log import BoundedLog, plain_text
from ingestion.sandbox.output import open_folder
from ingestion.sandbox.scratch import Scratch
from ingestion.sandbox.shared import SharedFolder, shared_folder
from ingestion.verdict import described_end, last_lines

LOG_NAME = "log.txt"
INGESTION_LOG_NAME = "ingestion_log.txt"
PREDICTIONS_NAME = "predictions.zip"


class Failed(Exception):
    """A step that failed, with everything that its result says."""

    def __init__(self, reason: PredictReason, sentence: str, fault: Fault = "") -> None:
        super().__init__(sentence)
        self.reason: PredictReason = reason
        self.sentence = sentence
        self.fault: Fault = fault


def filled(budget: Budget, *, programs: int = 1) -> Budget:
    """The budget with empty cores and memory filled in; programs that run at once share the machine."""
    if None not in (budget.cores, budget.memory_bytes):
        return budget
    capacity = Capacity.of_this_machine()
    return budget.filled(capacity.for_a_run(min(programs, capacity.cores)))


class Packer(OutputWatcher):
    """Packs the output folder once, when every process that could write into it is dead."""

    def __init__(self, target: Path, budget: Budget, *, also_failed: bool = False) -> None:
        self._target = target
        self._budget = budget
        self._also_failed = also_failed
        self.packed = Packed()
        self.problem = ""

    def look(self, output: int, seconds: float) -> None:
        """Nothing to see before the end."""

    def last_look(self, output: int, seconds: float, *, ended_early: bool, times: FileTimes | None = None) -> None:
        """Pack, unless the program failed and nobody wants what it left."""
        if self._also_failed or not ended_early:
            self.take(output)

    def take(self, folder: int) -> None:
        """Pack what a folder holds; `problem` says what was too much."""
        try:
            self.packed = pack(
                folder,
                self._target,
                most_files=self._budget.output_files,
                most_bytes=self._budget.output_bytes,
            )
        except TooMuchOutput as error:
            self.problem = str(error)
            self._target.unlink(missing_ok=True)


@dataclass
class _Plan:
    """Which programs run: the submission's own, the organizers', both, or none."""

    own_command: str
    ingests: bool

    @property
    def programs(self) -> int:
        return bool(self.own_command) + self.ingests


class Prediction:
    """The steps of one request, with a scratch folder; each sandbox gets one more, until `opened` is closed."""

    def __init__(self, request: PredictRequest, scratch: Path, opened: ExitStack) -> None:
        self.request = request
        self.scratch = scratch
        self.opened = opened
        self.log = BoundedLog(request.budget.log_bytes)
        self.ingestion_log = BoundedLog(request.budget.log_bytes)
        self.name = (
            f'The organizer\'s program "{request.ingestion_name}"'
            if request.ingestion_name
            else ("The organizer's ingestion program")
        )
        self._data: Path | None = None

    # Opening ------------------------------------------------------------------------------------------------

    def open(self) -> _Plan:
        """Open the submission and find out what runs. Raises RefusedArchive."""
        request = self.request
        request.output.mkdir(parents=True, exist_ok=True)
        self.submission = staging.opened_submission(request.submission, self.scratch / "submission")
        ingests = request.ingestion is not None and staging.is_code(self.submission, request.layout)
        return _Plan(staging.own_command(self.submission), ingests)

    def run_folder(self) -> Path:
        """A scratch folder for one sandbox."""
        return self.opened.enter_context(Scratch(self.request.owner))

    def _input_data(self) -> Path | None:
        if self.request.input_data is not None and self._data is None:
            try:
                self._data = staging.opened_data(self.request.input_data, self.scratch / "input_data")
            except staging.BadProgram as error:
                raise SandboxError(f"the input data {error}") from error
        return self._data

    # Jobs ---------------------------------------------------------------------------------------------------

    def own_job(self, budget: Budget, command: str, packer: Packer | None, shared: SharedFolder | None) -> Job:
        """The submission's own program. Raises Failed where its command is no command."""
        request = self.request
        stage = staging.Stage(self.run_folder(), request.sandbox, request.layout, "submission", budget)
        stage.add_program(self.submission, places.PROGRAM)
        if (data := self._input_data()) is not None:
            stage.show(data, places.INPUT)
            if request.layout != CODALAB:
                stage.show(data, places.INPUT_DATA)
        if shared is not None:
            stage.share_output(shared.path)
        try:
            spec = stage.spec(command, watcher=packer, **self._common(self.log, budget))
        except places.BadCommand as error:
            raise Failed("refused", f"The command in the submission's metadata {error}.", "submission") from error
        if request.hidden is not None:
            spec = _without_links(spec)
        return Job(spec, request.sandbox)

    def ingestion_job(
        self,
        budget: Budget,
        packer: Packer | None,
        *,
        shared_output: SharedFolder | None = None,
        common: SharedFolder | None = None,
        beside_scoring: bool = False,
    ) -> Job:
        """The organizers' ingestion program. Raises Failed where it cannot be started."""
        request = self.request
        assert request.ingestion is not None, "the plan has an ingestion program"
        stage = staging.Stage(
            self.run_folder(), request.sandbox, request.layout, "ingestion", budget, beside_scoring=beside_scoring
        )
        try:
            program = staging.opened_program(request.ingestion, self.scratch / "ingestion_program")
            command = request.ingestion_command or staging.own_command(program)
            # No code of participants lies beside labels, unless the contest's owner wanted them to meet.
            if request.hidden is None or places.names_submission(command):
                stage.add_submission(self.submission)
            self._show_to_ingestion(stage, program, copies_results=shared_output is None and not beside_scoring)
            if shared_output is not None:
                stage.share_output(shared_output.path)
            if common is not None:
                stage.show(common.path, places.SHARED, is_writable=True)
            spec = stage.spec(command, watcher=packer, **self._common(self.ingestion_log, budget))
            if common is not None:
                spec = _without_links(spec)
        except staging.BadProgram as error:
            raise Failed("ingestion_failed", f"{self.name} {error}.", "ingestion") from error
        except places.BadCommand as error:
            raise Failed(
                "ingestion_failed", f"The command of {_inner(self.name)} {error}.", "ingestion"
            ) from error
        return Job(spec, request.sandbox)

    def _show_to_ingestion(self, stage: staging.Stage, program: Path, *, copies_results: bool) -> None:
        request = self.request
        stage.add_program(program, places.program_place(request.layout, "ingestion"))
        if stage.beside_scoring:
            self._show_input_beside(stage)
        elif (data := self._input_data()) is not None:
            stage.show(data, places.INPUT if request.layout == CODALAB else places.INPUT_DATA)
        if request.hidden is not None:
            hidden = staging.opened_data(request.hidden, self.scratch / "hidden")
            stage.show(hidden, places.hidden_place(request.layout))
        if copies_results and request.layout != CODALAB and not staging.has_metadata(self.submission):
            # Codabench puts what has no metadata into the output before the ingestion program starts.
            stage.copy(self.submission, places.OUTPUT)

    def _show_input_beside(self, stage: staging.Stage) -> None:
        """The input of an ingestion program beside the scorer: the submission is also its input/res."""
        data = self._input_data()
        if self.request.layout == CODALAB:
            # One folder holds both, as it did.
            folder = self.scratch / "input"
            if data is None:
                folder.mkdir()
            else:
                shutil.copytree(data, folder)
            (folder / "res").mkdir(exist_ok=True)
            make_readable(folder)
            stage.show(folder, places.INPUT)
        elif data is not None:
            stage.show(data, places.INPUT_DATA)
        stage.show(self.submission, places.PREDICTIONS)

    def _common(self, log: BoundedLog, budget: Budget) -> dict[str, Any]:
        request = self.request
        return {
            "log": log,
            "environment": staging.program_environment(budget, seed=request.seed),
            "image": request.image,
            "owner": request.owner,
            "cpus": request.cpus,
        }

    # Results ------------------------------------------------------------------------------------------------

    def judge(self, own: Job | None, ingestion: Job | None, packer: Packer | None) -> None:
        """Raise Failed unless every program ended well and left something."""
        jobs = [job for job in (own, ingestion) if job is not None]
        if any(job.outcome and job.outcome.stopped == "cancelled" and not job.was_dropped for job in jobs):
            raise Failed("cancelled", "The run was cancelled.")
        for job in sorted(jobs, key=lambda job: job.was_dropped):
            _judge_end(
                job, "The program" if job is own else self.name, "submission" if job is own else "ingestion"
            )
        if packer is not None:
            _judge_output(packer, self.name if own is None else "The program")

    def result(
        self, own: Job | None, ingestion: Job | None, packer: Packer | None, failure: Failed | None
    ) -> PredictResult:
        """Everything that is known, with the logs written."""
        request = self.request
        jobs = [job for job in (own, ingestion) if job is not None]
        ran = own or ingestion
        packed = packer.packed if packer is not None else Packed()
        is_ok = failure is None
        is_usable = failure is None or failure.reason == "ingestion_failed"
        return PredictResult(
            status="ok" if is_ok else "failed",
            reason=failure.reason if failure else None,
            sentence=failure.sentence if failure else _said(packed, has_program=bool(jobs)),
            program_at_fault=failure.fault if failure else "",
            wall_seconds=ran.usage.wall_seconds if ran else 0.0,
            cpu_seconds=sum(job.usage.cpu_seconds for job in jobs),
            peak_memory_bytes=max((job.usage.peak_memory_bytes for job in jobs), default=0),
            log_path=write_log(self.log, request.output / LOG_NAME) if own else None,
            log_tail=self.log.tail() if own else "",
            error_lines=last_lines(self.log.tail()) if own and not is_ok else "",
            ingestion_log_path=write_log(self.ingestion_log, request.output / INGESTION_LOG_NAME)
            if ingestion
            else None,
            ingestion_lines=last_lines(self.ingestion_log.tail()) if ingestion else "",
            predictions=request.output / PREDICTIONS_NAME if is_usable and packed.files else None,
            output_bytes=packed.bytes,
            exit_code=own.outcome.exit_code if own and own.outcome else None,
            ingestion_exit_code=ingestion.outcome.exit_code if ingestion and ingestion.outcome else None,
            ingestion_wall_seconds=ingestion.usage.wall_seconds if ingestion else 0.0,
            stopped=next((job.outcome.stopped for job in jobs if job.outcome and not job.was_dropped), None),
            notes=tuple(packed.notes),
        )


def run_prediction(
    request: PredictRequest, scratch: Path, *, stop: threading.Event, progress: Progress | None
) -> PredictResult:
    """Run what there is to run. Raises SandboxError for faults of ours, RefusedArchive for the submission's."""
    with ExitStack() as opened:
        prediction = Prediction(request, scratch, opened)
        plan = prediction.open()
        budget = filled(request.budget, programs=max(1, plan.programs))
        # What a failed ingestion program left is scored all the same where a phase says so.
        packer = Packer(request.output / PREDICTIONS_NAME, budget, also_failed=plan.ingests)
        own = ingestion = None
        failure: Failed | None = None
        try:
            if plan.programs == 2:
                size = _output_size(budget)
                folder = shared_folder(scratch / "output", size=size, files=budget.output_files)
                shared = opened.enter_context(folder)
                own = prediction.own_job(budget, plan.own_command, None, shared)
                ingestion = prediction.ingestion_job(budget, None, shared_output=shared)
                run_together([own, ingestion], stop=stop, progress=progress, shared=shared)
                packer.take(shared.descriptor)
            elif plan.ingests:
                ingestion = prediction.ingestion_job(budget, packer)
                run_together([ingestion], stop=stop, progress=progress)
            elif plan.own_command:
                own = prediction.own_job(budget, plan.own_command, packer, None)
                run_together([own], stop=stop, progress=progress)
            else:
                _take_results(prediction.submission, packer)
            prediction.judge(own, ingestion, packer)
        except SharedFull:
            failure = Failed("output_too_large", _full_output(budget), "submission")
        except Failed as error:
            failure = error
        return prediction.result(own, ingestion, packer, failure)


def refused(error: RefusedArchive) -> PredictResult:
    """The result for a submission that cannot be opened."""
    sentence = f"{error} {error.mend}".strip()
    return PredictResult(status="failed", reason="refused", sentence=sentence, program_at_fault="submission")


def write_log(log: BoundedLog, path: Path) -> Path:
    """Write what a program printed as plain text; returns the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(plain_text(log.raw()), encoding="utf-8")
    return path


def _output_size(budget: Budget) -> int:
    """As `SandboxSpec.output_bytes`: it lies in memory, so that it is never more than half of that."""
    return min(budget.output_bytes, max((budget.memory_bytes or 0) // 2, 1))


def _without_links(spec: SandboxSpec) -> SandboxSpec:
    """The spec of code that shares a folder with a program that sees labels.

    A symbolic link that it made there would lead that program to the labels, in place of an answer.
    """
    return replace(spec, layout=replace(spec.shown, makes_links=False))


def _take_results(folder: Path, packer: Packer) -> None:
    descriptor = open_folder(folder)
    try:
        packer.take(descriptor)
    finally:
        os.close(descriptor)


def _judge_end(job: Job, name: str, fault: Fault) -> None:
    """Raise Failed where a program did not end well."""
    outcome, budget = job.outcome, job.spec.budget
    assert outcome is not None, "the job has run"
    if job.was_dropped and outcome.stopped == "cancelled":
        return
    if outcome.stopped == "time":
        limit = format_duration(budget.wall_seconds)
        raise Failed("timed_out", f"{name} was stopped at its time limit of {limit}.", fault)
    if outcome.exit_code == 0:
        return
    if outcome.memory_killed:
        limit = format_size(budget.memory_bytes or 0)
        raise Failed("out_of_memory", f"{name} was ended because it reached the memory limit of {limit}.", fault)
    if outcome.output_full:
        raise Failed("output_too_large", _full_output(budget), fault)
    reason: PredictReason = "ingestion_failed" if fault == "ingestion" else "crashed"
    raise Failed(reason, described_end(outcome, budget, name), fault)


def _full_output(budget: Budget) -> str:
    limit = f"{format_size(_output_size(budget))} in {budget.output_files} files"
    return f"The output folder was full: a run may write {limit}."


def _judge_output(packer: Packer, name: str) -> None:
    if packer.problem:
        raise Failed("output_too_large", packer.problem)
    if not packer.packed.files:
        why = f" {packer.packed.notes[0]}" if packer.packed.notes else ""
        raise Failed("no_predictions", f"{name} ended by itself, but left no files in its output folder.{why}")


def _said(packed: Packed, *, has_program: bool) -> str:
    files = "1 file" if packed.files == 1 else f"{packed.files} files"
    if not has_program:
        return f"The archive's own {files} were taken as predictions."
    return f"The program ended by itself and left {files} of {format_size(packed.bytes)}."


def _inner(name: str) -> str:
    return name[:1].lower() + name[1:]
