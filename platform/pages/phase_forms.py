"""The forms of rounds, phases and their datasets in the studio."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.forms import BoundField

from accounts.models import User
from competitions import guards, policy
from competitions.actions.phases import next_round_number
from competitions.actions.wording import LABELS
from competitions.blueprints import BLUEPRINTS
from competitions.fields import SizeField
from competitions.models import Competition, Phase, Round, Task
from competitions.presets import PRESETS, in_words
from competitions.protocol_check import beside
from datasets.models import Dataset, Metric
from pages.zones import LocalMoment, names

Kind = Phase.Kind
NEW_ROUND = "new"
KINDS = (
    (Kind.TWEAKATHON, "Tweakathon: people submit and see scores at once"),
    (Kind.OPEN, "Open: people submit, beside the order of the protocol"),
    (Kind.FINAL, "Final: test scores of the last entry of the phase before it; nobody submits"),
    (Kind.AUTOML, "AutoML: code of the phase before it runs on unseen datasets; nobody submits"),
)
PRIZES_HELP = "One line for each place, the first place first."
HELP = {
    "round": "Phases of a round stand together.",
    "title": "Empty: made of the kind and the round, such as Tweakathon[1].",
    "closes_at": "Empty: it never closes.",
    "parent": "The phase whose entries a Final or AutoML phase takes over.",
    "daily_quota": "For each entrant, by UTC days. Empty: no limit.",
    "total_quota": "For each entrant. Empty: no limit.",
    "description": "Markdown, shown on the page of phases.",
    "memory_bytes": "With a unit, such as 8 GiB. Empty: all that the worker has.",
    "board": "What everybody sees of it.",
    "any_time": "Complete predictions count although time or memory ran out.",
    "allow_saved_models": "Archives may hold models that were trained before.",
    "trusted_workers_only": "Final and AutoML phases always do so.",
}

# What stays as it is while submissions exist (`competitions.guards`): an action of its own changes the budget.
OF_RUNS = ("kind", "parent", "round", "convention", "preset", *guards.BUDGET)


@dataclass(frozen=True)
class Group:
    """Fields that stand together; the first group is open, another one where something in it is wrong."""

    key: str
    title: str
    fields: Sequence[str]
    hint: str = ""


GROUPS = (
    Group(
        "basics",
        "What and when",
        (
            "kind",
            "title",
            "round",
            "opens_at",
            "closes_at",
            "parent",
            "copies_tasks",
            "daily_quota",
            "total_quota",
        ),
    ),
    Group(
        "budget",
        "Budget of each run",
        (
            *("preset", "wall_seconds", "cores", "memory_bytes", "image", "any_time", "repeats"),
            *("resource_class", "trusted_workers_only"),
        ),
        "Time, cores, memory, image, seeds",
    ),
    Group(
        "ranking",
        "Who counts and what is shown",
        (
            *("counts", "board", "tie_rule", "feedback_part", "score_digits"),
            *("is_anonymous", "release", "reveal", "ranks_baselines", "convention"),
        ),
        "Latest, best or chosen; leaderboard, ties, release",
    ),
    Group(
        "rules",
        "Entries, texts and prizes",
        ("accepts", "carry_over", "allow_saved_models", "track", "description", "prizes"),
        "Code or results, tracks, a description, prizes",
    ),
)


class PhaseForm(forms.ModelForm):  # type: ignore[type-arg]
    """Everything of a phase that organizers set. Rules of the protocol are told at the field they are about."""

    kind = forms.ChoiceField(choices=KINDS, widget=forms.RadioSelect)
    title = forms.CharField(max_length=80, required=False)
    round = forms.ChoiceField()
    opens_at = LocalMoment()
    closes_at = LocalMoment(required=False)
    memory_bytes = SizeField(required=False)
    preset = forms.ChoiceField(
        label="Set to a preset",
        required=False,
        help_text="A preset that is chosen here replaces seconds, cores and memory below.",
    )
    prizes = forms.CharField(
        label="Prizes", required=False, widget=forms.Textarea(attrs={"rows": 3}), help_text=PRIZES_HELP
    )
    copies_tasks = forms.BooleanField(
        label="Give it the datasets of the phase it comes after",
        required=False,
        help_text="With their metrics and times. A Final wants them; a blind phase wants unseen ones.",
    )

    class Meta:
        model = Phase
        fields = tuple(LABELS)
        widgets = {"description": forms.Textarea(attrs={"rows": 4})}

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        instance: Phase | None = None,
        initial: dict[str, Any] | None = None,
        competition: Competition,
        by: User,
        now: dt.datetime,
    ) -> None:
        super().__init__(data, instance=instance, initial=initial, label_suffix="")
        self.competition, self.now = competition, now
        self.submissions = 0
        self.shown_opens, self.shown_closes = self.instance.opens_at, self.instance.closes_at
        self.rounds = {str(one.pk): one for one in competition.rounds.all()}
        for name, label in LABELS.items():
            self.fields[name].label = label
            self.fields[name].help_text = HELP.get(name, self.fields[name].help_text)
        self._choices(by)
        if self.instance.pk is not None:
            del self.fields["copies_tasks"]
            self.initial["round"] = str(self.instance.round_id)
            self.initial["prizes"] = "\n".join(self.instance.prizes.values_list("title", flat=True))
            self.submissions = self.instance.submissions.count()
        for name in OF_RUNS if self.submissions else ():
            self.fields[name].disabled = True

    def _choices(self, by: User) -> None:
        number = next_round_number([one.number for one in self.rounds.values()])
        rounds = [(pk, str(one)) for pk, one in self.rounds.items()]
        self._choose("round", [*rounds, (NEW_ROUND, f"A new one: round {number}")])
        self._choose("preset", [("", "Keep the numbers below"), *((p.name, p.title) for p in PRESETS.values())])
        images = [(name, name) for name in policy.usable_images(by, self.competition)]
        kept = self.instance.image
        if kept and kept not in dict(images):
            images.append((kept, f"{kept} (not allowed any more)"))
        self._choose("image", [("", "The site's own"), *images])
        parents = self.fields["parent"]
        assert isinstance(parents, forms.ModelChoiceField)
        found = policy.usable_parents(by, self.competition)
        parents.queryset = found.exclude(pk=self.instance.pk) if self.instance.pk else found
        parents.empty_label = "No other phase"

    def _choose(self, name: str, choices: Iterable[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = list(choices)
        field.widget.choices = field.choices

    def clean_round(self) -> Round:
        """The round itself; a new one is not saved yet."""
        chosen = self.cleaned_data["round"]
        if chosen == NEW_ROUND:
            number = next_round_number([one.number for one in self.rounds.values()])
            return Round(competition=self.competition, number=number)
        found = self.rounds[chosen]
        found.competition = self.competition
        return found

    def clean_opens_at(self) -> dt.datetime | None:
        """With its seconds where it was not touched."""
        return _unless_shown(self.cleaned_data["opens_at"], self.shown_opens, self.fields["opens_at"])

    def clean_closes_at(self) -> dt.datetime | None:
        """With its seconds where it was not touched."""
        return _unless_shown(self.cleaned_data["closes_at"], self.shown_closes, self.fields["closes_at"])

    def clean_prizes(self) -> list[str]:
        """The titles, one for each place."""
        titles = [line.strip() for line in self.cleaned_data["prizes"].splitlines() if line.strip()]
        if len(titles) > 20 or any(len(title) > 120 for title in titles):
            raise forms.ValidationError("Name 20 prizes at most, each with 120 characters at most.")
        return titles

    def clean(self) -> dict[str, Any]:
        """Fill in what follows from other fields: the title, the numbers of a preset."""
        given = super().clean() or self.cleaned_data
        group: Round | None = given.get("round")
        if not given.get("title") and group is not None and given.get("kind"):
            given["title"] = self._title(given["kind"], group.number)
        if given.get("preset") and group is not None:
            given |= PRESETS[given["preset"]].fields(group.number)
        return given

    def _title(self, kind: str, number: int) -> str:
        """A title that no other phase of the competition has."""
        words = {Kind.TWEAKATHON: "Tweakathon", Kind.FINAL: "Final", Kind.AUTOML: "AutoML", Kind.OPEN: "Open"}
        wanted = title = f"{words[Kind(kind)]}[{number}]"
        others = self.competition.phases()
        taken = {phase.title for phase in others if phase.pk != self.instance.pk}
        count = 2
        while title in taken:
            title, count = f"{wanted} {count}", count + 1
        return title

    def _get_validation_exclusions(self) -> set[str]:
        """A round that is saved with the phase has no id yet; an image that stays may be one of before."""
        excluded: set[str] = super()._get_validation_exclusions()  # type: ignore[misc]
        group = self.cleaned_data.get("round")
        if group is not None and group.pk is None:
            excluded |= {"round"}
        return excluded if "image" in self.changed_data else excluded | {"image"}

    def _post_clean(self) -> None:
        """The model's own rules, and whether the dates of a phase that has submissions may move so."""
        super()._post_clean()  # type: ignore[misc]
        if self.instance.pk is None:
            if not self.errors and self.instance.round.pk is None:
                for problem in beside(self.instance, list(self.competition.phases())):
                    self.add_error(problem.field or None, str(problem))
            return
        if "opens_at" in self.errors or "closes_at" in self.errors:
            return
        before = Phase.objects.get(pk=self.instance.pk)
        for name, message in guards.moved_dates(before, self.instance, self.now).items():
            self.add_error(name, message)

    def values(self) -> dict[str, Any]:
        """What the action sets."""
        return {name: self.cleaned_data[name] for name in LABELS if name in self.cleaned_data}

    def groups(self) -> list[tuple[Group, list[BoundField], bool]]:
        """The groups with their fields, and whether each is open from the start; a phase says what holds in it."""
        standing = _standing(self.instance) if self.instance.pk is not None and not self.is_bound else {}
        found = []
        for place, group in enumerate(GROUPS):
            fields = [self[name] for name in group.fields if name in self.fields]
            told = replace(group, hint=standing.get(group.key, group.hint))
            found.append((told, fields, place == 0 or any(field.errors for field in fields)))
        return found


