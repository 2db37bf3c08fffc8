"""What organizers see: every submission, the queue, the workers."""

from collections import Counter
from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.refusals import Refused
from competitions.models import Competition
from pages import frame, organizing, own, studio
from pages.answers import tells_refusals
from pages.organizer_actions import OFFERS
from submissions import dispatch, images, policy
from submissions.models import Attempt, Run, Submission, Worker

PER_PAGE = 50


@login_required
@never_cache
@require_safe
@tells_refusals
def manage(request: HttpRequest, slug: str) -> HttpResponseBase:
    """All submissions of the competition by state, the runs that wait, and the workers' health."""
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
        "manage",
        page=page,
        lines=own.listed(list(page), sees_hidden=shown.sees_hidden, now=shown.now),
        states=[(value, label, counts[value]) for value, label in Submission.State.choices],
        state=state if state in Submission.State.values else "",
        total=counts.total(),
        workers=_workers(shown.competition),
        missing_images=images.missing_for(list(shown.competition.phases().exclude(image=""))),
        waiting=dispatch.queue(shown.competition),
        protocol=organizing.shown_phases(
            shown.competition, shown.phases, shown.now, sees_hidden=shown.sees_hidden
        ),
        offers={name: offer.label for name, offer in OFFERS.items()},
        sees_hidden=shown.sees_hidden,
        suspects=organizing.suspects(shown.competition),
        # What was done may name what is hidden.
        audit=organizing.audit(shown.competition) if shown.sees_hidden else [],
    )
    return render(request, "competitions/manage.html", context)


@dataclass(frozen=True)
class ShownWorker:
    """A worker, whether it was heard lately, and what it does. Runs of other competitions stay unnamed."""

    worker: Worker
    is_alive: bool
    runs: list[Run]
    is_busy_elsewhere: bool


def _workers(competition: Competition) -> list[ShownWorker]:
    """Every worker that was not revoked, in three queries."""
    now = timezone.now()
    held: dict[int, list[Run]] = {}
    open_attempts = Attempt.objects.filter(outcome=Attempt.Outcome.OPEN, worker__isnull=False)
    for attempt in open_attempts.select_related("run__submission__entrant", "run__submission__phase__round"):
        held.setdefault(attempt.worker_id or 0, []).append(attempt.run)
    shown = []
    for worker in Worker.objects.filter(revoked_at=None):
        runs = held.get(worker.pk, [])
        here = [run for run in runs if run.submission.phase.round.competition_id == competition.pk]
        shown.append(ShownWorker(worker, worker.is_alive(now), here, len(here) < len(runs)))
    return shown
