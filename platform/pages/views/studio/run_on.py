"""The studio's runs beyond the budget: what went on in which phase, asking for more, removing it."""

from collections import Counter
from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.refusals import Refused
from analysis.models import RunOn
from analysis.run_on import FACTORS, RemoveRunOns, RunOnBeyond, of_phases, takes_run_ons
from competitions.models import Competition, Phase
from pages import frame, studio
from pages.answers import tells_refusals
from pages.views.studio.doing import do, editors_frame, person
from submissions import curves
from submissions.models import RunState
from submissions.models.worker import living_workers

SECTION = "run_on"
CHIPS = {RunState.FINISHED: "good", RunState.FAILED: "bad"}


@dataclass(frozen=True)
class Asked:
    """A phase and a factor for which runs went on: how many are in which state, with the style of a chip."""

    factor: float
    chips: list[tuple[str, str]]


@dataclass(frozen=True)
class Card:
    """A phase in which runs can go on: whether it is over, and what went on so far."""

    phase: Phase
    is_over: bool
    asked: list[Asked]


@login_required
@never_cache
@require_safe
@tells_refusals
def run_on(request: HttpRequest, slug: str) -> HttpResponse:
    """What went on, and the forms to ask for more and to remove it."""
    shown = editors_frame(request, slug)
    context = {
        "cards": _cards(shown.competition, shown),
        "factors": FACTORS,
        "has_worker": bool(living_workers()),
    }
    return render(request, "studio/run_on.html", studio.context(shown, SECTION, **context))


def _cards(contest: Competition, shown: frame.Frame) -> list[Card]:
    phases = [phase for phase in contest.phases() if takes_run_ons(phase)]
    there = of_phases(phases)
    return [
        Card(phase, curves.is_over(phase, shown.now), _asked([one for one in there if one.phase_id == phase.pk]))
        for phase in phases
    ]


def _asked(run_ons: list[RunOn]) -> list[Asked]:
    found = []
    for factor in sorted({one.factor for one in run_ons}):
        counts = Counter(one.run.state for one in run_ons if one.factor == factor)
        chips = [
            (f"{count} {RunState(state).label}", CHIPS.get(RunState(state), "live"))
            for state, count in counts.items()
        ]
        found.append(Asked(factor, chips))
    return found


@login_required
@require_POST
@tells_refusals
def run(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what would run and for how long at worst, then run it."""
    shown = editors_frame(request, slug)
    factor = request.POST.get("factor", "")
    action = RunOnBeyond(
        by=person(request),
        phase=_phase(request, shown),
        factor=int(factor) if factor.isdecimal() and len(factor) < 4 else 0,
    )
    back = reverse("manage_run_on", args=[slug])
    return do(request, shown, SECTION, action, title="Let runs go on", back=back, shows_first=True)


@login_required
@require_POST
@tells_refusals
def remove(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what would go, then remove it."""
    shown = editors_frame(request, slug)
    action = RemoveRunOns(by=person(request), phase=_phase(request, shown))
    back = reverse("manage_run_on", args=[slug])
    title = "Remove what went on"
    return do(request, shown, SECTION, action, title=title, back=back, shows_first=True, is_dangerous=True)


def _phase(request: HttpRequest, shown: frame.Frame) -> Phase:
    """The chosen phase of the competition, by its number."""
    wanted = request.POST.get("phase", "")
    found = [phase for phase in shown.competition.phases() if str(phase.number) == wanted]
    if not found:
        raise Refused("No phase is chosen.", mend="Choose one.")
    return found[0]
