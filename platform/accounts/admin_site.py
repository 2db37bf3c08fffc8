"""The admin's front door."""

from django.contrib.admin import AdminSite
from django.http import HttpRequest


class OperatorsSite(AdminSite):
    """Opens for superusers alone, also for models of other packages, whatever permissions staff were given."""

    def has_permission(self, request: HttpRequest) -> bool:
        return request.user.is_active and request.user.is_superuser
