"""The readiness check: one submission, briefly, on a small made dataset of every trait.

Each dataset goes the whole way of a real one: text, cache, runner, sandbox, collecting. No score is computed: what
counts is that the program ran and left finite predictions of the right shape for every part.
"""

from __future__ import annotations

import dataclasses
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingestion.archive import RefusedArchive, open_archive, recognise
from ingestion.budget import Budget
from ingestion.collect import CollectedPrediction
from ingestion.predictions import UnreadablePrediction, read_prediction
from ingestion.program.data import Dataset
from ingestion.runner import LOG_NAME, PREDICTED_PARTS, Progress, RunRequest, copied_folder, run
from ingestion.sandbox.base import Sandbox
from ingestion.traits import TRAITS, Trait, write_trait
from ingestion.verdict import RunResult

DATASETS = "datasets"
DEFAULT_SECONDS = 20.0
# Starting a sandbox, making the dataset and collecting, for each of them on a busy machine.
SECONDS_AROUND_A_RUN = 2.0
OUTPUT_BYTES = 64 * 1024**2
COLUMNS = ("ran", "valid", "test", "shape", "finite")


@dataclass(frozen=True)
class PartOutcome:
    """What was left for one part: predictions at all, of the right shape, without NaN and infinity."""

    predicted: bool
    shape: bool
    finite: bool

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.predicted and self.shape and self.finite


def ticks(ran: bool, parts: Mapping[str, PartOutcome]) -> dict[str, bool | None]:
    """The outcomes of a trait by COLUMNS; None where there was nothing to look at."""
    predicted = [outcome for outcome in parts.values() if outcome.predicted]
    return {
        "ran": ran,
        **{part: parts[part].predicted if part in parts else None for part in PREDICTED_PARTS},
        "shape": all(outcome.shape for outcome in predicted) if predicted else None,
        "finite": all(outcome.finite for outcome in predicted) if predicted else None,
    }


@dataclass(frozen=True)
class Row:
    """One trait's outcome. `ran`: the program started and did not fail; parts by name; seconds of wall clock."""

    trait: str
    title: str
    task: str
    ok: bool
    ran: bool
    reason: str | None
    sentence: str
    wall_seconds: float
    parts: dict[str, PartOutcome]
    log_tail: str = ""
    log_path: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """The fields that commands print and the site keeps."""
        return {
            "trait": self.trait,
            "task": self.task,
            "ok": self.ok,
            "ran": self.ran,
            "reason": self.reason,
            "sentence": self.sentence,
            "wall_seconds": round(self.wall_seconds, 3),
            "parts": {part: dataclasses.asdict(outcome) for part, outcome in self.parts.items()},
        }


@dataclass(frozen=True, kw_only=True)
class ReadinessRequest:
    """A submission (zip or folder) to be tried. `output` gets datasets, predictions and logs by trait."""

    submission: Path
    output: Path
    budget: Budget
    sandbox: Sandbox
    image: str | None = None
    seed: int = 0
    owner: str = "podium"
    cpus: str | None = None
    traits: Sequence[Trait] = TRAITS


def trial_budget(
    wall_seconds: float = DEFAULT_SECONDS, *, cores: int | None = None, memory_bytes: int | None = None
) -> Budget:
    """The budget of each dataset's run."""
    return Budget(wall_seconds=wall_seconds, cores=cores, memory_bytes=memory_bytes, output_bytes=OUTPUT_BYTES)


def most_seconds(wall_seconds: float, traits: int = len(TRAITS)) -> float:
    """The seconds that a whole check takes at most, as far as the machine keeps up."""
    return traits * (wall_seconds + SECONDS_AROUND_A_RUN)


def why_not_checked(submission: Path) -> str | None:
    """Why a submission cannot be tried at all, in one sentence; None where it can.

    Asked once before the first run, so that an archive which is refused is not refused fifteen times.
    """
    with tempfile.TemporaryDirectory(prefix="podium-door-") as scratch:
        target = Path(scratch) / "submission"
        try:
            if submission.is_dir():
                contents = copied_folder(submission, target)
            elif submission.is_file():
                contents = open_archive(submission, target)
            else:
                return f"There is no submission at {submission}."
            recognised = recognise(contents, [])
        except RefusedArchive as refused:
            return f"Nothing can be tried: {refused} {refused.mend}".strip()
    if recognised.interface is None:
        return "This submission holds no code, so there is nothing to try."
    return None


