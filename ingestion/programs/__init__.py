"""Competitions that bring their own programs: `predict` makes predictions, `evaluate` scores them.

Both run programs unchanged in the places of Codabench or CodaLab, in sandboxes, and never raise for what a
stranger wrote. Labels are given to `evaluate` alone, which runs no code of participants.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from ingestion.archive import RefusedArchive
from ingestion.programs.evaluating import OnChange, run_evaluation
from ingestion.programs.predicting import refused, run_prediction
from ingestion.programs.requests import (
    CODABENCH,
    CODALAB,
    EvaluateRequest,
    EvaluateResult,
    PredictRequest,
    PredictResult,
    ProgramProgress,
)
from ingestion.runner import as_sentence, our_fault
from ingestion.sandbox.base import SandboxError
from ingestion.sandbox.scratch import Scratch

__all__ = [
    "CODABENCH",
    "CODALAB",
    "EvaluateRequest",
    "EvaluateResult",
    "PredictRequest",
    "PredictResult",
    "ProgramProgress",
    "evaluate",
    "predict",
]

log = logging.getLogger(__name__)


def predict(
    request: PredictRequest,
    *,
    stop: threading.Event | None = None,
    progress: Callable[[ProgramProgress], None] | None = None,
) -> PredictResult:
    """Run a submission, or an ingestion program with it, and return what became of it and its files."""
    try:
        with Scratch(request.owner) as scratch:
            return run_prediction(request, scratch, stop=stop or threading.Event(), progress=progress)
    except RefusedArchive as error:
        return refused(error)
    except SandboxError as error:
        log.error("a sandbox failed: %s", error)
        return PredictResult(status="failed", reason="infrastructure", sentence=as_sentence(error))
    except Exception as error:
        log.exception("a step of predictions failed on our side")
        return PredictResult(status="failed", reason="infrastructure", sentence=our_fault(error))


def evaluate(
    request: EvaluateRequest,
    *,
    stop: threading.Event | None = None,
    on_change: OnChange | None = None,
    progress: Callable[[ProgramProgress], None] | None = None,
) -> EvaluateResult:
    """Run an organizer's scoring program and return its scores, or a sentence that says whose fault it was.

    on_change: called with the scores and the details page so far whenever the program has rewritten one of them,
    from a thread of its own.
    """
    try:
        with Scratch(request.owner) as scratch:
            return run_evaluation(
                request, scratch, stop=stop or threading.Event(), on_change=on_change, progress=progress
            )
    except SandboxError as error:
        log.error("a sandbox failed: %s", error)
        return EvaluateResult(status="failed", reason="infrastructure", sentence=as_sentence(error))
    except Exception as error:
        log.exception("a step of scoring failed on our side")
        return EvaluateResult(status="failed", reason="infrastructure", sentence=our_fault(error))
