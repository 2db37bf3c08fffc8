"""The studio's settings: what a competition is called, who reads it and joins, how large teams are."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.refusals import Refused
from competitions.actions.settings import EditSettings, seen_settings
from pages import frame, studio, zones
from pages.answers import tells_refusals
from pages.contest_forms import SettingsForm
from pages.views.studio.doing import do, person

TITLE = "Change the settings"


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
@zones.in_own_zone
def settings(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The settings as a form; what a change means for people is shown before it happens."""
    shown = studio.opened(request, slug)
    if request.method != "POST":
        return _page(request, shown, SettingsForm(instance=shown.competition))
    if not shown.viewer.may_edit:
        raise Refused(f"Only organizers of {shown.competition.title} may do this.", status=403)
    form = SettingsForm(request.POST, instance=type(shown.competition).objects.get(pk=shown.competition.pk))
    if not form.is_valid():
        return _page(request, shown, form, status=400)
    values = form.values()
    action = EditSettings(person(request), shown.competition, values, request.POST.get("seen", ""))
    back = reverse("manage_settings", args=[values["slug"]])
    try:
        action.permit()
        action.check(shown.now)
        matters = bool(action.preview(shown.now).sentences)
        return do(request, shown, "settings", action, title=TITLE, back=back, shows_first=matters)
    except Refused as refused:
        return _page(request, shown, form, refused=refused, status=refused.status)


def _page(
    request: HttpRequest,
    shown: frame.Frame,
    form: SettingsForm,
    *,
    refused: Refused | None = None,
    status: int = 200,
) -> HttpResponseBase:
    context = studio.context(
        shown,
        "settings",
        form=form,
        refused=refused,
        seen=request.POST.get("seen") or seen_settings(shown.competition),
        zone=zones.of_request(request),
    )
    return render(request, "studio/settings.html", context, status=status)
