"""Who may send benchmarks, and who sees and changes one."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from accounts.models import User
from analysis.models import Benchmark
from datasets.uploads.policy import may_upload

Person = User | AnonymousUser


def may_send(user: Person) -> bool:
    """Whether the person may send benchmarks: whoever may send datasets."""
    return may_upload(user)


def visible_benchmarks(user: Person) -> QuerySet[Benchmark]:
    """One's own, and those that are public and ready; operators see all."""
    if not user.is_authenticated:
        return Benchmark.objects.filter(is_public=True, state=Benchmark.State.READY)
    if user.is_superuser:
        return Benchmark.objects.all()
    return Benchmark.objects.filter(Q(owner=user) | Q(is_public=True, state=Benchmark.State.READY))


def may_change(user: Person, benchmark: Benchmark) -> bool:
    """Whether the person may publish, hide and delete it."""
    return user.is_authenticated and (user.is_superuser or benchmark.owner_id == user.pk)