def check_traits(
    request: ReadinessRequest,
    *,
    stop: threading.Event | None = None,
    on_start: Callable[[Trait], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
    on_row: Callable[[Row], None] | None = None,
) -> list[Row]:
    """Run the submission on every trait, one after the other, and return a row for each.

    A failure on one trait keeps none of the others away, unless it is ours: a machine that failed once is not
    asked fourteen times more. When `stop` is set, what runs is stopped and has no row.
    """
    stop = stop or threading.Event()
    rows: list[Row] = []
    for trait in request.traits:
        if stop.is_set():
            break
        if on_start is not None:
            on_start(trait)
        row = check_trait(request, trait, stop=stop, progress=progress)
        if row is None:
            break
        rows.append(row)
        if on_row is not None:
            on_row(row)
        if row.reason == "infrastructure":
            break
    return rows


def check_trait(
    request: ReadinessRequest,
    trait: Trait,
    *,
    stop: threading.Event,
    progress: Callable[[Progress], None] | None = None,
) -> Row | None:
    """One trait's row, or None where the run was stopped from outside."""
    dataset = request.output / DATASETS / trait.dataset_name
    write_trait(trait, dataset, seed=request.seed, time_budget=request.budget.wall_seconds)
    output = request.output / trait.name
    (output / LOG_NAME).unlink(missing_ok=True)  # of an earlier check
    result = run(
        RunRequest(
            dataset=dataset,
            submission=request.submission,
            output=output,
            budget=request.budget,
            sandbox=request.sandbox,
            seed=request.seed,
            image=request.image,
            owner=request.owner,
            cpus=request.cpus,
        ),
        stop=stop,
        progress=progress,
    )
    return None if result.reason == "cancelled" else judged(trait, result, Dataset(dataset))


def judged(trait: Trait, result: RunResult, dataset: Dataset) -> Row:
    """The row of a run that ended: what its last predictions are, part by part."""
    last = {one.part: one for one in result.predictions}  # they come in order, so the highest number stays
    shapes = {
        part: (int(dataset.info[f"{part}_num"]), dataset.targets_per_row)
        for part in PREDICTED_PARTS
        if dataset.has(part)
    }
    outcomes: dict[str, PartOutcome] = {}
    problems: list[str] = []
    for part, shape in shapes.items():
        outcomes[part] = _part(last.get(part), shape, problems)
    ok = result.status == "ok" and all(outcome.ok for outcome in outcomes.values())
    is_bad = result.status == "ok" and not ok
    return Row(
        trait=trait.name,
        title=trait.title,
        task=trait.task,
        ok=ok,
        ran=result.status == "ok",
        reason="bad_predictions" if is_bad else result.reason,
        sentence=" ".join(problems) if is_bad else result.sentence,
        wall_seconds=result.wall_seconds or 0.0,
        parts=outcomes,
        log_tail=result.log_tail,
        log_path=result.log_path,
    )


def _part(found: CollectedPrediction | None, shape: tuple[int, int], problems: list[str]) -> PartOutcome:
    if found is None:
        return PartOutcome(False, False, False)
    try:
        table = read_prediction(found.path)
    except UnreadablePrediction as problem:
        problems.append(str(problem))
        return PartOutcome(True, False, False)
    has_shape = table.shape == shape
    if not has_shape:
        problems.append(
            f"{found.name} has {table.shape[0]} rows of {table.shape[1]} columns; "
            f"{shape[0]} of {shape[1]} are expected."
        )
    unfit = int((abs(table) == float("inf")).sum() + (table != table).sum())  # NaN differs from itself
    if unfit:
        problems.append(f"{found.name} holds {unfit} numbers that are NaN or infinite, of {table.size}.")
    return PartOutcome(True, has_shape, not unfit)
