"""Importing bundles: the form, the report with its questions, and the page that tells how far it is.

Who asks, and how much they want to send, is checked before a body is read, as for submissions.
"""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from accounts.models import User
from accounts.refusals import Refused
from bundles import receiving
from bundles.models import BundleImport
from competitions.policy import resolved
from pages.answers import refusal, refusal_as_json, tells_refusals, wants_json
from pages.views.submissions import is_part
from pages.views.upload import FORM_BYTES, drain

SOLUTIONS = "solutions"


@csrf_exempt
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def imports(request: HttpRequest) -> HttpResponseBase:
    """The form with one's bundles, and where a bundle is posted to. The CSRF check follows in `_received`."""
    if not request.user.is_authenticated:
        drain(request)
        return redirect_to_login(request.path)
    try:
        receiving.require_sender(request.user)
        if request.method != "POST":
            return _form(request, request.user)
        _check_length(request)
    except Refused as refused:
        drain(request)
        return refusal(request, refused)
    request.upload_handlers = [TemporaryFileUploadHandler(request)]
    return _received(request)


def _check_length(request: HttpRequest) -> None:
    length = request.META.get("CONTENT_LENGTH")
    if not length:
        raise Refused("The upload does not say how long it is.", status=411)
    if int(length) > receiving.MOST_BYTES + FORM_BYTES:
        raise Refused(f"A bundle has at most {receiving.MOST_BYTES // 2**30} GiB.", status=413)


def _form(request: HttpRequest, user: User, refused: Refused | None = None) -> HttpResponse:
    context = {
        "imports": BundleImport.objects.filter(owner=user).select_related("competition"),
        "most_bytes": receiving.MOST_BYTES,
        "refused": refused,
    }
    return render(request, "bundles/imports.html", context, status=refused.status if refused else 200)


@csrf_protect
def _received(request: HttpRequest) -> HttpResponseBase:
    assert request.user.is_authenticated
    try:
        file = request.FILES.get("bundle")
        if file is None:
            raise Refused("No file was sent.", mend="Choose the zip of the bundle.")
        bundle = receiving.receive(request.user, file, filename=file.name or "")
    except Refused as refused:
        return refusal_as_json(refused) if wants_json(request) else _form(request, request.user, refused)
    if wants_json(request):
        return JsonResponse({"url": bundle.get_absolute_url()}, status=201)
    return redirect(bundle)


def _own(request: HttpRequest, import_id: int) -> BundleImport:
    """One's own bundle; it holds the labels, so nobody else is shown it, operators included."""
    own = BundleImport.objects.filter(owner=request.user.pk).select_related("owner", "competition")
    return resolved(own, import_id, "bundle")


@login_required
@never_cache
@vary_on_headers("HX-Request")
@require_safe
@tells_refusals
def show(request: HttpRequest, import_id: int) -> HttpResponse:
    """One bundle: how far it is, then its report and what it asks. For htmx the live part alone."""
    bundle = _own(request, import_id)
    template = "bundles/import_part.html" if is_part(request) else "bundles/import.html"
    return render(request, template, {"bundle": bundle, **_told(bundle)})


def _told(bundle: BundleImport) -> dict[str, Any]:
    """The report as the page shows it: problems in one list, questions with what was answered so far."""
    report = bundle.report
    kinds = (("errors", "error", "bad"), ("warnings", "warning", "waiting"))
    problems = [
        {**one, "weight": word, "style": style} for key, word, style in kinds for one in report.get(key, [])
    ]
    questions = [
        {**one, "answer": bundle.answers.get(one["key"], one["default"])} for one in report.get("questions", [])
    ]
    return {
        "problems": problems,
        "questions": questions,
        "found": report.get("found", []),
        "has_solutions": bool(report.get("solutions")),
        "with_solutions": bundle.answers.get(SOLUTIONS) == "yes",
    }


@login_required
@require_POST
@tells_refusals
def answer(request: HttpRequest, import_id: int) -> HttpResponseBase:
    """Keep the answers; then import the bundle, or read it again where `again` was pressed."""
    bundle = _own(request, import_id)
    given = {name.removeprefix("answer:"): str(value) for name, value in request.POST.items()}
    given[SOLUTIONS] = "yes" if request.POST.get(SOLUTIONS) == "yes" else "no"
    receiving.answer(bundle, given, is_wanted="again" not in request.POST)
    return redirect(bundle)


@login_required
@require_POST
@tells_refusals
def remove(request: HttpRequest, import_id: int) -> HttpResponseBase:
    """Remove a bundle with its report; the competition that was made of it stays."""
    receiving.discard(_own(request, import_id))
    return redirect("bundle_imports")
