"""Benchmarks: their list with the form to send one, the pages of one, its figures as files, its export."""

from typing import IO, cast

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import User
from accounts.refusals import Refused
from analysis.benchmarks import actions, policy
from analysis.benchmarks.asking import ask
from analysis.benchmarks.exporting import archive
from analysis.benchmarks.grid import opened
from analysis.benchmarks.views import BY_KEY, VIEWS
from analysis.export import plain_name
from analysis.models import Benchmark
from analysis.results import VERSION
from pages.answers import refusal, tells_refusals
from pages.figure_files import answer
from pages.middleware import without_nul
from pages.views.submissions import is_part
from pages.views.upload import FORM_BYTES, drain


@csrf_exempt
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def benchmarks(request: HttpRequest) -> HttpResponseBase:
    """All that one may see, and where the form's files are posted to. The CSRF check follows in `_received`."""
    if request.method != "POST":
        return _list(request)
    if not request.user.is_authenticated:
        drain(request)
        return redirect_to_login(request.path)
    try:
        _check_before_reading(request)
    except Refused as refused:
        drain(request)
        return refusal(request, refused)
    request.upload_handlers = [TemporaryFileUploadHandler(request)]
    return _received(request)


def _check_before_reading(request: HttpRequest) -> None:
    if not policy.may_send(request.user):
        mend = "Ask the operator for the permission to make competitions."
        raise Refused("Only organizers may send benchmarks.", status=403, mend=mend)
    length = request.META.get("CONTENT_LENGTH")
    if not length:
        raise Refused("The upload does not say how long it is.", status=411)
    if int(length) > actions.MOST_BYTES + FORM_BYTES:
        most = actions.MOST_BYTES // 2**20
        mend = "Send a zip, or use the command import_benchmark."
        raise Refused(f"A form sends files of at most {most} MiB.", status=413, mend=mend)


@csrf_protect
def _received(request: HttpRequest) -> HttpResponseBase:
    request.POST = without_nul(request.POST)  # type: ignore[assignment]
    files = [(file.name or "", cast(IO[bytes], file)) for file in request.FILES.getlist("files")]
    first = request.POST.get("first_index", "").strip()
    try:
        if first and not first[:9].isdecimal():
            raise Refused("The first configuration is a number from 0 to a million.")
        benchmark = actions.send(
            owner=cast(User, request.user),
            title=request.POST.get("title", ""),
            source=request.POST.get("source", ""),
            files=files,
            algorithm=request.POST.get("algorithm", ""),
            first_index=int(first[:9]) if first else None,
            is_public=request.POST.get("is_public") == "1",
        )
    except Refused as refused:
        return _list(request, refused)
    return redirect(benchmark)


def _list(request: HttpRequest, refused: Refused | None = None) -> HttpResponse:
    context = {
        "benchmarks": policy.visible_benchmarks(request.user).select_related("owner"),
        "may_send": policy.may_send(request.user),
        "most_bytes": actions.MOST_BYTES,
        "given": request.POST if refused else {},
        "refused": refused,
    }
    return render(request, "analysis/benchmarks/list.html", context, status=refused.status if refused else 200)


def _visible(request: HttpRequest, benchmark_id: int) -> Benchmark:
    """The benchmark, or 404 for who may not know of it."""
    found = policy.visible_benchmarks(request.user).filter(pk=benchmark_id).select_related("owner").first()
    if found is None:
        raise Http404("There is no such benchmark.")
    return found


@never_cache
@require_safe
def benchmark(request: HttpRequest, benchmark_id: int, view: str = VIEWS[0].key) -> HttpResponse:
    """One page of a benchmark; while it is read, how far that is."""
    found = _visible(request, benchmark_id)
    chosen = BY_KEY.get(view)
    if chosen is None:
        raise Http404("There is no such page.")
    context = {
        "benchmark": found,
        "percent": round(100 * found.share),
        "view": chosen,
        "may_change": policy.may_change(request.user, found),
        "tabs": [
            (one.label, reverse("benchmark_view", args=[found.pk, one.key]), one is chosen, None) for one in VIEWS
        ],
        "files": reverse("benchmark_view", args=[found.pk, view]),
        "query": f"?{request.GET.urlencode()}" if request.GET else "",
        "asked": ask(found, chosen, request.GET.dict()) if found.state == Benchmark.State.READY else None,
        "version": VERSION,
    }
    template = "analysis/benchmarks/page_part.html" if is_part(request) else "analysis/benchmarks/page.html"
    response = render(request, template, context)
    if is_part(request) and not found.is_busy:
        response["HX-Refresh"] = "true"  # around the part there is more now: the other pages, notes and the export
    return response


@never_cache
@require_safe
def file(request: HttpRequest, benchmark_id: int, view: str, name: str, suffix: str) -> HttpResponse:
    """A figure or table of a benchmark's page as a file."""
    found, chosen = _visible(request, benchmark_id), BY_KEY.get(view)
    if chosen is None or found.state != Benchmark.State.READY:
        raise Http404("There is no such figure.")
    result = ask(found, chosen, request.GET.dict()).result
    return answer(result.named(name), suffix, of=f"{found.title}-{view}")


@never_cache
@require_safe
def export(request: HttpRequest, benchmark_id: int) -> StreamingHttpResponse:
    """The whole benchmark in MementoML's format."""
    found = _visible(request, benchmark_id)
    if found.state != Benchmark.State.READY:
        raise Http404("It is not ready.")
    about = {"title": found.title, "source": found.source, "software": "Podium"}
    grid = opened(found.content.open("rb"))
    response = StreamingHttpResponse(archive(grid, about), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{plain_name(found.title)}.zip"'
    return response


@never_cache
@login_required
@require_POST
@tells_refusals
def publish(request: HttpRequest, benchmark_id: int) -> HttpResponseBase:
    """Let everybody see it, or nobody else any more."""
    found = _visible(request, benchmark_id)
    actions.publish(found, user=cast(User, request.user), is_public=request.POST.get("public") == "1")
    return redirect(found)


@never_cache
@login_required
@require_POST
@tells_refusals
def delete(request: HttpRequest, benchmark_id: int) -> HttpResponseBase:
    """Remove it."""
    actions.delete(_visible(request, benchmark_id), user=cast(User, request.user))
    return redirect("benchmarks")
