"""Taking a worker's report: what it may say, and what becomes of the run."""

import logging
from typing import Annotated, Any, Literal

from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone
from pydantic import BaseModel, BeforeValidator, Field

from ingestion.recognition import parse_prediction_name
from submissions import doorbell
from submissions.dispatch import AGAIN, FAILED_WORKER
from submissions.models import Attempt, Prediction, Reason, Run, RunFile, RunState
from submissions.models.runs import AT_WORKER
from submissions.reconciler import lose_attempt, queue_again
from submissions.transitions import end_attempt, end_run, move, settle

log = logging.getLogger(__name__)

LOG_NAME = "log.txt"
INGESTION_LOG_NAME = "ingestion_log.txt"
OUTPUT_NAME = "predictions.zip"
OF_PROGRAMS = (LOG_NAME, INGESTION_LOG_NAME, OUTPUT_NAME)
ZIP_BYTES_A_FILE = 1024  # what a zip adds to each of its files at most
MOST_NOTES = 20
BYTES_A_NUMBER = 32  # room for one number and its blank in a prediction file (formats, section 3)
MOST_PREDICTIONS = 50
MOST_RELEASES = 10  # a run that workers give back more often than this counts as lost each time


def storable(text: Any) -> Any:
    """The text without what databases and JSON refuse: NUL characters and halves of surrogate pairs."""
    if not isinstance(text, str):
        return text
    return text.replace("\0", "\N{SYMBOL FOR NULL}").encode("utf-8", "replace").decode()


# What a worker says is a stranger's input: numbers that a database column holds, and text that it stores.
Text = Annotated[str, BeforeValidator(storable)]
Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Bytes = Annotated[int, Field(ge=0, le=2**60)]

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

    name: Text = Field(max_length=200)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    size: Bytes


class ReportedPrediction(ReportedFile):
    """One prediction file, with the part it predicts and the number of an any-time run."""

    part: Literal["valid", "test"]
    number: int | None = Field(None, ge=0, lt=10**18)
    seconds: Seconds | None = None


class Exits(BaseModel):
    """How the programs of a programmed run ended, as a scoring program reads it: codes, and seconds."""

    exitCode: int | None = Field(None, ge=-(2**31), lt=2**31)  # the names that scorers know
    elapsedTime: Seconds = 0.0
    ingestionExitCode: int | None = Field(None, ge=-(2**31), lt=2**31)
    ingestionElapsedTime: Seconds | None = None


class Report(BaseModel):
    """How an attempt ended. `released`: the worker stops and gives the run back."""

    status: Literal["ok", "failed", "cancelled", "released"]
    reason: FailureReason | None = None
    sentence: Text = Field("", max_length=4000)
    wall_seconds: Seconds = 0.0
    cpu_seconds: Seconds = 0.0
    peak_memory_bytes: Bytes = 0
    output_bytes: Bytes = 0
    prediction_bytes: Bytes = 0
    error_lines: Text = Field("", max_length=4000)
    log_tail: Text = Field("", max_length=20_000)
    predictions: list[ReportedPrediction] = Field(default_factory=list, max_length=MOST_PREDICTIONS)
    log: ReportedFile | None = None
    output: ReportedFile | None = None
    ingestion_log: ReportedFile | None = None
    ingestion_lines: Text = Field("", max_length=4000)
    exits: Exits | None = None
    notes: list[Annotated[Text, Field(max_length=500)]] = Field(default_factory=list, max_length=MOST_NOTES)

    def files(self) -> list[ReportedFile]:
        """Every file that the report names."""
        others = (self.log, self.output, self.ingestion_log)
        return [*self.predictions, *(file for file in others if file is not None)]


class BadReport(Exception):
    """A report that contradicts itself or its run; the text says how."""


def is_file_of(run: Run, name: str) -> bool:
    """Whether a run may leave a file of this name: its log, or a prediction for a part of its dataset.

    A programmed run leaves all its predictions in one zip.
    """
    if run.task.scoring_program_id is not None:
        return name in OF_PROGRAMS
    if name == LOG_NAME:
        return True
    parsed = parse_prediction_name(name)
    return parsed is not None and parsed.name == run.dataset_name and parsed.part in run.dataset_version.parts()


def check(run: Run, report: Report) -> None:
    """Raise BadReport where the files are not those of this run, or where two claim the same place."""
    if report.log is not None and report.log.name != LOG_NAME:
        raise BadReport(f"The log is called {LOG_NAME}.")
    _check_programmed(run, report)
    places = set()
    for file in report.predictions:
        parsed = parse_prediction_name(file.name)
        if parsed is None or not is_file_of(run, file.name):
            raise BadReport(f"{file.name!r} is not a prediction file of this run.")
        if (parsed.part, parsed.number) != (file.part, file.number):
            raise BadReport(f"{file.name!r} is reported for another part or number than its name says.")
        if (file.part, file.number) in places:
            raise BadReport(f"Two files are reported for the place of {file.name!r}.")
        places.add((file.part, file.number))


