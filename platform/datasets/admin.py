"""Datasets in the admin: their texts. Versions come by import and never change; files have no address here."""

from django.contrib import admin

from accounts.admin import ModelAdmin, ReadOnly, SuperusersOnly, TabularInline
from datasets.models import Dataset, DatasetShare, DatasetVersion

FILES = ("public_zip", "cache_zip", "valid_solution", "test_solution")


class VersionInline(ReadOnly, TabularInline):
    model = DatasetVersion
    fields = ("number", "name", "task_kind", "metric", "time_budget", "feat_num", "train_num", "created_at")
    readonly_fields = fields
    extra = 0


class ShareInline(ReadOnly, TabularInline):
    model = DatasetShare
    fields = ("user", "role", "created_at")
    readonly_fields = fields
    extra = 0


@admin.register(Dataset)
class DatasetAdmin(SuperusersOnly, ModelAdmin):
    list_display = ("slug", "title", "owner", "created_at")
    search_fields = ("slug", "title")
    list_select_related = ("owner",)
    inlines = (VersionInline, ShareInline)

    def has_add_permission(self, request: object, obj: object = None) -> bool:
        """Datasets come by import, which checks them."""
        return False


@admin.register(DatasetVersion)
class DatasetVersionAdmin(ReadOnly, ModelAdmin):
    list_display = ("name", "number", "dataset", "task_kind", "metric", "train_num", "valid_num", "test_num")
    list_filter = ("task_kind", "metric")
    search_fields = ("name",)
    list_select_related = ("dataset",)
    exclude = FILES
