"""Submissions, their runs, attempts, predictions and scores; and the workers that run them."""

from submissions.models.bulk import BulkWork
from submissions.models.curves import PredictionScore
from submissions.models.image import BuiltImage
from submissions.models.programs import ColumnScore, RunFile
from submissions.models.pulse import Pulse
from submissions.models.readiness import ReadinessCheck, ReadinessRow
from submissions.models.runs import Attempt, Prediction, Reason, Run, RunState, Score
from submissions.models.submission import Handover, Submission
from submissions.models.worker import Worker

__all__ = [
    "Attempt",
    "BuiltImage",
    "BulkWork",
    "ColumnScore",
    "Handover",
    "Prediction",
    "PredictionScore",
    "Pulse",
    "ReadinessCheck",
    "ReadinessRow",
    "Reason",
    "Run",
    "RunFile",
    "RunState",
    "Score",
    "Submission",
    "Worker",
]
