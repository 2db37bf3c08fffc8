"""Submissions in the admin, to be read; what changes them are actions. Files have no address here."""

from django.contrib import admin

from accounts.admin import ModelAdmin, ReadOnly, SuperusersOnly
from submissions.models import Attempt, Prediction, Run, Score, Submission, Worker


@admin.register(Submission)
class SubmissionAdmin(ReadOnly, ModelAdmin):
    list_display = ("id", "entrant", "number", "phase", "kind", "state", "received_at")
    list_filter = ("state", "kind", "phase__round__competition")
    list_select_related = ("entrant", "phase")
    search_fields = ("entrant__name", "sha256")
    exclude = ("archive",)


@admin.register(Run)
class RunAdmin(ReadOnly, ModelAdmin):
    list_display = ("id", "submission_id", "dataset_name", "state", "reason", "attempt_number", "queued_at")
    list_filter = ("state", "reason")
    search_fields = ("dataset_name", "submission__entrant__name")
    exclude = ("log",)


@admin.register(Attempt)
class AttemptAdmin(ReadOnly, ModelAdmin):
    list_display = ("id", "run_id", "number", "worker", "outcome", "claimed_at", "ended_at")
    list_filter = ("outcome", "worker")
    list_select_related = ("worker",)
    exclude = ("secret_hash",)


@admin.register(Prediction)
class PredictionAdmin(ReadOnly, ModelAdmin):
    list_display = ("id", "run_id", "name", "part", "seconds", "size", "counts")
    list_filter = ("part",)
    exclude = ("file",)


@admin.register(Score)
class ScoreAdmin(ReadOnly, ModelAdmin):
    list_display = ("id", "run_id", "part", "metric", "value", "raw", "stderr", "created_at")
    list_filter = ("part", "metric")
    exclude = ("replicates",)


@admin.register(Worker)
class WorkerAdmin(SuperusersOnly, ModelAdmin):
    """What a worker may do. Its token is made by `./podium manage worker_token` and shown once."""

    list_display = ("name", "resource_class", "is_trusted", "seen_at", "sandbox", "cores", "revoked_at")
    list_filter = ("resource_class", "is_trusted")
    exclude = ("token_hash",)
    readonly_fields = ("created_at", "seen_at", "sandbox", "cores", "memory_bytes")
    filter_horizontal = ("competitions",)

    def has_add_permission(self, request: object, obj: object = None) -> bool:
        """A worker is made with its token, by command."""
        return False
