"""A participant's team: the page about it, and everything that its people do there."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import User
from accounts.people import by_name_or_email
from accounts.refusals import Refused
from competitions import policy, teams
from competitions.models import Competition, Participant, Team, TeamLink, TeamMember
from pages import frame, team
from pages.answers import refusal_as_json, tells_refusals, wants_json
from submissions import merging

NEW_LINK = "new_team_link"  # in the session: the address of a link is shown once


@login_required
@never_cache
@require_safe
@tells_refusals
def show(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The team, its people, its links, and what it was asked."""
    return _page(request, _frame(request, slug))


def _frame(request: HttpRequest, slug: str) -> frame.Frame:
    shown = frame.load(request, slug)
    if not shown.takes_part:
        raise Refused(
            f"Teams are for those who take part in {shown.competition.title}.",
            status=403,
            mend="Join the competition first.",
        )
    return shown


def _page(
    request: HttpRequest, shown: frame.Frame, *, refused: Refused | None = None, typed: str = ""
) -> HttpResponse:
    new_link = request.session.pop(NEW_LINK, None)
    context = shown.context(
        "team", page=team.of_person(shown, _person(request)), refused=refused, typed=typed, new_link=new_link
    )
    return render(request, "competitions/team.html", context, status=refused.status if refused else 200)


def _person(request: HttpRequest) -> User:
    assert request.user.is_authenticated
    return request.user


@login_required
@require_POST
@tells_refusals
def do(request: HttpRequest, slug: str, what: str) -> HttpResponseBase:
    """Do one of `DEEDS`; a refusal stands at the top of the page."""
    shown = _frame(request, slug)
    deed = DEEDS.get(what)
    if deed is None:
        raise Http404("There is no such thing to do with a team.")
    try:
        told = deed(request, shown.competition, _person(request))
    except Refused as refused:
        if wants_json(request):
            return refusal_as_json(refused)
        return _page(request, frame.load(request, slug), refused=refused, typed=request.POST.get("name", ""))
    messages.success(request, told)
    return redirect("team", slug=slug)


def _own(competition: Competition, user: User) -> Team:
    found = teams.team_of(competition, user)
    if found is None:
        raise Refused("You are in no team here.", status=409)
    return found


def _other(request: HttpRequest, competition: Competition) -> Team:
    """The team that a form names by its id."""
    return policy.resolved(competition.teams.all(), request.POST.get("team"), "team")


def _participant(request: HttpRequest, competition: Competition) -> User:
    """The participant that a form names; strangers and unknown names are refused alike."""
    name = _typed_name(request)
    found = by_name_or_email(name)
    takes_part = Participant.objects.filter(competition=competition, user=found, state=Participant.State.APPROVED)
    if found is None or not takes_part.exists():
        raise Refused(
            f"Nobody who takes part in {competition.title} has the user name {name[:80]!r}.",
            status=404,
            mend="A link lets in whoever has it, once they take part.",
        )
    return found


def _typed_name(request: HttpRequest) -> str:
    """The name that was typed, without what PostgreSQL does not take."""
    return request.POST.get("name", "").replace("\0", "").strip()


def _member(request: HttpRequest, own: Team) -> User:
    places = TeamMember.objects.filter(team=own).select_related("user")
    return policy.resolved(places, request.POST.get("member"), "member").user


def _create(request: HttpRequest, competition: Competition, user: User) -> str:
    made = teams.create(competition, user, request.POST.get("name", ""))
    return f"You are the captain of {made.name}. Ask others to come in."


def _rename(request: HttpRequest, competition: Competition, user: User) -> str:
    own = _own(competition, user)
    teams.rename(own, request.POST.get("name", ""), by=user)
    return f"The team is called {own.name} now."


def _invite(request: HttpRequest, competition: Competition, user: User) -> str:
    asked = _participant(request, competition)
    teams.invite(_own(competition, user), asked, by=user)
    return f"{asked.display_name} was asked to come in and finds the question on the same page."


def _take_back(request: HttpRequest, competition: Competition, user: User) -> str:
    own = _own(competition, user)
    asked = _member(request, own)
    teams.take_back(own, asked, by=user)
    return f"The invitation of {asked.display_name} was taken back."


