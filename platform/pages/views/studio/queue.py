"""The studio's queue: what waits and why, what is at work, which datasets fail, and the workers' health."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from pages import studio
from pages.answers import tells_refusals
from pages.queue import QueueView
from pages.views.submissions import is_part
from submissions import images
from submissions.selecting import number


@login_required
@never_cache
@vary_on_headers("HX-Request")
@require_safe
@tells_refusals
def queue(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The queue of the competition; for htmx its live part alone, which asks again every 5 s."""
    shown = studio.opened(request, slug)
    view = QueueView(shown)
    datasets = view.datasets()
    context = studio.context(
        shown,
        "queue",
        left_out=view.left_out,
        waiting=view.waiting(number(request.GET.get("from")) or 0),
        at_work=view.at_work(),
        datasets=datasets,
        failing=[one for one in datasets if one.entrants_failed],
        suspects=view.suspects(),
        workers=view.workers(),
        missing_images=images.missing_for([phase for phase in shown.phases if phase.image]),
    )
    template = "studio/queue_part.html" if is_part(request) else "studio/queue.html"
    return render(request, template, context)
