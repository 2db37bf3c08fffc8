"""What organizers see first: the protocol and what was done."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.refusals import Refused
from pages import frame, organizing, studio
from pages.answers import tells_refusals
from pages.organizer_actions import OFFERS


@login_required
@never_cache
@require_safe
@tells_refusals
def manage(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The phases with what may be done with them, and the latest entries of the audit log."""
    shown = frame.load(request, slug)
    if not shown.is_organizer:
        raise Refused(f"This page is for the organizers of {shown.competition.title}.", status=403)
    context = studio.context(
        shown,
        "manage",
        protocol=organizing.shown_phases(
            shown.competition, shown.phases, shown.now, sees_hidden=shown.sees_hidden
        ),
        offers={name: offer.label for name, offer in OFFERS.items()},
        sees_hidden=shown.sees_hidden,
        # What was done may name what is hidden.
        audit=organizing.audit(shown.competition) if shown.sees_hidden else [],
    )
    return render(request, "competitions/manage.html", context)
