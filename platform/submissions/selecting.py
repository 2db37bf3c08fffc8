"""Which submissions of a competition an organizer wants to see: filters, search, order, a page at a time by keys.

A page is found by the keys of the submission it follows, not by counting rows from the beginning: the hundredth
page costs what the first does, and what arrives in the meantime moves nobody to another page.
"""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from django.db.models import Count, F, IntegerField, OrderBy, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from accounts.models import User
from competitions.models import Entrant, Phase, Task
from submissions.models import Reason, Run, RunState, Submission

PER_PAGE = 50
LONGEST_SEARCH = 80
DISQUALIFIED = "disqualified"
STATES = {**dict(Submission.State.choices), DISQUALIFIED: "disqualified"}
ENDED_STATES = (RunState.FINISHED, RunState.FAILED, RunState.CANCELLED)  # in which a run has a reason

# Keys of an order, with whether each falls. The last one tells any two submissions apart.
Keys = tuple[tuple[str, bool], ...]
ORDERS: dict[str, tuple[str, Keys]] = {
    "newest": ("newest first", (("received_at", True), ("pk", True))),
    "oldest": ("oldest first", (("received_at", False), ("pk", False))),
    "entrant": (
        "by entrant",
        (("entrant__name", False), ("entrant", False), ("received_at", True), ("pk", True)),
    ),
}


