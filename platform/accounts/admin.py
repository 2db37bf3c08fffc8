"""People in the admin, and the rules that every other registration follows."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db.models import Model
from django.http import HttpRequest

from accounts.models import User

if TYPE_CHECKING:  # Django's classes take a type argument in the checker only
    ModelAdmin = admin.ModelAdmin[Any]
    TabularInline = admin.TabularInline[Any, Any]
    StackedInline = admin.StackedInline[Any, Any]
    PeopleAdmin = UserAdmin[Any]
else:
    ModelAdmin, TabularInline, StackedInline = admin.ModelAdmin, admin.TabularInline, admin.StackedInline
    PeopleAdmin = UserAdmin

admin.site.site_header = "Podium"
admin.site.site_title = "Podium admin"
admin.site.index_title = "Administration"


class SuperusersOnly:
    """The admin is for superusers; a permission granted for the pages opens nothing here."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.is_superuser

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.is_superuser


class ReadOnly(SuperusersOnly):
    """What only actions may change: the admin shows it."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(User)
class PersonAdmin(SuperusersOnly, PeopleAdmin):
    list_display = ("username", "email", "display_name", "is_active", "is_superuser", "last_login")
    fieldsets = (*(UserAdmin.fieldsets or ()), ("Profile", {"fields": ("affiliation",)}))
