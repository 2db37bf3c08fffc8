"""How much of a dataset's card the people of a competition may see."""

import datetime as dt

from competitions.models import Task
from competitions.policy import known_tasks
from datasets.card import Card, Shown, public_card


def shown(task: Task, now: dt.datetime) -> Shown:
    """What entrants and visitors may see of the card of a task's dataset; two queries.

    Nothing before it is revealed. Under another name than its own what its public files tell. All of it, with the
    class balance of the hidden part and the share of probes, once no phase of any competition has it in use: each
    has ended, and its test scores are public.
    """
    if task.pk not in known_tasks([task], now):
        return Shown.NOTHING
    if task.name != task.dataset_name:
        return Shown.CONCEALED
    uses = Task.objects.filter(dataset=task.dataset_id).select_related("phase")
    return Shown.ALL if all(_is_over(use, now) for use in uses) else Shown.NAMED


def card_for_entrants(task: Task, now: dt.datetime) -> Card | None:
    """The public card of a task's dataset under the name that entrants know; None where they see none."""
    version = task.dataset.current
    if version is None or not version.card:
        return None
    return public_card(Card.from_json(version.card), shown=shown(task, now), name=task.name)


def _is_over(task: Task, now: dt.datetime) -> bool:
    phase = task.phase
    return phase.has_ended(now) and (not phase.is_hidden or phase.is_released(now))
