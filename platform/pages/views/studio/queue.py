"""The studio's queue: what waits, what was lost, and the workers' health."""

from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.refusals import Refused
from competitions.models import Competition
from pages import frame, organizing, studio
from pages.answers import tells_refusals
from submissions import dispatch, images
from submissions.models import Attempt, Run, Worker


@login_required
@never_cache
@require_safe
@tells_refusals
def queue(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The runs that wait, the suspects, and the workers' health."""
    shown = frame.load(request, slug)
    if not shown.is_organizer:
        raise Refused(f"This page is for the organizers of {shown.competition.title}.", status=403)
    context = studio.context(
        shown,
        "queue",
        workers=_workers(shown.competition),
        missing_images=images.missing_for(list(shown.competition.phases().exclude(image=""))),
        waiting=dispatch.queue(shown.competition),
        suspects=organizing.suspects(shown.competition),
    )
    return render(request, "studio/queue.html", context)


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
