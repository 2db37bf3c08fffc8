"""Scoring a programmed run: the organizer's program in a fresh sandbox on the site's machine.

It sees the reference data and what the submission left, as data; where it fails, that is said of the program by
its name and costs the entrant no quota.
"""

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from accounts.beats import prolonged
from datasets.scratch import scratch_folder
from ingestion.programs.requests import EvaluateResult, PredictResult
from submissions import doorbell, signals
from submissions.models import ColumnScore, Run, RunFile, RunState
from submissions.programs import kinds, stored, values
from submissions.programs.steps import Steps
from submissions.programs.stored import Kept
from submissions.transitions import end_run, move, settle

log = logging.getLogger(__name__)

LAST_LINES = 4000
BEAT_SECONDS = 5.0  # how often the lease is prolonged, and how soon a cancelled run stops
FETCHED = (
    "dataset_version",
    "task__scoring_program",
    "task__ingestion_program",
    "submission__phase__round__competition",
    "submission__entrant",
)


def score_programmed(run_id: int) -> None:
    """Score one collected run: compare-and-set to scoring, run the programs, store scores and boards at once."""
    run = Run.objects.select_related(*FETCHED).filter(pk=run_id).filter(kinds.PROGRAMMED).first()
    if run is None:
        return
    claimed = move(
        run,
        RunState.COLLECTED,
        RunState.SCORING,
        deadline=timezone.now() + settings.SCORING_LEASE,
        scoring_tries=run.scoring_tries + 1,
        sentence=run.sentence if run.reason else "Is being scored.",
    )
    if not claimed:
        return
    try:
        with scratch_folder("score-") as folder, _held(run) as stop:
            _Scoring(run, folder, stop).do()
    except Exception:
        # Ours, not the participant's: the reconciler tries again when the lease is over.
        log.exception("scoring run %s failed", run.pk)
        _mine(run).update(deadline=timezone.now())


_at_work: set[threading.Event] = set()


def stop_all() -> None:
    """End what this process scores now, because it is being stopped; the runs wait for their score again."""
    for stop in list(_at_work):
        stop.set()


@contextmanager
def _held(run: Run) -> Iterator[threading.Event]:
    """Keep the lease of a run while it is scored; the event is set when it was cancelled or is another's."""
    stop = threading.Event()
    _at_work.add(stop)

    def prolong() -> None:
        deadline = timezone.now() + settings.SCORING_LEASE
        if not _mine(run).update(deadline=deadline):
            stop.set()

    try:
        with prolonged(prolong, every=BEAT_SECONDS, what=f"run {run.pk}"):
            yield stop
    finally:
        _at_work.discard(stop)


def _mine(run: Run) -> Any:
    return Run.objects.filter(pk=run.pk, state=RunState.SCORING, scoring_tries=run.scoring_tries)


class Ours(Exception):
    """The machine or the platform failed; nobody else is to blame."""


