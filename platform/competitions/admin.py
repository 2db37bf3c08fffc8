"""Competitions in the admin: their pages, people, rounds, phases and tasks."""

from django.contrib import admin

from accounts.admin import ModelAdmin, StackedInline, SuperusersOnly, TabularInline
from competitions.models import Competition, Entrant, Organizer, Page, Participant, Phase, Round, Task


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
    extra = 0


@admin.register(Competition)
class CompetitionAdmin(SuperusersOnly, ModelAdmin):
    list_display = ("slug", "title", "state", "registration", "created_by", "created_at")
    list_filter = ("state",)
    list_select_related = ("created_by",)
    search_fields = ("slug", "title")
    prepopulated_fields = {"slug": ("title",)}
    autocomplete_fields = ("created_by",)
    inlines = (OrganizerInline, RoundInline, PageInline)


@admin.register(Round)
class RoundAdmin(SuperusersOnly, ModelAdmin):
    list_display = ("competition", "number", "name")
    list_select_related = ("competition",)
    search_fields = ("name", "competition__slug")


@admin.register(Phase)
class PhaseAdmin(SuperusersOnly, ModelAdmin):
    list_display = ("title", "round", "number", "kind", "opens_at", "closes_at")
    list_filter = ("kind", "round__competition")
    list_select_related = ("round__competition", "parent")
    search_fields = ("title", "round__competition__slug")
    autocomplete_fields = ("round", "parent")
    inlines = (TaskInline,)


@admin.register(Participant)
class ParticipantAdmin(SuperusersOnly, ModelAdmin):
    list_display = ("user", "competition", "state", "joined_at")
    list_filter = ("state", "competition")
    list_select_related = ("user", "competition")
    search_fields = ("user__username", "competition__slug")
    autocomplete_fields = ("user", "competition")


@admin.register(Entrant)
class EntrantAdmin(SuperusersOnly, ModelAdmin):
    list_display = ("name", "competition", "user", "is_baseline", "held_a_role", "created_at")
    list_filter = ("competition", "is_baseline", "held_a_role")
    list_select_related = ("competition", "user")
    search_fields = ("name", "user__username")
    autocomplete_fields = ("user", "competition")
