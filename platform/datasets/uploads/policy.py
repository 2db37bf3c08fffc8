"""Who may send datasets, and who sees an upload."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from accounts.models import User
from datasets.signals import upload_asked
from datasets.uploads.models import Upload

Person = User | AnonymousUser


def may_upload(user: Person) -> bool:
    """Whether the person may send datasets: who may make competitions, or edits one, and operators."""
    if not user.is_authenticated or not user.is_active:
        return False
    if user.is_superuser:
        return True
    return any(allowed for _, allowed in upload_asked.send(sender=Upload, user=user))


def visible_uploads(user: Person) -> QuerySet[Upload]:
    """A person's own uploads. They hold hidden targets, so nobody else is shown them, operators included."""
    if not user.is_authenticated:
        return Upload.objects.none()
    return Upload.objects.filter(owner=user)


def awaited_by(user: Person) -> int:
    """How many of a person's uploads go on only when the person chooses: tables, and tries that may be kept."""
    states, jobs = Upload.State, Upload.Job
    return visible_uploads(user).filter(Q(state=states.TABLE) | Q(state=states.CHECKED, job=jobs.TRY)).count()
