"""The studio's rehearsal: starting it, moving its clock on, what came of it, throwing it away."""

import datetime as dt
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.refusals import Refused
from competitions import clock
from competitions.models import Competition
from pages import frame, studio
from pages.answers import tells_refusals
from pages.views.studio.doing import editors_frame, person
from pages.zones import in_own_zone
from submissions.deletion import ThrowAwayRehearsal
from submissions.models import RunState
from submissions.models.worker import living_workers
from submissions.rehearsal.advance import AdvanceRehearsal, Stop, catch_up
from submissions.rehearsal.report import Part, PhaseReport, report
from submissions.rehearsal.start import StartRehearsal, rehearsal_of

MOST_HOURS = 24 * 366
LARGEST = 1e9  # seconds: thirty years
CHIPS = {
    RunState.FINISHED: "good",
    RunState.FAILED: "bad",
    RunState.CANCELLED: "plain",
    RunState.QUEUED: "waiting",
}
STATE_CHIPS = {"open": "good", "released": "gold"}


@login_required
@never_cache
@require_safe
@in_own_zone
@tells_refusals
def rehearsal(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Where the rehearsal stands, or its live part alone. A rehearsal has the page of what it rehearses."""
    shown = studio.opened(request, slug)
    if shown.competition.rehearses is not None:
        return redirect("manage_rehearsal", shown.competition.rehearses.slug)
    found = rehearsal_of(shown.competition)
    if found is None:
        context = studio.context(shown, "rehearsal", **_before(shown))
        return render(request, "studio/rehearsal_start.html", context)
    template = "studio/rehearsal_part.html" if request.headers.get("HX-Request") else "studio/rehearsal.html"
    return render(request, template, studio.context(shown, "rehearsal", **_standing(found)))


def _before(shown: frame.Frame) -> dict[str, object]:
    """What the start would make, or why there can be none."""
    action = StartRehearsal(by=None, contest=shown.competition)
    try:
        action.check(shown.now)
    except Refused as refused:
        return {"refused": refused}
    return {"preview": action.preview(shown.now), "has_worker": bool(living_workers())}


@dataclass(frozen=True)
class Cell:
    """What an entrant has in a phase, as the page shows it: chips of (how many runs in which state, style)."""

    part: Part
    chips: list[tuple[str, str]]


@dataclass(frozen=True)
class Card:
    """A phase of the rehearsal as the page shows it."""

    told: PhaseReport
    style: str
    cells: list[Cell]


def _standing(found: Competition) -> dict[str, object]:
    told = report(found)
    return {
        "rehearsal": found,
        "told": told,
        "cards": [
            Card(one, STATE_CHIPS.get(one.state, ""), [Cell(part, _chips(part)) for part in one.parts])
            for one in told.phases
        ],
        "next_stop": told.coming[0] if told.coming else None,
        "later_stops": [_named(stop) for stop in told.coming[1:]],
        "seen": found.clock_offset.total_seconds(),
        "has_worker": bool(living_workers()),
    }


def _chips(part: Part) -> list[tuple[str, str]]:
    return [
        (f"{count} {RunState(state).label}", CHIPS.get(RunState(state), "live"))
        for state, count in part.runs.items()
    ]


def _named(stop: Stop) -> tuple[str, str]:
    """A stop as a choice: its moment for the form; for the person their own clock, and what happens."""
    at = timezone.localtime(stop.at)
    return stop.at.isoformat(), f"{at.day} {at:%b %Y, %H:%M %Z}: {stop.sentence}"


@login_required
@require_POST
@tells_refusals
def start(request: HttpRequest, slug: str) -> HttpResponse:
    """Make the rehearsal."""
    shown = editors_frame(request, slug)
    messages.success(request, StartRehearsal(by=person(request), contest=shown.competition).execute())
    return redirect("manage_rehearsal", slug)


@login_required
@require_POST
@tells_refusals
@in_own_zone
def advance(request: HttpRequest, slug: str) -> HttpResponse:
    """Move its clock on: to a moment of the calendar (`to`), by `hours`, or with neither do what is due now."""
    found = _of(request, slug)
    seen = dt.timedelta(seconds=_number(request.POST.get("seen", "0"), "The clock that was seen"))
    if request.POST.get("hours"):
        hours = _number(request.POST["hours"], "The number of hours")
        if not 0 < hours <= MOST_HOURS:
            raise Refused(f"The clock moves by more than 0 and at most {MOST_HOURS:,} hours at once.")
        to = clock.now(found) + dt.timedelta(hours=hours)
    elif request.POST.get("to"):
        to = _moment(request.POST["to"])
    else:
        catch_up(found)
        return redirect("manage_rehearsal", slug)
    AdvanceRehearsal(by=person(request), rehearsal=found, to=to, seen=seen).execute()
    # The log says it in UTC; whoever clicked reads it as the page shows moments.
    moment, zone = timezone.localtime(to), timezone.get_current_timezone_name()
    messages.success(request, f"The clock was moved on to {moment.day} {moment:%B %Y %H:%M}, {zone}.")
    return redirect("manage_rehearsal", slug)


@login_required
@require_POST
@tells_refusals
def throw_away(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete it."""
    messages.success(request, ThrowAwayRehearsal(by=person(request), contest=_of(request, slug)).execute())
    return redirect("manage_rehearsal", slug)


def _of(request: HttpRequest, slug: str) -> Competition:
    """The rehearsal of a competition that the person may change."""
    shown = editors_frame(request, slug)
    found = rehearsal_of(shown.competition)
    if found is None:
        raise Refused(f"{shown.competition.title} has no rehearsal.", status=404, mend="Start one first.")
    return found


def _number(text: str, what: str) -> float:
    try:
        found = float(text)
    except ValueError as problem:
        raise Refused(f"{what} is not a number.") from problem
    if not -LARGEST < found < LARGEST:
        raise Refused(f"{what} is out of reach.")
    return found


def _moment(text: str) -> dt.datetime:
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError as problem:
        raise Refused("This is not a moment of the calendar.") from problem
    return found if found.tzinfo is not None else found.replace(tzinfo=dt.UTC)
