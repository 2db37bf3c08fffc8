"""Taking a worker's report: what it may say, and what becomes of the run."""

import logging
from typing import Literal

from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone
from pydantic import BaseModel, Field

from submissions import doorbell
from submissions.models import Attempt, Prediction, Run, RunState
from submissions.models.runs import AT_WORKER
from submissions.reconciler import lose_attempt, queue_again
from submissions.transitions import end_attempt, end_run, move, settle

log = logging.getLogger(__name__)

LOG_NAME = "log.txt"
BYTES_A_NUMBER = 32  # room for one number and its blank in a prediction file (formats, section 3)

FailureReason = Literal[
    "timed_out",
    "out_of_memory",
    "crashed",
    "no_predictions",
    "bad_predictions",
    "output_too_large",
    "ingestion_failed",
    "infrastructure",
    "refused",
]


class ReportedFile(BaseModel):
    """One uploaded file."""

    name: str = Field(max_length=200)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    size: int = Field(ge=0)


class ReportedPrediction(ReportedFile):
    """One prediction file, with the part it predicts and the number of an any-time run."""

    part: Literal["valid", "test"]
    number: int | None = Field(None, ge=0)
    seconds: float | None = Field(None, ge=0)


class Report(BaseModel):
    """How an attempt ended. `released`: the worker stops and gives the run back."""

    status: Literal["ok", "failed", "cancelled", "released"]
    reason: FailureReason | None = None
    sentence: str = Field("", max_length=4000)
    wall_seconds: float = Field(0.0, ge=0)
    cpu_seconds: float = Field(0.0, ge=0)
    peak_memory_bytes: int = Field(0, ge=0)
    log_tail: str = Field("", max_length=20_000)
    predictions: list[ReportedPrediction] = Field(default_factory=list, max_length=50)
    log: ReportedFile | None = None

    def files(self) -> list[ReportedFile]:
        """Every file that the report names."""
        return [*self.predictions, *([self.log] if self.log else [])]


def upload_limit(run: Run, name: str) -> int:
    """How many bytes a worker may send for one file of the run."""
    if name == LOG_NAME:
        return run.budget.log_bytes * 2
    version = run.dataset_version
    rows = max((version.rows(part) for part in version.parts()), default=0)
    return rows * max(1, version.target_num) * BYTES_A_NUMBER + 4096


def take(run: Run, attempt: int, report: Report, kept: dict[str, str]) -> bool:
    """Make the report true, in one transaction; returns whether the attempt was still the run's.

    `kept` maps the names of reported files to their write-once places in the default storage.
    """
    with transaction.atomic():
        keeps = False
        fenced = Run.objects.select_for_update().select_related("submission").get(pk=run.pk)
        if fenced.attempt_number != attempt or fenced.state not in AT_WORKER:
            return False
        if report.status == "released":
            end_attempt(fenced, Attempt.Outcome.RELEASED)
            if fenced.cancel_asked:
                _cancel(fenced, report)
            else:
                queue_again(fenced, sentence="Waits for a worker again: the last one was stopped.")
        elif report.status == "failed" and report.reason == "infrastructure":
            lose_attempt(fenced, note=report.sentence or "Its worker failed.")
        elif report.status == "cancelled" or fenced.cancel_asked:
            end_attempt(fenced, Attempt.Outcome.CANCELLED)
            _cancel(fenced, report)
        else:
            keeps = True
            end_attempt(fenced, Attempt.Outcome.REPORTED)
            _keep_files(fenced, attempt, report, kept)
            _conclude(fenced, report)
        settle(fenced.submission)
        transaction.on_commit(doorbell.ring_dispatcher)
    if not keeps:
        drop(kept)
    run.refresh_from_db()
    return True


def drop(kept: dict[str, str]) -> None:
    """Remove copies that nothing refers to."""
    for name in kept.values():
        default_storage.delete(name)


def _usage(report: Report) -> dict[str, object]:
    return {
        "wall_seconds": report.wall_seconds,
        "cpu_seconds": report.cpu_seconds,
        "peak_memory_bytes": report.peak_memory_bytes,
        "log_tail": report.log_tail,
    }


def _cancel(run: Run, report: Report) -> None:
    end_run(
        run,
        RunState.CANCELLED,
        reason="cancelled",
        sentence="Cancelled while it ran.",
        **_usage(report),
    )


def _keep_files(run: Run, attempt: int, report: Report, kept: dict[str, str]) -> None:
    if report.log is not None:
        run.log.name = kept[report.log.name]
        run.save(update_fields=["log"])
    for reported in report.predictions:
        Prediction.objects.create(
            run=run,
            attempt_number=attempt,
            part=reported.part,
            number=reported.number,
            name=reported.name,
            seconds=reported.seconds,
            file=kept[reported.name],
            sha256=reported.sha256,
            size=reported.size,
        )


def _conclude(run: Run, report: Report) -> None:
    if report.status == "failed":
        reason = report.reason or "crashed"
        end_run(run, RunState.FAILED, reason=reason, sentence=report.sentence, **_usage(report))
        return
    move(
        run,
        AT_WORKER,
        RunState.COLLECTED,
        reason=report.reason or "",
        sentence=report.sentence if report.reason else "Waits for its score.",
        deadline=None,
        rung_at=timezone.now(),
        **_usage(report),
    )
    transaction.on_commit(lambda: doorbell.ring_scorer(run.pk))
