"""Doing an action of the studio from a page of its own: at once, or after a page that shows what would happen."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from accounts.models import User
from accounts.refusals import Refused
from competitions.actions.base import Action
from competitions.models import Competition
from pages import frame, studio

UNSENT = ("csrfmiddlewaretoken", "confirm")


def editors_frame(request: HttpRequest, slug: str) -> frame.Frame:
    """The frame of a competition that the person may change; else Refused."""
    shown = frame.load(request, slug)
    if not shown.viewer.may_edit:
        raise Refused(f"Only organizers of {shown.competition.title} may do this.", status=403)
    return shown


def person(request: HttpRequest) -> User:
    """Who is logged in."""
    assert request.user.is_authenticated
    return request.user


def is_careful(competition: Competition) -> bool:
    """Whether an edit is shown before it happens: once others see the competition, or somebody submitted."""
    return competition.state != Competition.State.DRAFT or competition.entrants.exists()


def do(
    request: HttpRequest,
    shown: frame.Frame,
    section: str,
    action: Action,
    *,
    title: str,
    back: str,
    shows_first: bool,
    is_dangerous: bool = False,
) -> HttpResponse:
    """Do it and go to `back`; where it is shown first, a page with old and new values comes before.

    A refusal is raised, for the page that asked to show it in its place.
    """
    if shows_first and request.POST.get("confirm") != "yes":
        action.permit()
        action.check(shown.now)
        context: dict[str, Any] = {
            "title": title,
            "back": back,
            "preview": action.preview(shown.now),
            "is_dangerous": is_dangerous,
            "sent": [
                (name, value) for name, values in request.POST.lists() if name not in UNSENT for value in values
            ],
        }
        return render(request, "studio/preview.html", studio.context(shown, section, **context))
    messages.success(request, action.execute())
    return redirect(back)
