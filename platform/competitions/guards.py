"""What may not be edited while runs exist: it would change what their scores mean, and nobody would see it.

The actions of the manage page make the same changes, and show before what would be scored or run again.
"""

import datetime as dt

from django.core.exceptions import ValidationError

from competitions.models.protocol import Phase, Task

BUDGET = ("wall_seconds", "cores", "memory_bytes", "image", "any_time", "resource_class", "repeats")
OF_TASK = ("metric", "wall_seconds", "dataset_id", "phase_id")
MEND = "Change it on the manage page, which shows before what would be scored or run again."


def clean_task(task: Task) -> None:
    """Raise ValidationError where metric, budget, dataset or name of a task change that has runs."""
    before = Task.objects.filter(pk=task.pk).first() if task.pk else None
    if before is None:
        return
    # Neutral names follow alias and place, and files and logs of runs carry them.
    frozen = (*OF_TASK, "alias", "order") if before.phase.is_blind else OF_TASK
    changed = [name for name in frozen if getattr(before, name) != getattr(task, name)]
    count = task.runs.count() if changed else 0
    if count:
        sentence = f"{count} runs exist on {before.name}, and this would change what they mean. {MEND}"
        raise ValidationError({name.removesuffix("_id"): sentence for name in changed})


def clean_phase(phase: Phase) -> None:
    """Raise ValidationError where budget, scoring or kind of a phase change that has runs."""
    before = Phase.objects.filter(pk=phase.pk).first() if phase.pk else None
    if before is None:
        return
    frozen = ("kind", "parent_id", "round_id", "convention", *BUDGET)
    changed = [name for name in frozen if getattr(before, name) != getattr(phase, name)]
    if changed and phase.submissions.exists():
        raise ValidationError(
            {
                name.removesuffix("_id"): f"Submissions exist in {before.title}, and this would change what their "
                f"runs mean. {MEND}"
                for name in changed
            }
        )


def moved_dates(before: Phase, after: Phase, now: dt.datetime) -> dict[str, str]:
    """By field, why the dates of a phase that has submissions may not move so; empty where they may.

    What was received stays inside its window, and a phase whose entries went forward stays ended.
    """
    opens, closes = before.opens_at != after.opens_at, before.closes_at != after.closes_at
    if not (opens or closes) or not dates_are_bound(before):
        return {}
    refused: dict[str, str] = {}
    if before.has_ended(now):
        what = f"{before.title} has ended; its entries went forward. Give those who need it extra time."
        refused |= {name: what for name, moves in (("opens_at", opens), ("closes_at", closes)) if moves}
        return refused
    if opens and before.has_begun(now) and after.opens_at > before.opens_at:
        refused["opens_at"] = f"{before.title} has opened and has submissions; it cannot open later."
    if closes and after.closes_at is not None and after.closes_at <= now:
        refused["closes_at"] = f"{before.title} has submissions; its new end cannot lie in the past."
    return refused


def dates_are_bound(phase: Phase) -> bool:
    """Whether something happened in a phase that its dates must go on telling of."""
    return phase.submissions.exists() or phase.tasks.filter(revealed_at__isnull=False).exists()