def _standing(phase: Phase) -> dict[str, str]:
    """What stands in the folded groups of a phase's form, by their keys."""
    digits = f"{phase.score_digits} digits of {phase.get_feedback_part_display()} scores"
    entries = [phase.get_accepts_display()]
    entries += [
        what
        for what, holds in (("entries carried over", phase.carry_over), (f"track {phase.track}", phase.track))
        if holds
    ]
    count = phase.prizes.count()
    entries += [f"{count} prize{'' if count == 1 else 's'}"] if count else []
    return {
        "budget": in_words(phase, []),
        "ranking": f"{phase.get_counts_display()} counts; {phase.get_board_display()}; {digits}",
        "rules": ", ".join(entries),
    }


def _unless_shown(moment: dt.datetime | None, shown: dt.datetime | None, field: forms.Field) -> dt.datetime | None:
    assert isinstance(field, LocalMoment)
    return field.unless_shown(moment, shown) if shown is not None else moment


class DatesForm(forms.Form):
    """Opening and close of one phase in the timeline."""

    opens_at = LocalMoment(label="Opens")
    closes_at = LocalMoment(label="Closes", required=False)

    def __init__(self, data: Mapping[str, Any] | None = None, *, phase: Phase, may_move: bool) -> None:
        shown = {"opens_at": phase.opens_at, "closes_at": phase.closes_at}
        super().__init__(data, prefix=f"phase-{phase.pk}", initial=shown, label_suffix="")
        self.phase = phase
        for name, field in self.fields.items():
            field.disabled = not may_move
            field.widget.attrs |= {"aria-label": f"{phase.title} {name.removesuffix('_at')}", "step": "60"}

    def dates(self) -> tuple[dt.datetime, dt.datetime | None]:
        """The two moments; what was not touched keeps its seconds."""
        opens = _unless_shown(self.cleaned_data["opens_at"], self.phase.opens_at, self.fields["opens_at"])
        closes = _unless_shown(self.cleaned_data["closes_at"], self.phase.closes_at, self.fields["closes_at"])
        assert opens is not None
        return opens, closes


