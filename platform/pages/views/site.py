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

State = Competition.State


@dataclass(frozen=True)
class Card:
    """A competition in a list. `state` is open, upcoming or closed; `role` the person's in it, if any."""

    competition: Competition
    phase: Phase | None
    state: str
    people: int
    role: str = ""


def cards(request: HttpRequest) -> list[Card]:
    """The competitions that lists show to the person, in three queries after those of the policy."""
    roles = policy.roles_of(request.user)
    found = policy.visible_competitions(request.user).annotate(
        people=Count("entrants", filter=Q(entrants__is_baseline=False), distinct=True)
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
        made.append(Card(competition, current, state, competition.people, roles.get(pk, "")))
    return made


@require_safe
def icon(request: HttpRequest) -> HttpResponse:
    """Where browsers look for the icon on pages that name none, such as the admin and plain text."""
    return redirect(static("podium/icon.svg"), permanent=True)


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What Podium is, and what is open now."""
    current = [card for card in cards(request) if card.state == "open" and card.competition.state != State.DRAFT]
    context = {
        "cards": current,
        "now": timezone.now(),
        "may_create": policy.may_create_competition(request.user),
    }
    return render(request, "home.html", context)


@require_safe
def competition_list(request: HttpRequest) -> HttpResponse:
    """Those that the person organizes, drafts too; then all others, by whether they are open, to come or over."""
    found = cards(request)
    others = [card for card in found if not card.role and card.competition.state != State.DRAFT]
    drafts = [card for card in found if not card.role and card.competition.state == State.DRAFT]
    groups = [
        ("You organize", [card for card in found if card.role]),
        *(
            (title, [card for card in others if card.state == state])
            for state, title in (("open", "Open now"), ("upcoming", "To come"), ("closed", "Ended"))
        ),
        ("Drafts of others", drafts),  # which operators see
    ]
    context = {
        "groups": groups,
        "any": bool(found),
        "now": timezone.now(),
        "may_create": policy.may_create_competition(request.user),
    }
    return render(request, "competitions/list.html", context)
