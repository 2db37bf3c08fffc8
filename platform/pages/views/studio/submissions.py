"""The studio's submissions: a table of all, and what is done to many of them at once."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from accounts.refusals import Refused
from pages import studio, submission_table
from pages.answers import tells_refusals
from pages.views.studio.doing import editors_frame, person
from pages.views.submissions import is_part
from submissions import bulk
from submissions.models import BulkWork
from submissions.selecting import Filter

TICKED_AT_ONCE = 500  # more are taken by a filter


@login_required
@never_cache
@require_safe
@tells_refusals
def submissions(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A page of the submissions that match the filter, in the order that is asked for."""
    shown = studio.opened(request, slug)
    working = BulkWork.objects.filter(competition=shown.competition, state=BulkWork.State.WORKING)
    context = studio.context(
        shown,
        "submissions",
        table=submission_table.table(shown, request.GET),
        kinds=[(kind.value, kind.label.capitalize()) for kind in BulkWork.Kind],
        works=list(working.defer("left_out")) if shown.viewer.may_edit else [],
    )
    return render(request, "studio/submissions.html", context)


@login_required
@require_POST
@tells_refusals
def choose_many(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Keep the ticked submissions, or all that match the filter, and lead to the preview."""
    shown = editors_frame(request, slug)
    wanted = Filter.read(request.POST)
    if request.POST.get("which") == "all":
        found, told = submission_table.matching(shown, wanted), submission_table.in_words(shown, wanted)
    else:
        ticked = [int(text) for text in request.POST.getlist("submission") if text.isdecimal() and len(text) < 16]
        found = submission_table.matching(shown, Filter()).filter(pk__in=ticked[:TICKED_AT_ONCE])
        told = "those that were ticked"
    work = bulk.prepare(
        shown.competition,
        by=person(request),
        kind=request.POST.get("kind", ""),
        chosen=found.order_by().values_list("pk", flat=True),
        told=told,
    )
    return redirect("bulk_work", slug=slug, work_id=work.pk)


@login_required
@never_cache
@vary_on_headers("HX-Request")
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
def bulk_work(request: HttpRequest, slug: str, work_id: int) -> HttpResponseBase:
    """What would happen to many submissions, then how far it is; POST confirms it or stops it."""
    shown = editors_frame(request, slug)
    work = BulkWork.objects.filter(competition=shown.competition, pk=work_id).select_related("user").first()
    if work is None:
        raise Http404("There is no such work.")
    work.competition = shown.competition
    begin = bulk.Begin(
        by=person(request),
        work=work,
        fresh=request.POST.get("fresh") == "on",
        why=request.POST.get("why", "")[:300],
    )
    refused: Refused | None = None
    if request.method == "POST":
        try:
            if request.POST.get("confirm") == "stop":
                stopped = bulk.stop(work, by=person(request))
                messages.success(request, "It was stopped." if stopped else "It had ended already.")
            else:
                messages.success(request, begin.execute())
            return redirect("bulk_work", slug=slug, work_id=work.pk)
        except Refused as problem:
            refused = problem
    is_preview = work.state == BulkWork.State.PREVIEWED
    context = studio.context(
        shown,
        "submissions",
        work=work,
        preview=begin.preview(shown.now) if is_preview else None,
        touched=begin.seen.touched if is_preview else 0,
        refused=refused,
        why=begin.why,
    )
    template = "studio/bulk_part.html" if is_part(request) else "studio/bulk.html"
    return render(request, template, context, status=refused.status if refused else 200)