class RoundForm(forms.ModelForm):  # type: ignore[type-arg]
    """Number and name of a round."""

    class Meta:
        model = Round
        fields = ("number", "name")
        help_texts = {"number": "0 for the preparation, then 1, 2, 3 …", "name": "Such as Novice."}

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        instance: Round,
        initial: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(data, instance=instance, initial=initial, label_suffix="")

    def clean_number(self) -> int:
        """It must be free in the competition."""
        number: int = self.cleaned_data["number"]
        others = self.instance.competition.rounds.exclude(pk=self.instance.pk)
        if others.filter(number=number).exists():
            raise forms.ValidationError(f"There is a round {number} already.")
        return number


class FillForm(forms.Form):
    """Which template an empty competition is filled from, and when it starts."""

    blueprint = forms.ChoiceField(label="Template", widget=forms.RadioSelect)
    start = LocalMoment(label="The first phase opens")

    def __init__(self, data: Mapping[str, Any] | None = None, *, initial: dict[str, Any] | None = None) -> None:
        super().__init__(data, initial=initial, label_suffix="")
        field = self.fields["blueprint"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(one.name, _described(one.name)) for one in BLUEPRINTS.values()]
        self.initial.setdefault("blueprint", next(iter(BLUEPRINTS)))


def _described(name: str) -> str:
    blueprint = BLUEPRINTS[name]
    count = len(blueprint.shapes)
    return f"{blueprint.title}, {count} phase{'' if count == 1 else 's'}: {blueprint.summary}"


