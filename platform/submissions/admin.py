"""Submissions in the admin, to be read; what changes them are actions. Files have no address here."""

from typing import Any

from django.contrib import admin
from django.db.models import Model

from accounts.admin import ModelAdmin, ReadOnly, SuperusersOnly
from ingestion.budget import format_size
from submissions.models import (
    Attempt,
    BuiltImage,
    Handover,
    Prediction,
    PredictionScore,
    ReadinessCheck,
    ReadinessRow,
    Run,
    Score,
    Submission,
    Worker,
)


def readable(name: str, label: str) -> Any:  # the stubs know no callable here
    """A column or field that shows a number of bytes with its unit."""

    def shown(entry: Model) -> str:
        value = getattr(entry, name)
        return "" if value is None else format_size(value)

    return admin.display(description=label, ordering=name)(shown)


PEAK = readable("peak_memory_bytes", "peak memory")
OUTPUT = readable("output_bytes", "output")
COLLECTED = readable("prediction_bytes", "collected")
MACHINE = readable("machine_memory_bytes", "memory of the machine")
MEMORY = readable("memory_bytes", "memory")
SIZE = readable("size", "size")


@admin.register(Submission)
class SubmissionAdmin(ReadOnly, ModelAdmin):
    list_display = ("id", "entrant", "number", "phase", "kind", "state", "received_at")
    list_filter = ("state", "kind", "phase__round__competition")
    list_select_related = ("entrant", "phase")
    search_fields = ("entrant__name", "sha256")
    exclude = ("archive", "size")
    readonly_fields = (SIZE,)


@admin.register(Run)
class RunAdmin(ReadOnly, ModelAdmin):
    list_display = ("id", "submission_id", "dataset_name", "state", "reason", "attempt_number", "queued_at")
    list_filter = ("state", "reason")
    search_fields = ("dataset_name", "submission__entrant__name")
    exclude = ("log", "peak_memory_bytes", "output_bytes", "prediction_bytes")
    readonly_fields = (PEAK, OUTPUT, COLLECTED)


@admin.register(Attempt)
class AttemptAdmin(ReadOnly, ModelAdmin):
    list_display = ("id", "run_id", "number", "worker", "outcome", "claimed_at", "ended_at")
    list_filter = ("outcome", "worker")
    list_select_related = ("worker",)
    exclude = ("secret_hash", "memory_bytes")
    readonly_fields = (MEMORY,)


@admin.register(Prediction)
class PredictionAdmin(ReadOnly, ModelAdmin):
    list_display = ("id", "run_id", "name", "part", "seconds", SIZE, "counts")
    list_filter = ("part",)
    exclude = ("file", "size")
    readonly_fields = (SIZE,)


@admin.register(Score)
class ScoreAdmin(ReadOnly, ModelAdmin):
    list_display = ("id", "run_id", "part", "metric", "value", "raw", "stderr", "created_at")
    list_filter = ("part", "metric")
    exclude = ("replicates",)


@admin.register(PredictionScore)
class PredictionScoreAdmin(ReadOnly, ModelAdmin):
    list_display = ("id", "prediction_id", "value", "stderr", "created_at")


@admin.register(Handover)
class HandoverAdmin(ReadOnly, ModelAdmin):
    list_display = ("entrant", "phase", "outcome", "made_at")
    list_filter = ("outcome", "phase__round__competition")
    list_select_related = ("entrant", "phase")


@admin.register(BuiltImage)
class BuiltImageAdmin(ReadOnly, ModelAdmin):
    list_display = ("name", "digest", "created_at")
    search_fields = ("name", "digest")


@admin.register(ReadinessCheck)
class ReadinessCheckAdmin(ReadOnly, ModelAdmin):
    list_display = ("id", "submission_id", "entrant", "state", "asked_at", "ended_at", "losses", "worker")
    list_filter = ("state",)
    list_select_related = ("entrant", "worker")
    exclude = ("secret_hash",)


@admin.register(ReadinessRow)
class ReadinessRowAdmin(ReadOnly, ModelAdmin):
    list_display = ("id", "readiness_check_id", "trait", "ok", "reason", "wall_seconds")
    list_filter = ("trait", "ok", "reason")
    exclude = ("log",)


@admin.register(Worker)
class WorkerAdmin(SuperusersOnly, ModelAdmin):
    """What a worker may do. Its token is made by `./podium manage worker_token` and shown once."""

    list_display = ("name", "resource_class", "is_trusted", "seen_at", "sandbox", "cores", MEMORY, "revoked_at")
    list_filter = ("resource_class", "is_trusted")
    exclude = ("token_hash", "memory_bytes", "machine_memory_bytes")
    readonly_fields = (
        "created_at",
        "seen_at",
        "sandbox",
        "cores",
        MEMORY,
        "machine_cores",
        MACHINE,
        "default_image",
        "images",
    )
    filter_horizontal = ("competitions",)

    def has_add_permission(self, request: object, obj: object = None) -> bool:
        """A worker is made with its token, by command."""
        return False
