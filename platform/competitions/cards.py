"""How much of a dataset's card the people of a competition may see."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection

from competitions.models import Task
from competitions.policy import known_tasks
from datasets.card import Card, Shown, public_card
from datasets.models import DatasetVersion


def shown(tasks: Collection[Task], now: dt.datetime) -> dict[int, Shown]:
    """What entrants and visitors may see of the cards of tasks' datasets, by the ids of the tasks; three queries.

    Nothing before a dataset is revealed. Under an alias what its public files tell. All of it, with the class
    balance of the hidden part and the share of probes, once no phase of any competition has it in use: each has
    ended, and its test scores are public.
    """
    known = known_tasks(tasks, now)
    uses = defaultdict(list)
    for use in Task.objects.filter(dataset__in={task.dataset_id for task in tasks}).select_related("phase"):
        uses[use.dataset_id].append(use)
    found = {}
    for task in tasks:
        if task.pk not in known:
            found[task.pk] = Shown.NOTHING
        elif task.alias:
            found[task.pk] = Shown.CONCEALED
        else:
            is_over = all(_is_over(use, now) for use in uses[task.dataset_id])
            found[task.pk] = Shown.ALL if is_over else Shown.NAMED
    return found


def card_of(version: DatasetVersion | None, task: Task, level: Shown) -> Card | None:
    """The card of the version that a task runs on, as far as `level` allows; None where nothing is shown."""
    if version is None or not version.card:
        return None
    return public_card(Card.from_json(version.card), shown=level, name=task.alias)


def _is_over(task: Task, now: dt.datetime) -> bool:
    phase = task.phase
    return phase.has_ended(now) and (not phase.is_hidden or phase.is_released(now))
