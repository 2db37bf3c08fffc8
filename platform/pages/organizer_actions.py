"""The organizers' actions as forms: what each acts on, what it asks, and the action that it makes.

The page shows a form, then what would happen, and only then does it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.conf import settings

from competitions import clock, policy
from competitions.actions import dates, release
from competitions.actions import prizes as prize_actions
from competitions.actions.base import Action
from competitions.fields import SizeField
from competitions.models import Competition, Entrant, Phase, Task
from datasets.models import Metric
from leaderboards.prizes import line_of
from pages.offers import runs
from pages.offers.base import Nothing, Offer, Why
from pages.zones import IN_ZONE, LocalMoment
from submissions import changes, moderation
from submissions.models import Run, Submission


class Deadline(forms.Form):
    """When a phase closes."""

    closes_at = LocalMoment(label="New deadline", help_text=IN_ZONE)
    move_later = forms.BooleanField(
        label="Move all phases after it by the same time", required=False, initial=True
    )


class ExtraTime(forms.Form):
    """For whom, until when, why."""

    entrant = forms.ModelChoiceField(Entrant.objects.none())
    closes_at = LocalMoment(label="Until", help_text=IN_ZONE)
    why = forms.CharField(max_length=300, label="Why")


class BoardState(forms.Form):
    """What everybody sees of a leaderboard."""

    board = forms.ChoiceField(choices=Phase.Board.choices, label="Leaderboard")


class MetricChoice(forms.Form):
    """A metric."""

    metric = forms.ChoiceField(choices=Metric.choices)


class Limits(forms.Form):
    """A budget; an empty field leaves it to the dataset, or to what the worker has."""

    wall_seconds = forms.FloatField(min_value=1, required=False, label="Seconds for each dataset")
    cores = forms.IntegerField(min_value=1, required=False)
    memory_bytes = SizeField(required=False, label="Memory", help_text="With a unit, such as 8 GiB.")
    image = forms.ChoiceField(required=False)
    any_time = forms.BooleanField(
        label="Complete predictions count although time or memory ran out", required=False
    )
    resource_class = forms.SlugField(max_length=40, label="Class of worker")


class RerunHow(forms.Form):
    """With what a run is run again."""

    fresh = forms.BooleanField(
        label="With the budget, the image and the dataset version of now, not of then", required=False
    )


class LoggedWhy(forms.Form):
    """A reason that stays among organizers."""

    why = forms.CharField(
        max_length=300,
        label="Why",
        help_text="Kept in the audit log. The entrant reads that the organizers did it and whom to ask, not this.",
    )


class VersionHow(forms.Form):
    """How runs come to a new version of their dataset."""

    how = forms.ChoiceField(
        choices=[("score", "score the predictions again"), ("run", "run the code again")], label="What to do"
    )


def _prize(kind: Callable[..., Action]) -> Callable[[Any], Action]:
    def make(asked: Any) -> Action:
        line = line_of(asked.phase, asked.entrant, clock.now(asked.competition))
        more = {"note": asked.answers["why"]} if "why" in asked.answers else {}
        return kind(by=asked.by, phase=asked.phase, entrant=asked.entrant, line=line, **more)

    return make


def _budget(asked: Any) -> Action:
    return changes.ChangeBudget(by=asked.by, phase=asked.phase, **asked.answers)


IN_PHASES = "manage_phases"  # what acts on a phase or its datasets leads back to their section

OFFERS: dict[str, Offer] = {
    "extend-deadline": Offer(
        "Move the deadline",
        "phase",
        Deadline,
        lambda a: dates.ExtendDeadline(by=a.by, phase=a.phase, **a.answers),
        back=IN_PHASES,
    ),
    "extra-time": Offer(
        "Give extra time",
        "phase",
        ExtraTime,
        lambda a: dates.GiveExtraTime(by=a.by, phase=a.phase, **a.answers),
        back=IN_PHASES,
    ),
    "release": Offer(
        "Release", "phase", Nothing, lambda a: release.Release(by=a.by, phase=a.phase), back=IN_PHASES
    ),
    "reveal": Offer(
        "Reveal the datasets", "phase", Nothing, lambda a: release.Reveal(by=a.by, phase=a.phase), back=IN_PHASES
    ),
    "board": Offer(
        "Show, freeze or hide the board",
        "phase",
        BoardState,
        lambda a: release.SetBoard(by=a.by, phase=a.phase, board=a.answers["board"]),
        back=IN_PHASES,
    ),
    "open-for-ever": Offer(
        "Go on without end",
        "phase",
        Nothing,
        lambda a: release.OpenForEver(by=a.by, phase=a.phase),
        back=IN_PHASES,
    ),
    "rescore": Offer(
        "Score again", "phase", Nothing, lambda a: changes.Rescore(by=a.by, phase=a.phase), back=IN_PHASES
    ),
    "change-budget": Offer("Change the budget", "phase", Limits, _budget, is_dangerous=True, back=IN_PHASES),
    "rescore-task": Offer(
        "Score again",
        "task",
        Nothing,
        lambda a: changes.Rescore(by=a.by, phase=a.task.phase, task=a.task),
        back=IN_PHASES,
    ),
    "change-metric": Offer(
        "Change the metric",
        "task",
        MetricChoice,
        lambda a: changes.ChangeMetric(by=a.by, task=a.task, metric=a.answers["metric"]),
        is_dangerous=True,
        back=IN_PHASES,
    ),
    "use-version": Offer(
        "Use the newest version",
        "task",
        VersionHow,
        lambda a: changes.UseCurrentVersion(by=a.by, task=a.task, run_again=a.answers["how"] == "run"),
        back=IN_PHASES,
    ),
    "rerun": Offer(
        "Run again",
        "submission",
        RerunHow,
        lambda a: moderation.Rerun(by=a.by, submission=a.submission, fresh=a.answers["fresh"]),
    ),
    "rerun-run": Offer(
        "Run again",
        "run",
        RerunHow,
        lambda a: moderation.Rerun(by=a.by, submission=a.submission, run=a.run, fresh=a.answers["fresh"]),
    ),
    "disqualify": Offer(
        "Disqualify",
        "submission",
        LoggedWhy,
        lambda a: moderation.Disqualify(by=a.by, submission=a.submission, why=a.answers["why"]),
        is_dangerous=True,
    ),
    "requalify": Offer(
        "Requalify", "submission", Nothing, lambda a: moderation.Requalify(by=a.by, submission=a.submission)
    ),
    "withdraw": Offer(
        "Withdraw the entrant",
        "entrant",
        LoggedWhy,
        lambda a: moderation.Withdraw(by=a.by, entrant=a.entrant, why=a.answers["why"]),
        is_dangerous=True,
    ),
    "confirm-prize": Offer("Confirm the prize", "prize", Nothing, _prize(prize_actions.Confirm)),
    "decline-prize": Offer("Decline the prize", "prize", Why, _prize(prize_actions.Decline), is_dangerous=True),
    **runs.OFFERS,
}


def acted_on(offer: Offer, competition: Competition, given: Mapping[str, Any]) -> dict[str, Any]:
    """The objects that an action acts on, found within the competition; an id from elsewhere is unknown here."""
    found: dict[str, Any] = dict.fromkeys(("phase", "task", "submission", "run", "entrant"))
    if offer.on in ("phase", "prize"):
        phases = competition.phases().select_related("parent__round")
        found["phase"] = policy.resolved(phases, given.get("phase"), "phase")
    if offer.on == "task":
        tasks = Task.objects.filter(phase__round__competition=competition)
        tasks = tasks.select_related("phase__round__competition", "dataset")
        found["task"] = policy.resolved(tasks, given.get("task"), "task")
        found["phase"] = found["task"].phase
    if offer.on == "run":
        runs = Run.objects.filter(submission__phase__round__competition=competition)
        found["run"] = policy.resolved(runs.select_related("submission"), given.get("run"), "run")
        given = {**given, "submission": found["run"].submission_id}
    if offer.on in ("submission", "run"):
        submissions = Submission.objects.filter(phase__round__competition=competition)
        submissions = submissions.select_related("phase__round__competition", "entrant", "origin__phase")
        found["submission"] = policy.resolved(submissions, given.get("submission"), "submission")
    if offer.on in ("entrant", "prize"):
        found["entrant"] = policy.resolved(competition.entrants.all(), given.get("entrant"), "entrant")
    return found


def subject(found: Mapping[str, Any]) -> str:
    """What an action acts on, as a heading says it."""
    if found["submission"] is not None:
        who = found["submission"]
        on = f", {found['run'].dataset_name}" if found["run"] else ""
        return f"submission {who.number} of {who.entrant.name} in {who.phase.title}{on}"
    parts = [found["task"] and found["task"].name, found["entrant"] and found["entrant"].name]
    parts.append(found["phase"] and found["phase"].title)
    return ", ".join(str(part) for part in parts if part)


def form_for(offer: Offer, competition: Competition, found: Mapping[str, Any], data: Any = None) -> forms.Form:
    """The form of an action, with what is true now filled in."""
    initial: dict[str, Any] = {}
    phase = found["phase"]
    if phase is not None:
        initial = {
            "closes_at": phase.closes_at,
            "move_later": True,
            "board": phase.board,
            **{name: getattr(phase, name) for name in changes.BUDGET},
        }
    if found["task"] is not None:
        initial["metric"] = found["task"].metric
    form = offer.form(data, initial=initial, label_suffix="")
    if "entrant" in form.fields:
        choice = form.fields["entrant"]
        assert isinstance(choice, forms.ModelChoiceField)
        choice.queryset = competition.entrants.order_by("name")
    if "image" in form.fields:
        image = form.fields["image"]
        assert isinstance(image, forms.ChoiceField)
        names = dict.fromkeys([*settings.SANDBOX_IMAGES, *([phase.image] if phase.image else [])])
        image.choices = [("", "The site's own"), *((name, name) for name in names)]
    return form
