"""Who may make competitions and send datasets: the operator says so, person by person."""

from django.contrib.auth.models import Permission
from django.db.models import Q

from accounts.models import User

RIGHTS = (("competitions", "add_competition"), ("datasets", "add_dataset"))


def allow(user: User, *, is_allowed: bool = True) -> None:
    """Give the person both rights, or take both back."""
    wanted = Q()
    for app, codename in RIGHTS:
        wanted |= Q(content_type__app_label=app, codename=codename)
    rights = Permission.objects.filter(wanted)
    if is_allowed:
        user.user_permissions.add(*rights)
    else:
        user.user_permissions.remove(*rights)
