"""Whether the phases of a competition make a protocol: pure rules over phases, saved or not.

Used by `clean()`, by the templates, and wherever phases are edited.
"""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from django.core.exceptions import ValidationError

from competitions.models.protocol import Extension, Phase, Task

Datasets = Mapping[int, Sequence[int]]


@dataclass(frozen=True)
class ProtocolProblem:
    """One thing that is wrong: where, what, and what to do. A warning does not stand in the way."""

    place: str
    message: str
    mend: str
    is_warning: bool = False
    field: str = ""

    def __str__(self) -> str:
        return f"{self.message} {self.mend}".strip()


def check_protocol(
    phases: Sequence[Phase],
    datasets: Datasets,
    *,
    names: Mapping[int, Sequence[str]] | None = None,
    now: dt.datetime | None = None,
) -> list[ProtocolProblem]:
    """Everything that is wrong with the phases of one competition, refusals first.

    `datasets` maps the number of a phase to the ids of its datasets, `names` to their shown names. A phase
    without datasets is a warning until it opens: `now` decides, and without it nothing has opened.
    """
    problems: list[ProtocolProblem] = []
    for phase in phases:
        problems += dates_and_parent(phase)
    by_number = {phase.number: phase for phase in phases}
    if len(by_number) < len(phases):
        double = next(number for number, count in Counter(phase.number for phase in phases).items() if count > 1)
        problems.append(
            ProtocolProblem(f"Phase {double}", f"Two phases have the number {double}.", "Number them 1, 2, 3 …")
        )
    problems += _overlaps(phases)
    for phase in phases:
        problems += _datasets(phase, phases, datasets, now)
        problems += _names(phase, (names or {}).get(phase.number, ()))
    return sorted(problems, key=lambda problem: problem.is_warning)


def check_competition(
    phases: Sequence[Phase], *, now: dt.datetime | None = None, sees_hidden: bool = True
) -> list[ProtocolProblem]:
    """`check_protocol` for phases that are in the database, with their tasks: two queries.

    Without `sees_hidden` nothing is said of the names of datasets, which may be secret still.
    """
    by_id = {phase.pk: phase for phase in phases}
    for phase in phases:
        if phase.parent_id in by_id:
            phase.parent = by_id[phase.parent_id]  # so that going up from child to parent asks no query
    tasks = Task.objects.filter(phase__in=by_id).select_related("dataset").prefetch_related("dataset__versions")
    datasets: dict[int, list[int]] = {}
    names: dict[int, list[str]] = {}
    for task in tasks:
        task.phase = by_id[task.phase_id]
        datasets.setdefault(task.phase.number, []).append(task.dataset_id)
        names.setdefault(task.phase.number, []).append(task.name)
    return check_protocol(phases, datasets, names=names if sees_hidden else None, now=now)


def beside(phase: Phase, others: Sequence[Phase]) -> list[ProtocolProblem]:
    """What stands against adding a phase to others; what is wrong with them already does not."""
    known = {str(one) for one in check_protocol(others, {})}
    found = check_protocol([*others, phase], {})
    return [one for one in found if not one.is_warning and str(one) not in known]


def clean_phase(phase: Phase) -> None:
    """Raise ValidationError where a phase that is edited by itself breaks a rule of dates or parents."""
    problems = dates_and_parent(phase)
    if phase.round_id and not problems:
        others = Phase.objects.filter(round__competition=phase.round.competition_id).exclude(pk=phase.pk)
        problems = [*_overlaps([*others.select_related("round"), phase], only=phase)]
        problems += _children(phase)
        problems += extra_time([phase], Extension.objects.filter(phase=phase.parent_id))
    refused = [problem for problem in problems if not problem.is_warning]
    if refused:
        by_field: dict[str, list[str]] = {}
        for problem in refused:
            by_field.setdefault(problem.field or "__all__", []).append(str(problem))
        raise ValidationError(by_field)


def dates_and_parent(phase: Phase) -> list[ProtocolProblem]:
    """What is wrong with one phase's own dates and with the parent it names."""
    if phase.opens_at is None:
        return []  # the form says already that it is missing
    problems = []

    def add(message: str, mend: str, field: str) -> None:
        problems.append(ProtocolProblem(phase.title, message, mend, field=field))

    if phase.closes_at and phase.closes_at <= phase.opens_at:
        add(
            f"{phase.title} is reversed: it closes before it opens, or at the same moment.",
            "A phase must close after it opens.",
            "closes_at",
        )
    parent = phase.parent
    if parent is None:
        if phase.is_hidden:
            add(
                f"{phase.title} has no parent.",
                "A Final or AutoML phase names the phase its entries come from.",
                "parent",
            )
        if phase.carry_over:
            add(f"{phase.title} carries entries over, but from nowhere.", "Name its parent phase.", "parent")
        return problems
    if _is_elsewhere(parent, phase):
        add(
            f"The parent of {phase.title} belongs to another competition.", "Choose a phase of this one.", "parent"
        )
        return problems
    if _is_circle(phase):
        add(f"{phase.title} comes from itself, by its parents.", "Parents must not make a circle.", "parent")
        return problems
    if parent.opens_at >= phase.opens_at:
        add(
            f"{parent.title}, the parent of {phase.title}, comes later or at the same time.",
            "A parent must open before.",
            "parent",
        )
    elif phase.is_hidden or phase.carry_over:
        problems += _follows(parent, phase)
    if phase.is_blind and parent.accepts == Phase.Accepts.RESULTS:
        add(
            f"{parent.title} takes results only, so no code could ever reach {phase.title}.",
            f"Let {parent.title} take code.",
            "parent",
        )
    return problems


