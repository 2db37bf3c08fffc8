"""One run: prepare the inputs, start the sandbox, collect, judge.

Runs everywhere the same: in a compute worker, on the command line, in a participant's kit. Whatever goes wrong
on our side becomes the reason `infrastructure`, never an exception and never the participant's fault.
"""

from __future__ import annotations

import dataclasses
import errno
import functools
import logging
import shlex
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ingestion.archive import Contents, Recognised, RefusedArchive, open_archive, recognise
from ingestion.budget import Budget, Capacity, format_size
from ingestion.collect import CollectedPrediction, Collector, Expected
from ingestion.dataset import prepare_input
from ingestion.program.data import CACHE_FOLDER, Dataset
from ingestion.program.errors import DataError
from ingestion.recognition import parse_prediction_name
from ingestion.sandbox.base import Folders, Outcome, Places, Sandbox, SandboxError, SandboxSpec, Usage
from ingestion.sandbox.log import BoundedLog, plain_text
from ingestion.sandbox.scratch import Scratch
from ingestion.verdict import RunResult, judge

__all__ = ["CollectedPrediction", "Progress", "RunRequest", "RunResult", "run"]

log = logging.getLogger(__name__)

LOG_NAME = "log.txt"
PROGRESS_INTERVAL = 0.5
PREDICTED_PARTS = ("valid", "test")
PACKAGE = Path(__file__).resolve().parent


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """One submission on one dataset.

    dataset: a folder in AutoML format; hidden labels in it never enter the sandbox. submission: a zip, or a
    folder. output: where predictions and log.txt go. alias: the dataset's name inside the sandbox, where its own
    is hidden. metric: the task's, where it is not the info file's. image: for a sandbox that has images. owner:
    whose run this is, so that a later worker can clean up after this one. cpus: the processors that the caller
    holds for it, as `0,3`; without, the sandbox looks for free ones. told_seconds: the time that the program is
    told, where that is not its budget's.
    """

    dataset: Path
    submission: Path
    output: Path
    budget: Budget
    sandbox: Sandbox
    any_time: bool = True
    seed: int = 0
    alias: str | None = None
    metric: str | None = None
    load_models: bool = False
    image: str | None = None
    owner: str = "podium"
    cpus: str | None = None
    told_seconds: float | None = None


@dataclass(frozen=True)
class Progress:
    """How a run is doing now. Seconds and bytes."""

    wall_seconds: float
    cpu_seconds: float
    memory_bytes: int
    log_tail: str
    predictions_seen: int


class _AtFault(Exception):
    """The submission cannot be run; the text is a sentence for its author."""


