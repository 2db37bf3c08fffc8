"""The studio's teams: who they are, what they sent, and what organizers change about them."""

from django.contrib.auth.decorators import login_required
from django.db.models import Count, Max, Prefetch, QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.refusals import Refused
from competitions import policy
from competitions.actions.teams import DissolveTeam, RemoveMember, RenameTeam
from competitions.models import Competition, Departure, Team, TeamMember
from competitions.policy import IN_TEAM
from pages import frame, keyset, own, studio
from pages.answers import tells_refusals
from pages.views.studio.doing import do, editors_frame, person
from submissions.models import Submission

SECTION = "teams"
PER_PAGE = 50
MOST_SUBMISSIONS = 50
LONGEST_SEARCH = 80


@login_required
@never_cache
@require_safe
@tells_refusals
def teams(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The teams, the newest first, found by their names or those of their people."""
    shown = studio.opened(request, slug)
    search = request.GET.get("search", "").replace("\0", "").strip()[:LONGEST_SEARCH]
    found = shown.competition.teams.all()
    if search:
        by_person = TeamMember.objects.filter(user__username__icontains=search).values("team")
        found = found.filter(name__icontains=search) | found.filter(pk__in=by_person)
    page = keyset.page(request, _listed(found), PER_PAGE)
    context = studio.context(shown, SECTION, page=page, search=search, total=shown.competition.teams.count())
    return render(request, "studio/teams.html", context)


def _listed(found: QuerySet[Team]) -> QuerySet[Team]:
    places = TeamMember.objects.filter(state__in=IN_TEAM).select_related("user").order_by("state", "joined_at")
    return (
        found.select_related("entrant")
        .prefetch_related(Prefetch("members", places, to_attr="people"))
        .annotate(
            sent=Count("entrant__submissions", distinct=True), last_sent=Max("entrant__submissions__received_at")
        )
    )


def _team(competition: Competition, team_id: int) -> Team:
    teams = competition.teams.select_related("competition", "entrant")
    return policy.resolved(teams, team_id, "team")


@login_required
@never_cache
@require_safe
@tells_refusals
def team(request: HttpRequest, slug: str, team_id: int) -> HttpResponseBase:
    """One team: its people, who left it, and what it sent."""
    shown = studio.opened(request, slug)
    return render(request, "studio/team.html", _of_team(shown, _team(shown.competition, team_id)))


def _of_team(shown: frame.Frame, found: Team, refused: Refused | None = None) -> dict[str, object]:
    sent = Submission.objects.filter(entrant=found.entrant)
    lines = own.listed(list(own.with_runs(sent)[:MOST_SUBMISSIONS]), sees_hidden=shown.sees_hidden, now=shown.now)
    places = list(found.members.select_related("user").order_by("joined_at", "id"))
    left = Departure.objects.filter(entrant=found.entrant).select_related("user", "phase")
    return studio.context(
        shown,
        SECTION,
        team=found,
        places=places,
        is_shared=sum(place.state in IN_TEAM for place in places) > 1,
        departures=list(left.order_by("phase__number", "at")),
        lines=lines,
        sent=sent.count(),
        refused=refused,
    )


def _back(slug: str, team_id: int) -> str:
    return reverse("manage_team", args=[slug, team_id])


@login_required
@require_POST
@tells_refusals
def rename(request: HttpRequest, slug: str, team_id: int) -> HttpResponseBase:
    """Give it another name."""
    shown = editors_frame(request, slug)
    found = _team(shown.competition, team_id)
    action = RenameTeam(by=person(request), team=found, new_name=request.POST.get("name", ""))
    try:
        return do(
            request, shown, SECTION, action, title="Rename the team", back=_back(slug, team_id), shows_first=True
        )
    except Refused as refused:
        context = _of_team(shown, _team(shown.competition, team_id), refused)
        return render(request, "studio/team.html", context, status=refused.status)


@login_required
@require_POST
@tells_refusals
def remove(request: HttpRequest, slug: str, team_id: int) -> HttpResponseBase:
    """Take somebody out of it."""
    shown = editors_frame(request, slug)
    found = _team(shown.competition, team_id)
    places = found.members.filter(state__in=IN_TEAM).select_related("user")
    place = policy.resolved(places, request.POST.get("member"), "member")
    action = RemoveMember(by=person(request), team=found, user=place.user)
    return do(
        request,
        shown,
        SECTION,
        action,
        title=f"Take {place.user.display_name} out of {found.name}",
        back=_back(slug, team_id),
        shows_first=True,
        is_dangerous=True,
    )


@login_required
@require_POST
@tells_refusals
def dissolve(request: HttpRequest, slug: str, team_id: int) -> HttpResponseBase:
    """End it."""
    shown = editors_frame(request, slug)
    found = _team(shown.competition, team_id)
    return do(
        request,
        shown,
        SECTION,
        DissolveTeam(by=person(request), team=found),
        title=f"Dissolve {found.name}",
        back=reverse("manage_teams", args=[slug]),
        shows_first=True,
        is_dangerous=True,
    )
