"""Doing an organizer's action: a form, then what would happen, then the deed."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.refusals import Refused
from competitions.actions.base import Action
from pages import frame, studio, zones
from pages.answers import refusal_as_json, tells_refusals, wants_json
from pages.offers.base import Asked, Offer
from pages.organizer_actions import OFFERS, acted_on, form_for, subject

IDS = ("phase", "task", "submission", "run", "entrant")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
@zones.in_own_zone
def act(request: HttpRequest, slug: str, action: str) -> HttpResponseBase:
    """GET asks what is needed, POST shows what would happen, POST with `confirm` does it."""
    shown = frame.load(request, slug)
    offer = OFFERS.get(action)
    if offer is None:
        raise Http404("There is no such action.")
    if not shown.viewer.may_edit:
        raise Refused(f"Only organizers of {shown.competition.title} may do this.", status=403)
    given = request.POST if request.method == "POST" else request.GET
    found = acted_on(offer, shown.competition, given)
    back = _back(offer, slug, found)
    context: dict[str, Any] = {
        "back": back,
        "offer": offer,
        "action": action,
        "subject": subject(found),
        "ids": {name: given[name] for name in IDS if given.get(name) and name not in offer.form.base_fields},
    }
    if request.method != "POST":
        context["form"] = form_for(offer, shown.competition, found)
        if context["form"].fields:
            return render(request, "competitions/action.html", studio.context(shown, "", **context))
        return _previewed(request, shown, _made(request, shown, offer, found, {}), context)
    form = form_for(offer, shown.competition, found, request.POST)
    context["form"] = form
    if not form.is_valid():
        return render(request, "competitions/action.html", studio.context(shown, "", **context), status=400)
    made = _made(request, shown, offer, found, form.cleaned_data)
    if request.POST.get("confirm") != "yes":
        return _previewed(request, shown, made, context)
    messages.success(request, made.execute())
    return redirect(back)


def _back(offer: Offer, slug: str, found: dict[str, Any]) -> str:
    """Where one came from: the section that offers the action, or the page of the submission."""
    if found["submission"] is not None and offer.back == "manage":
        return reverse("submission", args=[slug, found["submission"].pk])
    return reverse(offer.back, args=[slug])


def _made(
    request: HttpRequest, shown: frame.Frame, offer: Offer, found: dict[str, Any], answers: dict[str, Any]
) -> Action:
    assert request.user.is_authenticated
    return offer.make(Asked(by=request.user, competition=shown.competition, answers=answers, **found))


def _previewed(
    request: HttpRequest, shown: frame.Frame, made: Action, context: dict[str, Any]
) -> HttpResponseBase:
    """What the action would do, with the button that does it; a refusal stands above the form."""
    now = shown.now
    try:
        made.permit()
        made.check(now)
        context["preview"] = made.preview(now)
    except Refused as refused:
        if wants_json(request):
            return refusal_as_json(refused)
        context["refused"] = refused
        page = studio.context(shown, "", **context)
        return render(request, "competitions/action.html", page, status=refused.status)
    form = context["form"]
    context["answers"] = [(name, request.POST.get(name, "")) for name in form.fields if request.POST.get(name)]
    return render(request, "competitions/action.html", studio.context(shown, "", **context))