@dataclass(frozen=True)
class Filter:
    """What is asked for; values that no allow-list knows are left out when it is read."""

    q: str = ""
    phase: int | None = None  # its number
    state: str = ""
    kind: str = ""
    arrival: str = ""
    failed_on: int | None = None  # a task
    reason: str = ""
    entrant: int | None = None
    order: str = "newest"

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> "Filter":
        """The filter of an address or a form."""

        def one_of(name: str, allowed: Iterable[str]) -> str:
            value = str(given.get(name, ""))
            return value if value in allowed else ""

        return cls(
            q=" ".join(str(given.get("q", "")).replace("\0", "").split())[:LONGEST_SEARCH],
            phase=number(given.get("phase")),
            state=one_of("state", STATES),
            kind=one_of("kind", Submission.Kind.values),
            arrival=one_of("arrival", Submission.Arrival.values),
            failed_on=number(given.get("failed_on")),
            reason=one_of("reason", Reason.values),
            entrant=number(given.get("entrant")),
            order=one_of("order", ORDERS) or "newest",
        )

    @property
    def asked(self) -> dict[str, str]:
        """What an address needs to ask for the same; what is as usual is left out."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: str(value) for name, value in values.items() if value not in ("", None, "newest")}

    @property
    def narrows(self) -> bool:
        """Whether it leaves anything out."""
        return bool(self.asked.keys() - {"order"})

    @property
    def tells_outcomes(self) -> bool:
        """Whether its answer tells how runs ended, which in hidden phases not everybody may know."""
        return bool(self.state in dict(Submission.State.choices) or self.failed_on or self.reason)

    @property
    def keys(self) -> Keys:
        """The keys of the order."""
        return ORDERS[self.order][1]


def number(value: object) -> int | None:
    """The number that a part of an address gives; None for none and for what is no number."""
    text = str(value or "")
    return int(text) if text.isdecimal() and len(text) < 16 else None


def concealed(phases: Iterable[Phase], *, sees_hidden: bool, now: dt.datetime) -> list[Phase]:
    """The phases of which the viewer may not know how runs ended."""
    return [phase for phase in phases if phase.is_hidden and not sees_hidden and not phase.is_released(now)]


def matching(
    phases: Sequence[Phase], wanted: Filter, *, sees_hidden: bool, now: dt.datetime
) -> QuerySet[Submission]:
    """The submissions to these phases, all of one competition, that match.

    Phases of which the viewer may not know how runs ended are left out where the answer would tell it.
    """
    chosen = [phase for phase in phases if wanted.phase is None or phase.number == wanted.phase]
    if wanted.tells_outcomes:
        left_out = {phase.pk for phase in concealed(chosen, sees_hidden=sees_hidden, now=now)}
        chosen = [phase for phase in chosen if phase.pk not in left_out]
    found: QuerySet[Submission] = Submission.objects.filter(phase__in=[phase.pk for phase in chosen])
    if wanted.state == DISQUALIFIED:
        found = found.filter(disqualified_at__isnull=False)
    elif wanted.state:
        found = found.filter(state=wanted.state)
    plain = {"kind": wanted.kind, "arrival": wanted.arrival, "entrant": wanted.entrant}
    found = found.filter(**{name: value for name, value in plain.items() if value})
    if wanted.failed_on or wanted.reason:
        found = found.filter(pk__in=_runs(chosen, wanted).values("submission"))
    return found.filter(_search(phases, wanted.q)) if wanted.q else found


def _runs(phases: Sequence[Phase], wanted: Filter) -> QuerySet[Run]:
    """The runs that failed on the dataset, or for the reason, that is asked for."""
    tasks = Task.objects.filter(phase__in=[phase.pk for phase in phases]).order_by()
    runs = Run.objects.filter(task__in=tasks.values("pk")).order_by()
    if wanted.failed_on:
        runs = runs.filter(task=wanted.failed_on, state=RunState.FAILED)
    return runs.filter(state__in=ENDED_STATES, reason=wanted.reason) if wanted.reason else runs


def _search(phases: Sequence[Phase], text: str) -> Q:
    """A number, a part of a name or of a file's name, or the beginning of an archive's digest."""
    entrants = Entrant.objects.filter(competition__in={phase.round.competition_id for phase in phases})
    digits = text.removeprefix("#")
    found = (
        Q(entrant__in=entrants.filter(name__icontains=text).values("pk"))
        | Q(user__in=User.objects.filter(username__iexact=text).values("pk"))
        | Q(filename__icontains=text)
    )
    if len(text) >= 8:
        found |= Q(sha256__startswith=text.lower())
    return found | Q(number=int(digits)) if digits.isdecimal() and len(digits) < 9 else found


@dataclass(frozen=True)
class Page:
    """Some submissions in order, `total` of all that match, and whether there are others on either side."""

    submissions: list[Submission]
    total: int
    has_before: bool
    has_after: bool

    @property
    def first(self) -> int | None:
        """The submission that the page before ends in front of."""
        return self.submissions[0].pk if self.has_before and self.submissions else None

    @property
    def last(self) -> int | None:
        """The submission that the page after follows."""
        return self.submissions[-1].pk if self.has_after and self.submissions else None


def page_of(
    found: QuerySet[Submission],
    wanted: Filter,
    phases: Sequence[Phase],
    *,
    after: int | None = None,
    before: int | None = None,
    load: QuerySet[Submission] | None = None,
) -> Page:
    """The page that follows a submission, or that ends in front of one; the first without either. One query.

    `phases` are those of the competition: a submission to any other is no place to go on from. `load` says what
    is read with each submission, in place of the submission alone.
    """
    backwards = before is not None and after is None
    keys = tuple((name, falls != backwards) for name, falls in wanted.keys)
    ordered = found.order_by(*(OrderBy(F(name), descending=falls) for name, falls in keys))
    beyond = before if backwards else after
    if beyond is not None:
        marks = Submission.objects.filter(pk=beyond, phase__in=[phase.pk for phase in phases])
        ordered = ordered.filter(_beyond(keys, marks))
    counted = found.order_by().annotate(one=Value(1)).values("one").annotate(many=Count("pk")).values("many")
    rows = (Submission.objects.all() if load is None else load).filter(pk__in=ordered.values("pk")[: PER_PAGE + 1])
    rows = rows.annotate(matching=Coalesce(Subquery(counted, output_field=IntegerField()), 0))
    listed: list[Submission] = list(rows.order_by(*(OrderBy(F(name), descending=falls) for name, falls in keys)))
    more, listed = len(listed) > PER_PAGE, listed[:PER_PAGE]
    if beyond is not None and not listed:
        return page_of(found, wanted, phases, load=load)
    total = getattr(listed[0], "matching", 0) if listed else 0
    if backwards:
        return Page(listed[::-1], total, has_before=more, has_after=True)
    return Page(listed, total, has_before=after is not None, has_after=more)


def _beyond(keys: Keys, mark: QuerySet[Submission]) -> Q:
    """What comes after the submission `mark` in the order of the keys.

    Written so that the outermost condition is a range of the first key, which an index answers.
    """
    (name, falls), *rest = keys
    value = Subquery(mark.values(name)[:1])
    further = Q(**{f"{name}__{'lt' if falls else 'gt'}": value})
    if not rest:
        return further
    return Q(**{f"{name}__{'lte' if falls else 'gte'}": value}) & (further | _beyond(tuple(rest), mark))
