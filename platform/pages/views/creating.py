"""Making a competition."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.models import User
from accounts.refusals import Refused
from competitions import policy
from competitions.actions.addresses import slug_of
from competitions.actions.create import create
from pages import zones
from pages.answers import tells_refusals
from pages.contest_forms import TEMPLATES, NewCompetition
from pages.views.studio.doing import person


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
@zones.in_own_zone
def new(request: HttpRequest) -> HttpResponseBase:
    """A title, a template and a start make a draft; everything else is set in its studio."""
    if not policy.may_create_competition(request.user):
        mend = "The operator of this site grants that."
        raise Refused("You may not make competitions here.", status=403, mend=mend)
    chosen = request.POST.get("time_zone", "")
    zone = zones.of_request(request)
    if chosen and zones.is_zone(chosen):
        timezone.activate(chosen)  # until `in_own_zone` ends
    form = NewCompetition(request.POST if request.method == "POST" else None, zone=zone)
    refused = None
    if form.is_valid():
        given = form.cleaned_data
        try:
            made = create(
                TEMPLATES[given["template"]],
                slug=given["slug"] or slug_of(given["title"]),
                owner=person(request),
                # Days are counted by the person's own clock, so that midnight stays midnight.
                start=timezone.localtime(given["starts_at"] or timezone.now()),
                title=given["title"],
                by=person(request),
            )
        except Refused as problem:
            refused = problem
        else:
            _keep_zone(person(request), chosen)
            messages.success(request, f"{made.title} is a draft: its organizers alone see it.")
            return redirect("manage", slug=made.slug)
    context = {"form": form, "refused": refused}
    is_bad = bool(refused or form.errors)
    return render(
        request, "competitions/new.html", context, status=refused.status if refused else 400 if is_bad else 200
    )


def _keep_zone(user: User, chosen: str) -> None:
    """Keep a time zone that was chosen here as the person's own."""
    if chosen and chosen != user.time_zone:
        user.time_zone = chosen
        user.save(update_fields=["time_zone"])
