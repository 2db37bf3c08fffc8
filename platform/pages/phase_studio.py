"""What the Phases section of the studio shows: rounds, phases with their dates, datasets and problems."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Count
from django.utils import timezone

from competitions.lifecycle import phase_state
from competitions.models import Phase, Round, Task
from competitions.presets import in_words
from competitions.protocol_check import ProtocolProblem, check_competition
from pages import timeline
from pages.facts import TaskFacts, of_phase, tasks_of
from pages.frame import Frame
from pages.phase_forms import DatesForm
from submissions.models import Submission


@dataclass(frozen=True)
class Row:
    """One phase: its bar and its dates, its datasets and what is wrong with it.

    `may_move`: its dates are not settled by what happened in it. `may_follow`: a phase may take its entries over.
    """

    phase: Phase
    state: str
    form: DatesForm
    bar: timeline.Bar
    tasks: list[TaskFacts]
    budget: str
    submissions: int
    may_move: bool
    problems: list[ProtocolProblem] = field(default_factory=list)

    @property
    def may_follow(self) -> bool:
        """Whether a Final or AutoML phase can come after it."""
        return self.phase.takes_submissions and self.phase.closes_at is not None

    @property
    def may_be_removed(self) -> bool:
        """Whether nothing was submitted to it."""
        return self.submissions == 0


@dataclass(frozen=True)
class Section:
    """The whole page: the picture, and the rows by rounds; a round without phases has no rows."""

    picture: timeline.Timeline | None
    groups: list[tuple[Round, list[Row]]]

    @property
    def rows(self) -> list[Row]:
        """Every phase in the competition's order."""
        return sorted((row for _, rows in self.groups for row in rows), key=lambda row: row.phase.number)


def section(shown: Frame, *, data: Mapping[str, str] | None = None) -> Section:
    """The rows of a competition; with `data` the forms of dates hold what was sent. Nine queries."""
    phases, now = shown.phases, shown.now
    counts = _submissions(phases)
    revealed = set(
        Task.objects.filter(phase__in=phases, revealed_at__isnull=False).values_list("phase", flat=True)
    )
    tasks = tasks_of(phases, now, sees_hidden=shown.sees_hidden)
    problems: dict[str, list[ProtocolProblem]] = {}
    for problem in check_competition(phases, now=now, sees_hidden=shown.sees_hidden):
        problems.setdefault(problem.place, []).append(problem)
    picture = timeline.draw(phases, now)
    rows: dict[int, list[Row]] = {}
    for phase, bar in zip(phases, picture.bars if picture else (), strict=True):
        may_move = not (phase.has_ended(now) and (counts[phase.pk] or phase.pk in revealed))
        own = of_phase(tasks, phase)
        row = Row(
            phase,
            phase_state(phase, now),
            DatesForm(data, phase=phase, may_move=may_move and shown.viewer.may_edit),
            bar,
            own,
            in_words(phase, [one.wall_seconds for one in own if one.is_revealed]),
            counts[phase.pk],
            may_move,
            problems.get(phase.title, []),
        )
        rows.setdefault(phase.round_id, []).append(row)
    return Section(picture, [(one, rows.get(one.pk, [])) for one in shown.competition.rounds.all()])


def _submissions(phases: Sequence[Phase]) -> Counter[int]:
    """How many submissions each phase has, by its id: one query."""
    found = Submission.objects.filter(phase__in=phases).order_by()
    return Counter(dict(found.values_list("phase").annotate(Count("pk"))))


def suggested(shown: Frame, kind: str, parent: Phase | None) -> dict[str, object]:
    """What a new phase of this kind, maybe after another one, begins with: the values of its form's fields."""
    week = dt.timedelta(days=7)
    if parent is not None and parent.closes_at is not None:
        is_blind = kind == Phase.Kind.AUTOML
        later = [one for one in shown.competition.rounds.all() if one.number > parent.round.number]
        group = (str(later[0].pk) if later else "new") if is_blind else str(parent.round_id)
        budget = ("wall_seconds", "cores", "memory_bytes", "image", "resource_class", "track", "tie_rule")
        return {
            "kind": kind,
            "parent": parent.pk,
            "round": group,
            "opens_at": parent.closes_at,
            "closes_at": parent.closes_at + week,
            "copies_tasks": kind == Phase.Kind.FINAL,
            **{name: getattr(parent, name) for name in budget},
        }
    rounds = list(shown.competition.rounds.all())
    ends = [phase.closes_at for phase in shown.phases if phase.closes_at is not None]
    begin = max([*ends, next_midnight(shown.now)])
    return {
        "kind": kind,
        "round": str(rounds[-1].pk) if rounds else "new",
        "opens_at": begin,
        "closes_at": begin + 4 * week,
    }


def next_midnight(now: dt.datetime) -> dt.datetime:
    """The beginning of the next day in the person's own zone."""
    own = timezone.localtime(now) + dt.timedelta(days=1)
    return own.replace(hour=0, minute=0, second=0, microsecond=0).astimezone(dt.UTC)