def run(
    request: RunRequest,
    *,
    stop: threading.Event | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> RunResult:
    """Run a submission on a dataset and return what became of it. Never raises for what a stranger wrote."""
    try:
        with Scratch(request.owner) as scratch:
            return _Run(request, scratch, stop or threading.Event(), progress).result()
    except (RefusedArchive, _AtFault) as error:
        return RunResult("failed", "refused", as_sentence(error))
    except DataError as error:
        return RunResult("failed", "infrastructure", as_sentence(f"the dataset cannot be read: {error}"))
    except SandboxError as error:
        log.error("a sandbox failed: %s", error)
        return RunResult("failed", "infrastructure", as_sentence(error))
    except Exception as error:
        log.exception("a run failed on our side")
        return RunResult("failed", "infrastructure", our_fault(error))


def our_fault(error: Exception) -> str:
    """A sentence for what broke on our side; no path and no trace of ours."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "The disk of the machine that handled the run is full."
    return f"The platform failed while it handled the run ({type(error).__name__})."


def as_sentence(error: object) -> str:
    """What an exception says, as a sentence, with the mend that it may carry."""
    text = str(error).strip()
    mend = getattr(error, "mend", "")
    text = text[:1].upper() + text[1:].rstrip(".") + "."
    return f"{text} {mend}".strip()


class _Run:
    """The steps of one run, with its scratch folder."""

    def __init__(
        self,
        request: RunRequest,
        scratch: Path,
        stop: threading.Event,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.request = request
        self.scratch = scratch
        self.stop = stop
        self.progress = progress
        self.budget = request.budget
        if None in (self.budget.cores, self.budget.memory_bytes):
            self.budget = self.budget.filled(Capacity.of_this_machine().for_a_run())
        self.told_seconds = request.told_seconds or self.budget.wall_seconds
        self.log = BoundedLog(self.budget.log_bytes)
        self.notes: list[str] = []

    def result(self) -> RunResult:
        self.request.output.mkdir(parents=True, exist_ok=True)
        contents = self._open_submission()
        folders = Folders(
            input_data=self._lay_out_input(),
            submission=contents.root,
            program=self._lay_out_program(),
            scratch=self.scratch,
        )
        expected = expected_predictions(folders.input_data)
        remove_old_predictions(self.request.output, expected)
        recognised = recognise(contents, [expected.name])
        self.notes += [*contents.notes, *recognised.notes]
        if recognised.kind == "results":
            return self._take_results(contents, recognised, expected)
        return self._run_code(folders, recognised, expected)

    # Preparing ----------------------------------------------------------------------------------------------

    def _open_submission(self) -> Contents:
        source, target = self.request.submission, self.scratch / "submission"
        if source.is_dir():
            contents = copied_folder(source, target)
        elif source.is_file():
            contents = open_archive(source, target)
        else:
            raise _AtFault(f"there is no submission at {source}")
        make_readable(target)
        return contents

    def _lay_out_input(self) -> Path:
        folder = self.scratch / "input_data"
        prepare_input(
            self.request.dataset,
            folder,
            alias=self.request.alias,
            metric=self.request.metric,
            time_budget=self.told_seconds,
            link=self.request.sandbox.protects_input,
        )
        for path in (folder, folder / CACHE_FOLDER):
            path.chmod(0o755)
        return folder

    def _lay_out_program(self) -> Path:
        """The package `ingestion.program` and nothing else of ours."""
        folder = self.scratch / "program"
        for name, content in program_files().items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o444)
        for path in (folder, folder / "ingestion", folder / "ingestion" / "program"):
            path.chmod(0o755)
        return folder

    # Running ------------------------------------------------------------------------------------------------

    def _run_code(self, folders: Folders, recognised: Recognised, expected: Expected) -> RunResult:
        places = self.request.sandbox.places(folders)
        keep = self.scratch / "collected"
        keep.mkdir()
        collector = Collector(expected, keep, self.budget.wall_seconds, any_time=self.request.any_time)
        spec = SandboxSpec(
            command=command_of(recognised, places, load_models=self.request.load_models),
            folders=folders,
            budget=self.budget,
            environment=self._environment(places),
            log=self.log,
            owner=self.request.owner,
            watcher=collector,
            image=self.request.image,
            cpus=self.request.cpus,
        )
        outcome = self.request.sandbox.run(
            spec, stop=self.stop, on_usage=_Reporter(self.progress, self.log, collector)
        )
        log_path = self.request.output / LOG_NAME
        log_path.write_text(plain_text(self.log.raw()), encoding="utf-8")
        if self.log.dropped:
            # Said here too: in the log itself, a program could print the same mark.
            self.notes.append(f"{format_size(self.log.dropped)} of the log's middle were left out.")
        tail = self.log.tail()
        verdict = judge(
            outcome,
            collector,
            self.budget,
            log_tail=tail,
            output_bytes=spec.output_bytes,
            any_time=self.request.any_time,
        )
        predictions = collector.predictions() if verdict.status == "ok" else ()
        return RunResult(
            status=verdict.status,
            reason=verdict.reason,
            sentence=verdict.sentence,
            wall_seconds=outcome.usage.wall_seconds,
            cpu_seconds=outcome.usage.cpu_seconds,
            peak_memory_bytes=_peak(outcome, spec),
            log_tail=tail,
            predictions=tuple(_hand_over(file, self.request.output) for file in predictions),
            log_path=log_path,
            notes=(*self.notes, *collector.notes),
            stopped=verdict.stopped,
            error_lines=verdict.error_lines,
            output_bytes=outcome.output_bytes,
        )

    def _environment(self, places: Places) -> dict[str, str]:
        threads = str(self.budget.cores)
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        return {
            "HOME": places.temporary,
            "LANG": "C.UTF-8",
            "PODIUM_TIME_BUDGET": repr(self.told_seconds).removesuffix(".0"),
            "PODIUM_SEED": str(self.request.seed),
            **dict.fromkeys(names, threads),
        }

    def _take_results(self, contents: Contents, recognised: Recognised, expected: Expected) -> RunResult:
        """Results without code are taken as they are, by the same rules as the output of a program."""
        found = recognised.predictions.get(expected.name, {})
        missing = [part for part in expected.rows if part not in found]
        if missing:
            raise _AtFault(f"the archive holds no predictions for the {' and '.join(missing)} part")
        keep = self.scratch / "collected"
        keep.mkdir()
        collector = Collector(expected, keep, self.budget.wall_seconds)
        predictions = collector.take_named(contents.root, found)
        if collector.refused:
            return RunResult("failed", "bad_predictions", as_sentence("; ".join(collector.refused)))
        handed = tuple(_hand_over(file, self.request.output) for file in predictions)
        return RunResult(
            "ok", None, "The archive's own predictions were taken.", predictions=handed, notes=tuple(self.notes)
        )


class _Reporter:
    """Turns usage into progress, not more often than somebody can read."""

    def __init__(
        self, progress: Callable[[Progress], None] | None, printed: BoundedLog, collector: Collector
    ) -> None:
        self._progress = progress
        self._log = printed
        self._collector = collector
        self._next = 0.0

    def __call__(self, usage: Usage) -> None:
        if self._progress is None or usage.wall_seconds < self._next:
            return
        self._next = usage.wall_seconds + PROGRESS_INTERVAL
        self._progress(
            Progress(
                wall_seconds=usage.wall_seconds,
                cpu_seconds=usage.cpu_seconds,
                memory_bytes=usage.memory_bytes,
                log_tail=self._log.tail(),
                predictions_seen=self._collector.seen,
            )
        )


@functools.cache
def program_files() -> Mapping[str, bytes]:
    """The files of the package that goes into the sandbox, by their places there; read once for all runs."""
    paths = [PACKAGE / "__init__.py", *(PACKAGE / "program").glob("*.py")]
    return {path.relative_to(PACKAGE.parent).as_posix(): path.read_bytes() for path in sorted(paths)}


def expected_predictions(input_data: Path) -> Expected:
    """What must be predicted for a dataset as it is laid out for a run. Raises DataError."""
    dataset = Dataset(input_data)
    rows = {part: int(dataset.info.get(f"{part}_num") or 0) for part in PREDICTED_PARTS if dataset.has(part)}
    if not rows:
        raise DataError(dataset.name, "has neither a valid nor a test part to predict")
    return Expected(dataset.name, rows, dataset.targets_per_row)


def remove_old_predictions(output: Path, expected: Expected) -> None:
    """Remove what an earlier run left for this dataset: a higher number of it would count in this one."""
    for path in output.iterdir():
        parsed = parse_prediction_name(path.name)
        if parsed is not None and parsed.name == expected.name and path.is_file():
            path.unlink()


def command_of(recognised: Recognised, places: Places, *, load_models: bool) -> tuple[str, ...]:
    """The command line inside the sandbox. Raises _AtFault where the metadata's command cannot be split."""
    if recognised.interface == "model":
        supervisor = f"{places.program}/ingestion/program/__main__.py"
        folders = ("--input", places.input_data, "--output", places.output, "--submission", places.submission)
        return (places.python, supervisor, *folders, *(["--load-models"] if load_models else []))
    if recognised.command is None:
        raise _AtFault("this submission holds nothing that can be run")
    return split_command(recognised.command, places)


def split_command(command: str, places: Places) -> tuple[str, ...]:
    """A metadata command split like a shell would, its variables replaced, longest name first; no shell runs."""
    values = {
        "$submission_program": places.submission,
        "$ingestion_program": places.program,
        "$program": places.submission,
        "$output": places.output,
        "$input": places.input_data,
        "$tmp": places.temporary,
    }
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise _AtFault(f"the metadata's command cannot be split into words: {error}") from error
    if not words:
        raise _AtFault("the metadata's command is empty")
    for name in sorted(values, key=len, reverse=True):
        words = [word.replace(name, values[name]) for word in words]
    return tuple(words)


def copied_folder(source: Path, target: Path) -> Contents:
    """A submission that is a folder: its regular files copied, links and other things left out with a note."""
    from ingestion.archive import JUNK

    target.mkdir()
    files: list[str] = []
    notes: list[str] = []
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source)
        if any(part in JUNK for part in name.parts) or path.is_dir():
            continue
        if path.is_symlink() or not path.is_file():
            notes.append(f"{name} is not a regular file and was left out.")
            continue
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target / name)
        files.append(name.as_posix())
    return Contents(root=target, files=tuple(files), notes=tuple(notes))


def make_readable(folder: Path) -> None:
    """Let the sandbox's user read a tree, whatever the umask of this process is."""
    folder.chmod(0o755)
    for path in folder.rglob("*"):
        mode = path.stat().st_mode
        path.chmod(0o755 if path.is_dir() or mode & 0o100 else 0o444)


def _peak(outcome: Outcome, spec: SandboxSpec) -> int:
    """The highest memory that was seen; where the limit bit between two readings, the limit was reached."""
    seen = outcome.usage.peak_memory_bytes
    return max(seen, spec.memory_bytes) if outcome.memory_killed else seen


def _hand_over(file: CollectedPrediction, output: Path) -> CollectedPrediction:
    """Move a collected file into the output folder under its own name."""
    target = output / file.name
    shutil.move(file.path, target)
    target.chmod(0o644)
    return dataclasses.replace(file, path=target)
