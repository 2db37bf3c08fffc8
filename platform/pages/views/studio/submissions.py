"""The studio's submissions: every one of the competition, by state."""

from collections import Counter

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.refusals import Refused
from pages import frame, own, studio
from pages.answers import tells_refusals
from submissions import policy
from submissions.models import Submission

PER_PAGE = 50


@login_required
@never_cache
@require_safe
@tells_refusals
def submissions(request: HttpRequest, slug: str) -> HttpResponseBase:
    """All submissions of the competition by state."""
    shown = frame.load(request, slug)
    if not shown.is_organizer:
        raise Refused(f"This page is for the organizers of {shown.competition.title}.", status=403)
    everything = policy.visible_submissions(request.user, shown.competition)
    counts = Counter(dict(everything.order_by().values_list("state").annotate(Count("pk"))))
    state = request.GET.get("state", "")
    chosen = everything.filter(state=state) if state in Submission.State.values else everything
    page = Paginator(own.with_runs(chosen), PER_PAGE).get_page(request.GET.get("page"))
    context = studio.context(
        shown,
        "submissions",
        page=page,
        lines=own.listed(list(page), sees_hidden=shown.sees_hidden, now=shown.now),
        states=[(value, label, counts[value]) for value, label in Submission.State.choices],
        state=state if state in Submission.State.values else "",
        total=counts.total(),
    )
    return render(request, "studio/submissions.html", context)
