"""What is asked of the two steps of a programmed run, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ingestion.budget import Budget
from ingestion.sandbox.base import Sandbox, Stopped

CODALAB, CODABENCH = 1, 2  # the layouts of directories

PredictReason = Literal[
    "refused",
    "crashed",
    "timed_out",
    "out_of_memory",
    "output_too_large",
    "no_predictions",
    "ingestion_failed",
    "cancelled",
    "infrastructure",
]
EvaluateReason = Literal["scoring_failed", "ingestion_failed", "cancelled", "infrastructure"]
Fault = Literal["", "submission", "ingestion", "scoring"]


@dataclass(frozen=True, kw_only=True)
class PredictRequest:
    """A submission, and perhaps an ingestion program, on one task: what leaves files in an output folder.

    submission: a zip or a folder; with a metadata command it runs by itself, else the ingestion program takes it
    up, and without one its files are the predictions. ingestion_command: as the program's metadata has it, one
    line for each command. ingestion_name: for sentences. input_data: a zip or a folder; None where the task has
    none. output: a folder for the predictions and the logs. layout: 1 for the places of CodaLab, 2 for those of
    Codabench. hidden: reference data for $hidden of an ingestion program, only ever given where the submission
    runs in a sandbox of its own, or where the owner of the contest allows it.
    """

    submission: Path
    output: Path
    budget: Budget
    sandbox: Sandbox
    ingestion: Path | None = None
    ingestion_command: str = ""
    ingestion_name: str = ""
    input_data: Path | None = None
    hidden: Path | None = None
    image: str | None = None
    owner: str = "podium"
    cpus: str | None = None
    layout: int = CODABENCH
    seed: int = 0


@dataclass(frozen=True)
class ProgramProgress:
    """How the programs are doing now. Seconds and bytes; the tails are those of the logs."""

    wall_seconds: float
    cpu_seconds: float
    memory_bytes: int
    log_tail: str
    ingestion_log_tail: str = ""


@dataclass(frozen=True, kw_only=True)
class PredictResult:
    """What became of it. Seconds and bytes; usage is 0 where nothing ran.

    log_path, log_tail, error_lines: of the submission's own program. ingestion_log_path, ingestion_lines: of the
    organizers' program, which are theirs to read. predictions: a zip of the regular files in the output folder, of
    an ingestion program also where it failed.
    exit_code, ingestion_exit_code: None where no such program ran or where the platform ended it.
    program_at_fault: whose program failed.
    """

    status: Literal["ok", "failed"]
    reason: PredictReason | None
    sentence: str
    program_at_fault: Fault = ""
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory_bytes: int = 0
    log_path: Path | None = None
    log_tail: str = ""
    error_lines: str = ""
    ingestion_log_path: Path | None = None
    ingestion_lines: str = ""
    predictions: Path | None = None
    output_bytes: int = 0
    exit_code: int | None = None
    ingestion_exit_code: int | None = None
    ingestion_wall_seconds: float = 0.0
    stopped: Stopped | None = None
    notes: tuple[str, ...] = ()

    @property
    def metadata(self) -> dict[str, object]:
        """What a scoring program reads as input/res/metadata: exit codes, and seconds."""
        return {
            "exitCode": self.exit_code,
            "elapsedTime": round(self.wall_seconds, 6),
            "ingestionExitCode": self.ingestion_exit_code,
            "ingestionElapsedTime": round(self.ingestion_wall_seconds, 6),
        }


@dataclass(frozen=True, kw_only=True)
class EvaluateRequest:
    """An organizer's scoring program on the predictions of one run.

    scoring_command: as the program's metadata has it, one line for each command. scoring_name: for sentences.
    output: a folder for the scores file, the details page and the logs. reference, input_data, predictions: a zip
    or a folder each. beside: an ingestion program (with the submission) that runs at the same time in a sandbox of
    its own and shares one bounded folder with the scorer; its `output` may be the same folder. metadata: what is
    written as input/res/metadata, over what the predictions have under that name. submitted_by: a name for
    CodaLab's `submitted-by`.
    """

    scoring: Path
    scoring_command: str
    output: Path
    budget: Budget
    sandbox: Sandbox
    scoring_name: str = ""
    reference: Path | None = None
    input_data: Path | None = None
    predictions: Path | None = None
    beside: PredictRequest | None = None
    image: str | None = None
    owner: str = "podium"
    cpus: str | None = None
    layout: int = CODABENCH
    metadata: Mapping[str, object] = field(default_factory=dict)
    submitted_by: str = ""


@dataclass(frozen=True, kw_only=True)
class EvaluateResult:
    """What became of it. Seconds and bytes.

    scores: the values as the scorer wrote them, each under its key: numbers where they are numbers, else whatever
    was there, for the caller to judge. details: the page with details, where the scorer wrote one. sentence: says
    "the organizer's program" where that is at fault. beside: what became of the ingestion program beside it.
    """

    status: Literal["ok", "failed"]
    reason: EvaluateReason | None
    sentence: str
    program_at_fault: Fault = ""
    scores: Mapping[str, object] = field(default_factory=dict)
    scores_path: Path | None = None
    details: Path | None = None
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory_bytes: int = 0
    log_path: Path | None = None
    log_tail: str = ""
    ingestion_log_path: Path | None = None
    ingestion_lines: str = ""
    beside: PredictResult | None = None
    output_bytes: int = 0
    exit_code: int | None = None
    stopped: Stopped | None = None
    notes: tuple[str, ...] = ()