def _accept(request: HttpRequest, competition: Competition, user: User) -> str:
    joined = _other(request, competition)
    teams.accept(joined, user)
    return f"You are in {joined.name}."


def _decline(request: HttpRequest, competition: Competition, user: User) -> str:
    asked = _other(request, competition)
    teams.decline(asked, user)
    return f"You declined the invitation of {asked.name}."


def _leave(request: HttpRequest, competition: Competition, user: User) -> str:
    own = _own(competition, user)
    teams.leave(own, user)
    return f"You left {own.name}."


def _hand_on(request: HttpRequest, competition: Competition, user: User) -> str:
    own = _own(competition, user)
    heir = _member(request, own)
    teams.hand_on(own, heir, by=user)
    return f"{heir.display_name} is the captain of {own.name} now."


def _make_link(request: HttpRequest, competition: Competition, user: User) -> str:
    secret = teams.make_link(_own(competition, user), by=user)
    address = reverse("team_link", args=[competition.slug, secret])
    request.session[NEW_LINK] = request.build_absolute_uri(address)
    return "The link was made. It is shown this once."


def _revoke_link(request: HttpRequest, competition: Competition, user: User) -> str:
    own = _own(competition, user)
    link = policy.resolved(TeamLink.objects.filter(team=own), request.POST.get("link"), "link")
    teams.revoke_link(own, link.pk, by=user)
    return "The link was taken back: nobody comes in by it any more."


def _ask_merge(request: HttpRequest, competition: Competition, user: User) -> str:
    name = _typed_name(request)
    found = competition.teams.filter(name__iexact=name).first()
    if found is None:
        raise Refused(
            f"No team here is called {name[:80]!r}.", status=404, mend="Write its name as the boards do."
        )
    merging.ask(_own(competition, user), found, by=user)
    return f"{found.name} was asked to merge. Its captain answers."


def _take_back_merge(request: HttpRequest, competition: Competition, user: User) -> str:
    other = _other(request, competition)
    merging.take_back(_own(competition, user), other, by=user)
    return f"You do not ask {other.name} any more."


def _accept_merge(request: HttpRequest, competition: Competition, user: User) -> str:
    into = merging.accept(_own(competition, user), _other(request, competition), by=user)
    return f"Your team went into {into.name}."


def _decline_merge(request: HttpRequest, competition: Competition, user: User) -> str:
    other = _other(request, competition)
    merging.decline(_own(competition, user), other, by=user)
    return f"You do not merge with {other.name}."


Deed = Callable[[HttpRequest, Competition, User], str]  # what a page says when it is done

DEEDS: dict[str, Deed] = {
    "create": _create,
    "rename": _rename,
    "invite": _invite,
    "take-back": _take_back,
    "accept": _accept,
    "decline": _decline,
    "leave": _leave,
    "hand-on": _hand_on,
    "make-link": _make_link,
    "revoke-link": _revoke_link,
    "ask-merge": _ask_merge,
    "take-back-merge": _take_back_merge,
    "accept-merge": _accept_merge,
    "decline-merge": _decline_merge,
}


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
def link(request: HttpRequest, slug: str, secret: str) -> HttpResponseBase:
    """Where a link into a team leads: what team it is, and the button that lets one in."""
    shown = frame.load(request, slug)
    found = teams.link_of(shown.competition, secret)
    context: dict[str, Any] = {"link": found, "secret": secret}
    if request.method == "POST":
        try:
            joined = teams.join_by_link(shown.competition, secret, _person(request))
        except Refused as refused:
            if wants_json(request):
                return refusal_as_json(refused)
            context["refused"] = refused
            page = shown.context("team", **context)
            return render(request, "competitions/team_link.html", page, status=refused.status)
        messages.success(request, f"You are in {joined.name}.")
        return redirect("team", slug=slug)
    context["closed"] = teams.closing_sentence(shown.competition, shown.now)
    context["own"] = teams.team_of(shown.competition, _person(request))
    return render(request, "competitions/team_link.html", shown.context("team", **context))