def _is_elsewhere(parent: Phase, phase: Phase) -> bool:
    """Whether they belong to two competitions; phases of a template that are not saved belong to none."""
    return parent.round.competition_id != phase.round.competition_id


def _is_circle(phase: Phase) -> bool:
    seen: list[Phase] = []
    at: Phase | None = phase
    while at is not None:
        if any(at is one or (at.pk is not None and at.pk == one.pk) for one in seen):
            return True
        seen.append(at)
        at = at.parent
    return False


def _follows(parent: Phase, phase: Phase) -> list[ProtocolProblem]:
    """A phase that takes over its parent's entries cannot begin before those are known."""
    if parent.closes_at is None:
        what = f"{phase.title} takes over the entries of {parent.title}, which never closes."
        return [ProtocolProblem(phase.title, what, f"Give {parent.title} a closing date.", field="parent")]
    if parent.closes_at > phase.opens_at:
        what = f"{phase.title} overlaps its parent {parent.title}, which closes after it opens."
        mend = "Let it open when its parent closes, or later."
        return [ProtocolProblem(phase.title, what, mend, field="opens_at")]
    return []


def _children(phase: Phase) -> list[ProtocolProblem]:
    if phase.pk is None:
        return []
    problems = []
    for child in phase.children.select_related("round"):
        child.parent = phase
        problems += [problem for problem in dates_and_parent(child) if problem.field in ("parent", "opens_at")]
    return [
        ProtocolProblem(one.place, one.message, one.mend, one.is_warning, field="closes_at") for one in problems
    ]


def extra_time(phases: Iterable[Phase], extensions: Iterable[Extension]) -> list[ProtocolProblem]:
    """Extra time in a phase that would end after the datasets of the blind phase which follows are shown."""
    given = list(extensions)
    return [
        ProtocolProblem(
            phase.title,
            f"Extra time of an entrant ends after {phase.title} closes and shows its datasets.",
            "Let it close when that time is over, or later.",
            field="closes_at",
        )
        for phase in phases
        if phase.is_blind and phase.closes_at is not None
        if any(one.phase_id == phase.parent_id and one.closes_at > phase.closes_at for one in given)
    ]


def _overlaps(phases: Sequence[Phase], only: Phase | None = None) -> Iterator[ProtocolProblem]:
    """Phases of one kind in one track stand one after the other; open phases may stand anywhere."""
    dated = [phase for phase in phases if phase.kind != Phase.Kind.OPEN and phase.opens_at is not None]
    dated.sort(key=lambda phase: phase.opens_at)
    for first, second in combinations(dated, 2):
        if only is not None and only is not first and only is not second:
            continue
        same = first.kind == second.kind and first.track == second.track
        if same and (first.closes_at is None or first.closes_at > second.opens_at):
            track = f" of the track {first.track}" if first.track else ""
            yield ProtocolProblem(
                second.title,
                f"{first.title} and {second.title}{track} overlap.",
                "Let one close before the other opens, or give them different tracks.",
                field="opens_at",
            )


def _datasets(
    phase: Phase, phases: Sequence[Phase], datasets: Datasets, now: dt.datetime | None
) -> Iterator[ProtocolProblem]:
    own = set(datasets.get(phase.number, ()))
    if not own and is_sent_on(phase, phases):
        return
    if not own:
        takes_nothing = 0 in (phase.daily_quota, phase.total_quota)
        has_opened = now is not None and phase.has_begun(now) and not takes_nothing
        yield ProtocolProblem(
            phase.title, f"{phase.title} has no datasets.", "Add them before it opens.", is_warning=not has_opened
        )
        return
    if phase.is_blind:
        for earlier in phases:
            shown = own & set(datasets.get(earlier.number, ()))
            if shown and earlier.number != phase.number and _shows_before(earlier, phase):
                count = f"{len(shown)} of its datasets" if len(shown) > 1 else "one of its datasets"
                yield ProtocolProblem(
                    phase.title,
                    f"{phase.title} is blind, but {earlier.title} shows {count} before.",
                    "Choose datasets that nobody has seen.",
                    is_warning=True,
                )
    parent = phase.parent
    theirs = set(datasets.get(parent.number, ())) if parent is not None else set()
    if parent is not None and theirs and own != theirs:
        if phase.kind == Phase.Kind.FINAL:
            what = f"{phase.title} has other datasets than {parent.title}, whose entries it reveals."
            yield ProtocolProblem(phase.title, what, "Give both the same datasets.", is_warning=True)
        elif phase.takes_submissions and phase.carry_over:
            what = f"{phase.title} has other datasets than {parent.title}: carried code runs on them again."
            yield ProtocolProblem(phase.title, what, "Give both the same datasets, or mean it.", is_warning=True)


def is_sent_on(phase: Phase, phases: Iterable[Phase]) -> bool:
    """Whether what is sent to a phase runs in others, so that it needs no datasets of its own."""
    return phase.pk is not None and any(other.fans_out_from_id == phase.pk for other in phases)


def _shows_before(earlier: Phase, phase: Phase) -> bool:
    """Whether entrants know the datasets of `earlier` before the blind phase has closed."""
    if not earlier.is_blind:
        known_at: dt.datetime | None = earlier.opens_at
    elif earlier.reveal == Phase.When.AT_CLOSE:
        known_at = earlier.closes_at
    else:
        known_at = None
    return known_at is not None and (phase.closes_at is None or known_at < phase.closes_at)


def _names(phase: Phase, names: Sequence[str]) -> Iterator[ProtocolProblem]:
    for name, count in Counter(names).items():
        if count > 1:
            yield ProtocolProblem(
                phase.title, f"Two datasets of {phase.title} go by the name {name}.", "Give one another alias."
            )
