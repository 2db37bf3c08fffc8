"""Competitions in the admin: their pages, people, rounds, phases and tasks."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.admin import ModelAdmin, ReadOnly, StackedInline, SuperusersOnly, TabularInline
from accounts.refusals import Refused
from competitions.actions.budgets import ApplyPreset
from competitions.fields import SizeField
from competitions.models import (
    AuditEntry,
    Competition,
    Deletion,
    Entrant,
    Extension,
    HeldRole,
    Organizer,
    Page,
    Participant,
    Phase,
    Prize,
    PrizeClaim,
    Round,
    Task,
    Team,
    TeamMember,
)
from competitions.presets import PRESETS


class OrganizerInline(SuperusersOnly, TabularInline):
    model = Organizer
    autocomplete_fields = ("user",)
    extra = 0


class PageInline(SuperusersOnly, StackedInline):
    model = Page
    extra = 0


class RoundInline(SuperusersOnly, TabularInline):
    model = Round
    extra = 0


class TaskInline(SuperusersOnly, TabularInline):
    model = Task
    autocomplete_fields = ("dataset",)
    readonly_fields = ("revealed_at",)
    extra = 0


class MemberInline(ReadOnly, TabularInline):
    model = TeamMember
    extra = 0


@admin.register(Competition)
class CompetitionAdmin(SuperusersOnly, ModelAdmin):
    list_display = ("slug", "title", "state", "registration", "created_by", "created_at")
    list_filter = ("state",)
    list_select_related = ("created_by",)
    search_fields = ("slug", "title")
    prepopulated_fields = {"slug": ("title",)}
    readonly_fields = ("created_by", "created_at", "published_at", "queue_paused_at", "rehearses", "clock_offset")
    inlines = (OrganizerInline, RoundInline, PageInline)

    def save_model(self, request: HttpRequest, obj: Competition, form: Any, change: bool) -> None:
        """Whoever makes a competition is kept as its maker."""
        if not change:
            obj.created_by = request.user  # type: ignore[assignment]
        super().save_model(request, obj, form, change)


@admin.register(Round)
class RoundAdmin(SuperusersOnly, ModelAdmin):
    list_display = ("competition", "number", "name")
    list_select_related = ("competition",)
    search_fields = ("name", "competition__slug")


def _applying(preset: str) -> Callable[[ModelAdmin, HttpRequest, QuerySet[Phase]], None]:
    """What the admin does when a preset is chosen for some phases."""

    def apply(admin: ModelAdmin, request: HttpRequest, phases: QuerySet[Phase]) -> None:
        assert request.user.is_authenticated
        for phase in phases.select_related("round__competition"):
            try:
                messages.success(request, ApplyPreset(by=request.user, phase=phase, preset=preset).execute())
            except Refused as refusal:
                messages.error(request, f"{phase.title}: {refusal}")

    return apply


@admin.register(Phase)
class PhaseAdmin(SuperusersOnly, ModelAdmin):
    list_display = ("title", "round", "number", "kind", "opens_at", "closes_at")
    list_filter = ("kind", "round__competition")
    list_select_related = ("round__competition", "parent")
    search_fields = ("title", "round__competition__slug")
    autocomplete_fields = ("round", "parent")
    readonly_fields = ("released_at",)
    inlines = (TaskInline,)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Besides Django's own, one for each preset of a budget."""
        presets = {
            f"preset_{preset.name}": (
                _applying(preset.name),
                f"preset_{preset.name}",
                f"Set the budget: {preset.title}",
            )
            for preset in PRESETS.values()
        }
        return {**super().get_actions(request), **presets}

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Memory is typed with its unit."""
        if db_field.name == "memory_bytes":
            return SizeField(
                label="Memory", required=False, help_text="With a unit, such as 8 GiB. Empty: all of the worker's."
            )
        return super().formfield_for_dbfield(db_field, request, **kwargs)


@admin.register(Participant)
class ParticipantAdmin(SuperusersOnly, ModelAdmin):
    list_display = ("user", "competition", "state", "joined_at")
    list_filter = ("state", "competition")
    list_select_related = ("user", "competition")
    search_fields = ("user__username", "competition__slug")
    autocomplete_fields = ("user", "competition")


@admin.register(Entrant)
class EntrantAdmin(SuperusersOnly, ModelAdmin):
    """Who competes. Persons and teams come by their actions; a name, and what is a baseline, can be set."""

    list_display = ("name", "competition", "user", "team", "is_baseline", "held_a_role", "created_at")
    list_filter = ("competition", "is_baseline", "held_a_role")
    list_select_related = ("competition", "user", "team")
    search_fields = ("name", "user__username")
    autocomplete_fields = ("user", "competition")
    readonly_fields = ("team", "held_a_role", "created_at")


@admin.register(Team)
class TeamAdmin(ReadOnly, ModelAdmin):
    list_display = ("name", "competition", "created_at")
    list_filter = ("competition",)
    search_fields = ("name",)
    inlines = (MemberInline,)


@admin.register(HeldRole)
class HeldRoleAdmin(ReadOnly, ModelAdmin):
    list_display = ("user", "competition")
    list_filter = ("competition",)
    list_select_related = ("user", "competition")


@admin.register(Extension)
class ExtensionAdmin(ReadOnly, ModelAdmin):
    list_display = ("entrant", "phase", "closes_at", "why", "given_by", "given_at")
    list_filter = ("phase__round__competition",)
    list_select_related = ("entrant", "phase", "given_by")


@admin.register(Prize)
class PrizeAdmin(SuperusersOnly, ModelAdmin):
    list_display = ("title", "place", "phase")
    list_filter = ("phase__round__competition",)
    list_select_related = ("phase",)


@admin.register(PrizeClaim)
class PrizeClaimAdmin(ReadOnly, ModelAdmin):
    list_display = ("entrant", "phase", "state", "updated_at")
    list_filter = ("state", "phase__round__competition")
    list_select_related = ("entrant", "phase")


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnly, ModelAdmin):
    list_display = ("at", "competition", "user", "action", "text")
    list_filter = ("action", "competition")
    list_select_related = ("competition", "user")
    search_fields = ("text",)


@admin.register(Deletion)
class DeletionAdmin(ReadOnly, ModelAdmin):
    list_display = ("title", "slug", "asked_by_name", "asked_at", "ended_at", "was_rehearsal")
    list_filter = ("was_rehearsal",)
    search_fields = ("slug", "title")
