"""Who may see which datasets and which of their files. Pages, commands and calls ask here."""

import datetime as dt
from collections.abc import Iterable

from django.db.models import Q, QuerySet

from competitions import lifecycle
from competitions.models import Competition, Organizer, Phase, Task
from competitions.policy import EDITING, Person
from datasets.models import Dataset
from datasets.policy import Access, own_access

# Who sees the names of hidden datasets in a competition, and so what there is to know about them.
SEES_HIDDEN = Q(role__in=EDITING) | Q(sees_hidden=True)


def access(user: Person, dataset: Dataset, now: dt.datetime) -> Access:
    """What the person is to the dataset now: by itself, by a competition, or as anybody. Five queries at most.

    Participants are nobody here: they get a dataset by the competition's pages, under the name that it has there.
    """
    own = own_access(user, dataset)
    if own < Access.USER and _organizes_with(user, dataset):
        own = Access.USER
    if own == Access.NONE and dataset.is_public and not concealed([dataset], now):
        own = Access.PUBLIC
    return own


def _organizes_with(user: Person, dataset: Dataset) -> bool:
    if not user.is_authenticated or not user.is_active:
        return False
    using = Competition.objects.filter(rounds__phases__tasks__dataset=dataset)
    return Organizer.objects.filter(SEES_HIDDEN, user=user, competition__in=using).exists()


def concealed(datasets: Iterable[Dataset], now: dt.datetime) -> set[int]:
    """The ids of those that a blind phase uses and has not revealed, whoever published them; one query."""
    wanted = [dataset.pk for dataset in datasets]
    blind = Task.objects.filter(
        dataset__in=wanted, phase__kind=Phase.Kind.AUTOML, phase__round__competition__rehearses=None
    ).select_related("phase")
    tasks = list(blind)
    revealed = lifecycle.revealed_tasks(tasks, now)
    return {task.dataset_id for task in tasks if task.pk not in revealed}


def public_datasets(now: dt.datetime) -> QuerySet[Dataset]:
    """The datasets that everybody may see: public ones, but for those that a blind phase still hides."""
    public = Dataset.objects.filter(is_public=True)
    return public.exclude(pk__in=concealed(public, now))


def library(user: Person) -> QuerySet[Dataset]:
    """The person's library: own datasets, those shared with them, those of competitions they organize."""
    if not user.is_authenticated or not user.is_active:
        return Dataset.objects.none()
    if user.is_superuser:
        return Dataset.objects.all()
    roles = Organizer.objects.filter(SEES_HIDDEN, user=user)
    used = Task.objects.filter(phase__round__competition__in=roles.values("competition"))
    mine = Q(owner=user) | Q(shares__user=user) | Q(pk__in=used.values("dataset"))
    return Dataset.objects.filter(mine).distinct()
