"""Stored ranks in the admin, to be read; they are rewritten when a score comes."""

from django.contrib import admin

from accounts.admin import ModelAdmin, ReadOnly
from leaderboards.models import ColumnRow, LeaderboardRow


@admin.register(LeaderboardRow)
class LeaderboardRowAdmin(ReadOnly, ModelAdmin):
    list_display = ("board", "rank", "entrant", "mean_rank", "mean_score", "entries", "updated_at")
    list_filter = ("board__phase__round__competition",)
    list_select_related = ("board__phase", "entrant")


@admin.register(ColumnRow)
class ColumnRowAdmin(ReadOnly, ModelAdmin):
    list_display = ("board", "phase", "rank", "entrant", "values", "is_frozen", "updated_at")
    list_filter = ("board__competition",)
    list_select_related = ("board", "phase", "entrant")
