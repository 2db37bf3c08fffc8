"""The studio's basic methods: running them on the datasets of phases, what came of it, removing them."""

from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.refusals import Refused
from analysis.basic.archives import title_of
from analysis.basic.running import (
    RemoveBasicMethods,
    RunBasicMethods,
    entries,
    missing,
    takes_basic_methods,
)
from analysis.models import BasicEntry
from competitions.models import Competition, Phase
from pages import frame, studio
from pages.answers import tells_refusals
from pages.views.studio.doing import do, editors_frame, person
from submissions.models import RunState, Submission
from submissions.models.worker import living_workers

SECTION = "basic_methods"
# The difficulty of a dataset is measured on the first of these kinds that judges it.
PREFERENCE = (Phase.Kind.AUTOML, Phase.Kind.FINAL, Phase.Kind.OPEN, Phase.Kind.TWEAKATHON)
CHIPS = {RunState.FINISHED: "good", RunState.FAILED: "bad"}


@dataclass(frozen=True)
class Sent:
    """A method in a phase: its submission, and chips of (how many runs in which state, style)."""

    title: str
    submission: Submission
    chips: list[tuple[str, str]]


@dataclass(frozen=True)
class Card:
    """A phase: what was sent there, and how many runs are missing with defaults and tuned.

    `is_ticked`: it judges a dataset that no phase before it in the order of `PREFERENCE` judges.
    """

    phase: Phase
    is_possible: bool
    is_ticked: bool
    sent: list[Sent]
    missing: int
    missing_tuned: int


@login_required
@never_cache
@require_safe
@tells_refusals
def basic_methods(request: HttpRequest, slug: str) -> HttpResponse:
    """Which methods have run where, and the forms to run and to remove them."""
    shown = editors_frame(request, slug)
    context = {"cards": _cards(shown.competition), "has_worker": bool(living_workers())}
    return render(request, "studio/basic_methods.html", studio.context(shown, SECTION, **context))


def _cards(contest: Competition) -> list[Card]:
    there, judging = entries(contest), _judging(contest)
    found = []
    for phase in contest.phases():
        is_possible = takes_basic_methods(phase)
        own = [one for one in there if one.submission.phase_id == phase.pk]
        left = list(missing(phase, tuned=True, there=there)) if is_possible else []
        found.append(
            Card(
                phase,
                is_possible,
                phase.pk in judging and any(not one.is_tuned for one in left),
                [_sent(one) for one in own],
                sum(one.runs for one in left if not one.is_tuned),
                sum(one.runs for one in left if one.is_tuned),
            )
        )
    return found


def _judging(contest: Competition) -> set[int]:
    """Phases that together judge every dataset, each dataset in the one where its difficulty is measured."""
    covered: set[int] = set()
    found = set()
    for phase in sorted(contest.phases(), key=lambda one: PREFERENCE.index(Phase.Kind(one.kind))):
        datasets = set(phase.tasks.values_list("dataset", flat=True))
        if datasets - covered:
            found.add(phase.pk)
        covered |= datasets
    return found


def _sent(entry: BasicEntry) -> Sent:
    counts: dict[str, int] = {}
    for state in entry.submission.runs.values_list("state", flat=True):
        counts[state] = counts.get(state, 0) + 1
    chips = [
        (f"{count} {RunState(state).label}", CHIPS.get(RunState(state), "live")) for state, count in counts.items()
    ]
    return Sent(title_of(entry.method, is_tuned=entry.is_tuned), entry.submission, chips)


@login_required
@require_POST
@tells_refusals
def run(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what would run, then run it."""
    shown = editors_frame(request, slug)
    action = RunBasicMethods(
        by=person(request),
        contest=shown.competition,
        phases=_chosen(request, shown),
        tuned=request.POST.get("tuned") == "on",
    )
    back = reverse("manage_basic_methods", args=[slug])
    return do(request, shown, SECTION, action, title="Run the basic methods", back=back, shows_first=True)


@login_required
@require_POST
@tells_refusals
def remove(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what would go, then remove it."""
    shown = editors_frame(request, slug)
    action = RemoveBasicMethods(by=person(request), contest=shown.competition, phases=_chosen(request, shown))
    back = reverse("manage_basic_methods", args=[slug])
    title = "Remove the basic methods"
    return do(request, shown, SECTION, action, title=title, back=back, shows_first=True, is_dangerous=True)


def _chosen(request: HttpRequest, shown: frame.Frame) -> list[Phase]:
    """The ticked phases of the competition, by their numbers."""
    wanted = set(request.POST.getlist("phase"))
    found = [phase for phase in shown.competition.phases() if str(phase.number) in wanted]
    if len(found) != len(wanted):
        raise Refused(f"{shown.competition.title} has no such phase.", status=404)
    return found
