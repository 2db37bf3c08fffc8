"""The studio's organizers: who holds which role, given and taken by owners."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User
from accounts.people import by_name_or_email
from accounts.refusals import Refused
from competitions import policy
from competitions.actions.organizers import MAY, GiveRole, TakeRole
from competitions.models import Organizer
from pages import studio
from pages.answers import refusal_as_json, tells_refusals, wants_json
from pages.frame import Frame
from pages.views.studio.doing import do, person

ORDER = {role: place for place, role in enumerate(Organizer.Role.values)}


@login_required
@never_cache
@require_safe
@tells_refusals
def organizers(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Everybody with a role, and the form that gives one."""
    return _page(request, studio.opened(request, slug))


def _page(request: HttpRequest, shown: Frame, *, refused: Refused | None = None) -> HttpResponse:
    held = list(shown.competition.organizers.select_related("user").order_by("user__username"))
    given = request.POST
    context = studio.context(
        shown,
        "organizers",
        organizers=sorted(held, key=lambda one: ORDER[one.role]),
        roles=[(value, value, MAY[Organizer.Role(value)]) for value in Organizer.Role.values],
        owns=shown.viewer.owns,
        owners=sum(one.role == Organizer.Role.OWNER for one in held),
        refused=refused,
        typed={"person": given.get("person", ""), "role": given.get("role", Organizer.Role.EDITOR)},
    )
    return render(request, "studio/organizers.html", context, status=refused.status if refused else 200)


@login_required
@never_cache
@require_POST
@tells_refusals
def give(request: HttpRequest, slug: str) -> HttpResponseBase:
    """What giving a role would mean; with `confirm` it is given."""
    shown = studio.opened(request, slug)
    try:
        _check_owns(shown)
        action = GiveRole(
            by=person(request),
            contest=shown.competition,
            person=_found(request, shown),
            role=request.POST.get("role", ""),
            sees_hidden=request.POST.get("sees_hidden") == "yes",
        )
        title = f"Give {action.person.display_name} a role"
        return do(request, shown, "organizers", action, title=title, back=_back(slug), shows_first=True)
    except Refused as refused:
        return _told(request, shown, refused)


@login_required
@never_cache
@require_POST
@tells_refusals
def take(request: HttpRequest, slug: str) -> HttpResponseBase:
    """What taking a role would mean; with `confirm` it is taken. Organizers may give up their own."""
    shown = studio.opened(request, slug)
    try:
        action = TakeRole(by=person(request), contest=shown.competition, person=_found(request, shown))
        is_own = action.person == request.user
        title = "Give up your role" if is_own else f"Take the role of {action.person.display_name}"
        done = do(
            request,
            shown,
            "organizers",
            action,
            title=title,
            back=_back(slug),
            shows_first=True,
            is_dangerous=True,
        )
        # Whoever gave up their role does not read the organizers' pages any more.
        return redirect("competition", slug=slug) if is_own and done.status_code == 302 else done
    except Refused as refused:
        return _told(request, shown, refused)


def _check_owns(shown: Frame) -> None:
    """Before a name is looked up: who may not give roles learns of no account here."""
    if not shown.viewer.owns:
        raise Refused(f"Only owners of {shown.competition.title} give and take roles.", status=403)


def _found(request: HttpRequest, shown: Frame) -> User:
    """The organizer of a row, else the person that was typed."""
    if "organizer" in request.POST:
        held = shown.competition.organizers.select_related("user")
        return policy.resolved(held, request.POST["organizer"], "organizer").user
    _check_owns(shown)
    found = by_name_or_email(request.POST.get("person", ""))
    if found is None:
        raise Refused(
            "Nobody with this user name or verified e-mail address has an account here.",
            status=404,
            mend="Ask the person for the user name, or to verify the address in their account.",
        )
    return found


def _back(slug: str) -> str:
    return reverse("manage_organizers", args=[slug])


def _told(request: HttpRequest, shown: Frame, refused: Refused) -> HttpResponseBase:
    return refusal_as_json(refused) if wants_json(request) else _page(request, shown, refused=refused)
