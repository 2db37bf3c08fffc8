"""The studio's section for exporting the competition as a bundle."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.refusals import Refused
from bundles.exporting import work
from bundles.exporting.action import ExportBundle
from bundles.models import BundleExport
from competitions import policy
from pages import frame, studio
from pages.answers import as_stranger_file, tells_refusals
from pages.views.studio.doing import editors_frame, person


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
def export(request: HttpRequest, slug: str) -> HttpResponseBase:
    """What an export holds, those that are kept, and the button that asks for one."""
    shown = editors_frame(request, slug)
    action = ExportBundle(person(request), shown.competition, request.POST.get("with_solutions") == "yes")
    refused = None
    if request.method == "POST":
        try:
            action.execute()
        except Refused as problem:
            if problem.status == 403:
                raise
            refused = problem
        else:
            messages.success(request, "The bundle is being written.")
            return redirect("manage_export", slug=slug)
    return _page(request, shown, refused)


def _page(request: HttpRequest, shown: frame.Frame, refused: Refused | None) -> HttpResponse:
    context = studio.context(
        shown,
        "export",
        owns=shown.viewer.owns,
        exports=shown.competition.exports.select_related("asked_by") if shown.viewer.owns else [],
        has_references=shown.competition.entrants.filter(is_baseline=True).exists(),
        refused=refused,
    )
    is_part = request.headers.get("HX-Request")
    template = "studio/export_part.html" if is_part else "studio/export.html"
    return render(request, template, context, status=refused.status if refused else 200)


def _found(request: HttpRequest, slug: str, export_id: int) -> BundleExport:
    """An export of a competition that the person owns."""
    shown = editors_frame(request, slug)
    if not shown.viewer.owns:
        raise Refused(f"Only owners of {shown.competition.title} may do this.", status=403)
    return policy.resolved(shown.competition.exports.all(), export_id, "export")


@login_required
@require_safe
@tells_refusals
def download(request: HttpRequest, slug: str, export_id: int) -> HttpResponseBase:
    """The bundle, while it is kept."""
    made = _found(request, slug, export_id)
    if made.state != BundleExport.State.READY:
        raise Refused("This bundle is not written yet.", status=409)
    name = f"{slug}-bundle.zip"
    file = made.file.open("rb")
    return as_stranger_file(FileResponse(file, as_attachment=True, filename=name, content_type="application/zip"))


@login_required
@require_POST
@tells_refusals
def remove(request: HttpRequest, slug: str, export_id: int) -> HttpResponseBase:
    """Remove a bundle before its day is over."""
    work.remove(_found(request, slug, export_id))
    messages.success(request, "The bundle was removed.")
    return redirect("manage_export", slug=slug)