class ZoneForm(forms.Form):
    """In which time zone a person types moments; empty: the browser's."""

    time_zone = forms.ChoiceField(label="Time zone", required=False)

    def __init__(self, data: Mapping[str, Any] | None = None, *, initial: dict[str, Any] | None = None) -> None:
        super().__init__(data, initial=initial, label_suffix="")
        field = self.fields["time_zone"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", "As my browser says"), *((name, name) for name in names())]


class TaskForm(forms.Form):
    """What a phase asks on one of its datasets."""

    order = forms.IntegerField(label="Place", min_value=1, max_value=1000)
    alias = forms.SlugField(max_length=60, required=False)
    metric = forms.ChoiceField(required=False)
    wall_seconds = forms.FloatField(label="Seconds", min_value=1, required=False)
    is_removed = forms.BooleanField(label="Take out", required=False)

    def __init__(self, data: Mapping[str, Any] | None = None, *, task: Task, is_bound_by_runs: bool) -> None:
        shown = {
            "order": task.order + 1,
            "alias": task.alias,
            "metric": task.metric,
            "wall_seconds": task.wall_seconds,
        }
        super().__init__(data, prefix=f"task-{task.pk}", initial=shown, label_suffix="")
        self.task = task
        metric = self.fields["metric"]
        assert isinstance(metric, forms.ChoiceField)
        version = task.dataset.current
        own = f"Its own{f', {version.metric}' if version else ''}"
        metric.choices = [("", own), *((value, value) for value in Metric.values)]
        frozen = ("metric", "wall_seconds", "is_removed") if is_bound_by_runs else ()
        if is_bound_by_runs and task.phase.is_blind:
            frozen = (*frozen, "alias", "order")
        for name, field in self.fields.items():
            field.disabled = name in frozen
            field.widget.attrs["aria-label"] = f"{task.dataset.title}: {field.label or name}"


class AddTasksForm(forms.Form):
    """Which datasets go into which phases."""

    datasets = forms.ModelMultipleChoiceField(Dataset.objects.none(), widget=forms.CheckboxSelectMultiple)
    phases = forms.ModelMultipleChoiceField(Phase.objects.none(), widget=forms.CheckboxSelectMultiple)
    metric = forms.ChoiceField(
        required=False, choices=[("", "Each dataset's own"), *Metric.choices], label="Metric"
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        initial: dict[str, Any] | None = None,
        competition: Competition,
        by: User,
    ) -> None:
        super().__init__(data, initial=initial, label_suffix="")
        for name, found in (("datasets", policy.usable_datasets(by)), ("phases", competition.phases())):
            field = self.fields[name]
            assert isinstance(field, forms.ModelMultipleChoiceField)
            field.queryset = found