class _Scoring:
    """One try at scoring one run."""

    def __init__(self, run: Run, folder: Path, stop: threading.Event) -> None:
        self.run, self.stop = run, stop
        self.steps = Steps(run, folder, stop)
        self.declared = values.declared_keys(run.submission.phase.competition)
        program = run.task.scoring_program
        assert program is not None, "only programmed runs come here"
        self.program = program
        self.thread = threading.get_ident()

    def do(self) -> None:
        """Run the programs and store what came of them."""
        phase = self.run.submission.phase
        predicted: PredictResult | None = None
        if kinds.predicts_here(self.run.task, phase):
            predicted = self.steps.predict()
            goes_on = predicted.reason == "ingestion_failed" and phase.scores_failed_ingestion
            if predicted.status == "failed" and not goes_on:
                self._predicting_failed(predicted)
                return
        result = self.steps.evaluate(predicted, self.live)
        if self._is_over(result.reason, result.sentence):
            return
        judged = None
        if result.status == "ok":
            judged = values.judge(result.scores, self.declared, told=values.told_keys(phase))
        if result.status == "failed":
            self._failed(result, predicted, result.reason or "scoring_failed", self._blame(result))
        elif judged is not None and judged.problem:
            self._failed(result, predicted, "scoring_failed", self._named(judged.problem), judged.notes)
        elif judged is not None:
            self._finished(result, predicted, judged)

    # While it runs ------------------------------------------------------------------------------------------

    def live(self, scores: Mapping[str, object], details: Path | None) -> None:
        """Show scores and details that the program has written so far; problems are judged in the end.

        Of a run that has its score already, that one stands until the new one comes.
        """
        if self.run.submission.ended_at is not None:
            return
        judged = values.judge(scores, self.declared)
        try:
            self._show(judged, details)
        except (DatabaseError, OSError):
            # What is shown on the way is not worth the run: in the end everything is written once more.
            log.exception("scores of run %s could not be shown while it is scored", self.run.pk)
        finally:
            if threading.get_ident() != self.thread:
                connection.close()

    def _show(self, judged: values.Judged, details: Path | None) -> None:
        kept = [stored.keep(self.run, RunFile.Kind.DETAILS, details, details.name)] if details else []
        with _kept_or_dropped(kept), transaction.atomic():
            if not _mine(self.run).select_for_update(no_key=True).exists():
                self.stop.set()
                raise _NotMine
            self._write_scores(judged.values)
            stored.write_rows(self.run, kept)
            signals.changed.send(sender=type(self.run.submission), submission=self.run.submission)

    def _write_scores(self, found: Mapping[str, float]) -> None:
        self.run.column_scores.all().delete()
        ColumnScore.objects.bulk_create(
            ColumnScore(run=self.run, key=key, value=value) for key, value in found.items()
        )

    # Endings ------------------------------------------------------------------------------------------------

    def _is_over(self, reason: str | None, sentence: str) -> bool:
        """Whether nobody waits for the outcome any more. Raises Ours where the machine failed."""
        if reason == "infrastructure":
            raise Ours(sentence)
        if reason != "cancelled" and not self.stop.is_set():
            return False
        # Still this one's: then nobody cancelled it, but this process is being stopped.
        tries = self.run.scoring_tries
        _mine(self.run).update(state=RunState.COLLECTED, scoring_tries=tries - 1, deadline=None, rung_at=None)
        return True

    def _predicting_failed(self, predicted: PredictResult) -> None:
        if self._is_over(predicted.reason, predicted.sentence):
            return
        kept = self._kept_of_prediction(predicted)
        said = {"ingestion_lines": predicted.ingestion_lines[-LAST_LINES:], "notes": list(predicted.notes)}
        self._end(kept, predicted.reason or "crashed", predicted.sentence, said, **usage_of(predicted))

    def _failed(
        self,
        result: EvaluateResult,
        predicted: PredictResult | None,
        reason: str,
        sentence: str,
        notes: tuple[str, ...] = (),
    ) -> None:
        kept = [*self._kept_of_prediction(predicted), *self._kept_of_scoring(result)]
        self._end(kept, reason, sentence, self._said(result, predicted, notes), **self._usage(result, predicted))

    def _end(self, kept: list[Kept], reason: str, sentence: str, said: dict[str, Any], **fields: object) -> None:
        with _kept_or_dropped(kept), transaction.atomic():
            if not _mine(self.run).select_for_update(no_key=True).exists():
                raise _NotMine
            report = {**self.run.program_report, **said}
            end_run(self.run, RunState.FAILED, reason=reason, sentence=sentence, program_report=report, **fields)
            stored.write_rows(self.run, kept)
            settle(self.run.submission)
            transaction.on_commit(doorbell.ring_dispatcher, robust=True)

    def _finished(self, result: EvaluateResult, predicted: PredictResult | None, judged: values.Judged) -> None:
        kept = [*self._kept_of_prediction(predicted), *self._kept_of_scoring(result)]
        with _kept_or_dropped(kept), transaction.atomic():
            if not _mine(self.run).select_for_update(no_key=True).exists():
                raise _NotMine
            move(
                self.run,
                RunState.SCORING,
                RunState.FINISHED,
                ended_at=timezone.now(),
                deadline=None,
                sentence=self.run.sentence if self.run.reason else "Finished.",
                program_report={**self.run.program_report, **self._said(result, predicted, judged.notes)},
                **self._usage(result, predicted),
            )
            self._write_scores(judged.values)
            stored.write_rows(self.run, kept)
            signals.scored.send(sender=Run, run=self.run)
            settle(self.run.submission)
            transaction.on_commit(doorbell.ring_dispatcher, robust=True)

    # What is told -------------------------------------------------------------------------------------------

    def _named(self, problem: str) -> str:
        return f"The organizer's scoring program {self.program.name!r} did not score it. {problem}"

    def _blame(self, result: EvaluateResult) -> str:
        if result.reason == "ingestion_failed":
            return result.sentence or "The organizer's ingestion program failed."
        return result.sentence or f"The organizer's scoring program {self.program.name!r} failed."

    def _said(
        self, result: EvaluateResult, predicted: PredictResult | None, notes: tuple[str, ...]
    ) -> dict[str, Any]:
        report = self.run.program_report
        here = predicted or PredictResult(status="ok", reason=None, sentence="")
        ingestion_lines = result.ingestion_lines or here.ingestion_lines
        return {
            # Apart from the worker's notes, so that scoring again replaces them.
            "scoring_notes": [*here.notes, *result.notes, *notes],
            "scoring_lines": result.log_tail[-LAST_LINES:],
            "ingestion_lines": ingestion_lines[-LAST_LINES:] or report.get("ingestion_lines", ""),
        }

    def _usage(self, result: EvaluateResult, predicted: PredictResult | None) -> dict[str, object]:
        """What the submission used, where it ran here; what a worker measured stays."""
        here = predicted or result.beside
        return usage_of(here) if here is not None else {}

    def _kept_of_prediction(self, predicted: PredictResult | None) -> list[Kept]:
        if predicted is None:
            return []
        return self._kept_of(
            (RunFile.Kind.PREDICTIONS, predicted.predictions, "predictions.zip"),
            (RunFile.Kind.INGESTION_LOG, predicted.ingestion_log_path, "ingestion_log.txt"),
        )

    def _kept_of_scoring(self, result: EvaluateResult) -> list[Kept]:
        details = result.details
        return self._kept_of(
            (RunFile.Kind.SCORING_LOG, result.log_path, "scoring_log.txt"),
            (RunFile.Kind.SCORES, result.scores_path, result.scores_path.name if result.scores_path else ""),
            (RunFile.Kind.DETAILS, details, details.name if details else ""),
            (RunFile.Kind.INGESTION_LOG, result.ingestion_log_path, "ingestion_log.txt"),
        )

    def _kept_of(self, *found: tuple[str, Path | None, str]) -> list[Kept]:
        return [
            stored.keep(self.run, kind, path, name)
            for kind, path, name in found
            if path is not None and path.is_file() and not path.is_symlink()
        ]


class _NotMine(Exception):
    """The run was cancelled, or is scored by somebody else by now."""


@contextmanager
def _kept_or_dropped(kept: list[Kept]) -> Iterator[None]:
    """Remove stored files again where the rows that name them were not written."""
    try:
        yield
    except _NotMine:
        stored.drop(kept)
    except BaseException:
        stored.drop(kept)
        raise


def usage_of(result: PredictResult) -> dict[str, object]:
    """The fields of a run that say what its programs used here, and their last lines."""
    return {
        "wall_seconds": result.wall_seconds,
        "cpu_seconds": result.cpu_seconds,
        "peak_memory_bytes": int(result.peak_memory_bytes),
        "output_bytes": result.output_bytes,
        "error_lines": result.error_lines[-LAST_LINES:],
        "log_tail": result.log_tail[-LAST_LINES:],
    }
