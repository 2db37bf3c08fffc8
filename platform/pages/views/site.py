"""The front page and the list of competitions."""

from dataclasses import dataclass

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.utils import timezone
from django.views.decorators.http import require_safe

from competitions import clock, policy
from competitions.lifecycle import current_phase, phase_state
from competitions.models import Competition, Phase


@dataclass(frozen=True)
class Card:
    """A competition in a list. `state` is open, upcoming or closed."""

    competition: Competition
    phase: Phase | None
    state: str
    people: int


def cards(request: HttpRequest) -> list[Card]:
    """The competitions the person may see, in two queries after the roles."""
    found = (
        policy.visible_competitions(request.user)
        .filter(rehearses=None)
        .annotate(people=Count("entrants", filter=Q(entrants__is_baseline=False), distinct=True))
    )
    competitions = {competition.pk: competition for competition in found}
    phases: dict[int, list[Phase]] = {pk: [] for pk in competitions}
    for phase in (
        Phase.objects.filter(round__competition__in=competitions).select_related("round").order_by("number")
    ):
        phases[phase.round.competition_id].append(phase)
    made = []
    for pk, competition in competitions.items():
        now = clock.now(competition)
        current = current_phase(phases[pk], now)
        state = phase_state(current, now) if current else "upcoming"
        if competition.state == Competition.State.ARCHIVED:
            state = "closed"
        made.append(Card(competition, current, state, competition.people))
    return made


@require_safe
def icon(request: HttpRequest) -> HttpResponse:
    """Where browsers look for the icon on pages that name none, such as the admin and plain text."""
    return redirect(static("podium/icon.svg"), permanent=True)


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What Podium is, and what is open now."""
    current = [card for card in cards(request) if card.state == "open"]
    return render(request, "home.html", {"cards": current, "now": timezone.now()})


@require_safe
def competition_list(request: HttpRequest) -> HttpResponse:
    """All competitions, grouped by whether they are open, to come or over."""
    found = cards(request)
    groups = [
        (title, [card for card in found if card.state == state])
        for state, title in (("open", "Open now"), ("upcoming", "To come"), ("closed", "Ended"))
    ]
    return render(request, "competitions/list.html", {"groups": groups, "any": bool(found), "now": timezone.now()})
