"""Taking what a worker reports of a readiness check: its rows, one by one, and how its attempt ended."""

from typing import Literal

from django.core.files.base import ContentFile
from django.db import transaction
from pydantic import BaseModel, Field

from submissions import dispatch, doorbell
from submissions.models.readiness import CHECK_AT_WORKER, LOG_BYTES, CheckState, ReadinessCheck, ReadinessRow
from submissions.readiness_attempts import end, lose, queue_again, traits_left
from submissions.reports import FailureReason, Seconds, Text

GAVE_WAY = f"{dispatch.AGAIN}: a run of the contest came first. What was tried stays."
Status = Literal["finished", "cancelled", "released", "failed"]


class PartOutcome(BaseModel):
    """What was left for one part."""

    predicted: bool
    shape: bool
    finite: bool


class ReportedRow(BaseModel):
    """One trait's outcome, as a worker tells it."""

    trait: str = Field(max_length=40)
    ok: bool
    ran: bool
    reason: FailureReason | None = None
    sentence: Text = Field("", max_length=4000)
    wall_seconds: Seconds = 0.0
    parts: dict[Literal["valid", "test"], PartOutcome]
    log_tail: Text = Field("", max_length=20_000)
    log: Text = Field("", max_length=2 * LOG_BYTES)


def keep_row(check: ReadinessCheck, row: ReportedRow) -> bool:
    """Keep what became of a trait; returns whether the attempt was still the check's. Twice is as once."""
    with transaction.atomic():
        fenced = ReadinessCheck.objects.select_for_update(of=("self",), no_key=True).get(pk=check.pk)
        if fenced.attempt_number != check.attempt_number or fenced.state not in CHECK_AT_WORKER:
            return False
        if fenced.rows.filter(trait=row.trait).exists():
            return True  # the answer to the first report was lost
        kept = ReadinessRow(
            readiness_check=fenced,
            trait=row.trait,
            ok=row.ok and row.ran,
            ran=row.ran,
            reason=row.reason or "",
            sentence=row.sentence,
            wall_seconds=row.wall_seconds,
            parts={part: outcome.model_dump() for part, outcome in row.parts.items()},
            log_tail=row.log_tail,
        )
        if row.log:
            kept.log.save("log.txt", ContentFile(row.log.encode()), save=False)
        try:
            kept.save()
        except BaseException:
            if kept.log:
                kept.log.storage.delete(str(kept.log.name))
            raise
    return True


def report(check: ReadinessCheck, status: Status, note: str) -> None:
    """Make the end of an attempt true. `note` is what the worker says of its own troubles."""
    if status == "released":
        queue_again(check, GAVE_WAY)
    elif status == "cancelled" and check.cancel_asked:
        end(check, CheckState.CANCELLED, "Cancelled while it ran.")
    elif status == "finished" and not traits_left(check):
        end(check, CheckState.FINISHED, told(list(check.rows.all())))
    else:
        lose(check, why=dispatch.FAILED_WORKER, note=note or f"It reported {status} too early.")
    transaction.on_commit(doorbell.ring_dispatcher, robust=True)


def told(rows: list[ReadinessRow]) -> str:
    """One sentence on a whole check."""
    failed = [row for row in rows if not row.ok]
    if not failed:
        return f"Ready: it ran on datasets of all {len(rows)} traits."
    return f"Not ready: {len(failed)} of {len(rows)} traits failed."