def _check_programmed(run: Run, report: Report) -> None:
    wanted = ((report.output, OUTPUT_NAME), (report.ingestion_log, INGESTION_LOG_NAME))
    for file, name in wanted:
        if file is not None and (file.name != name or run.task.scoring_program_id is None):
            raise BadReport(f"{file.name!r} is not a file that this run leaves.")
    if run.task.scoring_program_id is not None and report.status == "ok" and report.output is None:
        raise BadReport(f"It ended well, but its {OUTPUT_NAME} is missing.")


def upload_limit(run: Run, name: str) -> int:
    """How many bytes a worker may send for one file of the run."""
    if name in (LOG_NAME, INGESTION_LOG_NAME):
        return run.budget.log_bytes * 2
    if name == OUTPUT_NAME:
        return run.budget.output_bytes + run.budget.output_files * ZIP_BYTES_A_FILE
    version = run.dataset_version
    rows = max((version.rows(part) for part in version.parts()), default=0)
    return rows * max(1, version.target_num) * BYTES_A_NUMBER + 4096


def take(run: Run, attempt: int, report: Report, kept: dict[str, str]) -> bool:
    """Make the report true, in one transaction; returns whether the attempt was still the run's.

    `kept` maps the names of reported files to their write-once places in the default storage.
    """
    with transaction.atomic():
        keeps = False
        fenced = (
            Run.objects.select_for_update(of=("self",), no_key=True)
            .select_related("submission__phase", "task")
            .get(pk=run.pk)
        )
        if fenced.attempt_number != attempt or fenced.state not in AT_WORKER:
            return False
        if report.status == "released":
            _release(fenced, report)
        elif report.status == "failed" and report.reason == "infrastructure":
            # What the worker says of itself is for organizers; the participant reads a sentence of ours.
            lose_attempt(fenced, why=FAILED_WORKER, note=report.sentence)
        elif report.status == "cancelled" and not fenced.cancel_asked:
            lose_attempt(fenced, why=FAILED_WORKER, note="It cancelled a run that nobody had cancelled.")
        elif report.status == "cancelled" or fenced.cancel_asked:
            end_attempt(fenced, Attempt.Outcome.CANCELLED)
            _cancel(fenced, report)
        else:
            keeps = True
            end_attempt(fenced, Attempt.Outcome.REPORTED)
            _keep_files(fenced, attempt, report, kept)
            _conclude(fenced, report)
        settle(fenced.submission)
        transaction.on_commit(doorbell.ring_dispatcher, robust=True)
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
        "output_bytes": report.output_bytes,
        "prediction_bytes": report.prediction_bytes,
        "error_lines": report.error_lines,
        "log_tail": report.log_tail,
    }


def releases(run: Run) -> int:
    """How often workers that were stopped gave the run back since it was last queued by somebody's will."""
    return run.attempts.filter(outcome=Attempt.Outcome.RELEASED, number__gt=run.attempts_before).count()


def _release(run: Run, report: Report) -> None:
    if run.cancel_asked:
        end_attempt(run, Attempt.Outcome.RELEASED)
        _cancel(run, report)
    elif releases(run) >= MOST_RELEASES:
        lose_attempt(run, why="Its worker was stopped.")
    else:
        end_attempt(run, Attempt.Outcome.RELEASED)
        queue_again(run, sentence=f"{AGAIN}: the last one was stopped.")


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

    for file, kind in (
        (report.output, RunFile.Kind.PREDICTIONS),
        (report.ingestion_log, RunFile.Kind.INGESTION_LOG),
    ):
        if file is not None:
            fields = {"name": file.name, "file": kept[file.name], "sha256": file.sha256, "size": file.size}
            RunFile.objects.update_or_create(run=run, kind=kind, defaults=fields)


def _program_report(run: Run, report: Report) -> dict[str, object]:
    """What is kept of the programs' ends; nothing for runs of other kinds."""
    if run.task.scoring_program_id is None:
        return {}
    said = {
        "metadata": report.exits.model_dump(exclude_unset=True) if report.exits else {},
        "notes": report.notes,
        "ingestion_lines": report.ingestion_lines,
    }
    return {"program_report": {key: value for key, value in said.items() if value}}


def _is_scored_all_the_same(run: Run, report: Report) -> bool:
    """Whether a run whose ingestion program failed still goes to the scoring program."""
    wanted = run.task.scoring_program_id is not None and run.submission.phase.scores_failed_ingestion
    return wanted and report.reason == "ingestion_failed" and report.output is not None


def _conclude(run: Run, report: Report) -> None:
    told = _usage(report) | _program_report(run, report)
    if report.status == "failed" and not _is_scored_all_the_same(run, report):
        reason = report.reason or "crashed"
        sentence = report.sentence or f"{Reason(reason).label.capitalize()}."
        end_run(run, RunState.FAILED, reason=reason, sentence=sentence, **told)
        return
    note = report.reason if report.status == "ok" else None  # of a run that was stopped, and counts
    move(
        run,
        AT_WORKER,
        RunState.COLLECTED,
        reason=note or "",
        sentence=(note and report.sentence) or "Waits for its score.",
        deadline=None,
        rung_at=timezone.now(),
        **told,
    )
    transaction.on_commit(lambda: doorbell.ring_scorer(run.pk), robust=True)
