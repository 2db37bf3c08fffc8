"""Sending datasets: the form, the pieces of a large file, and the page that tells how far the reading is.

Who asks, and how much they want to send, is checked before a body is read, as for submissions.
"""

import json
from typing import IO, Any, cast

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.http.request import RawPostDataException
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from accounts.models import User
from accounts.refusals import Refused
from competitions.policy import resolved
from datasets.models import Dataset
from datasets.policy import Access
from datasets.uploads import policy, receiving
from datasets.uploads.models import Upload
from pages.answers import refusal, refusal_as_json, tells_refusals, wants_json
from pages.datasets import finding_lines, load
from pages.middleware import NUL, without_nul
from pages.views.submissions import is_part
from pages.views.upload import FORM_BYTES, drain

WHOLE_BYTES = 100 * 2**20  # what a plain form may send in one request
BEGIN_BYTES = 2**16
FOR_ORGANIZERS = "Only organizers may send datasets."


@csrf_exempt
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def uploads(request: HttpRequest) -> HttpResponseBase:
    """The form with one's uploads, and where a small file is posted to. The CSRF check follows in `_received`."""
    if not request.user.is_authenticated:
        drain(request)
        return redirect_to_login(request.path)
    try:
        check_may_send(request)
        if request.method != "POST":
            return _form(request, target=_target(request, request.GET.get("dataset")))
        _check_length(request)
    except Refused as refused:
        drain(request)
        return refusal(request, refused)
    request.upload_handlers = [TemporaryFileUploadHandler(request)]
    return _received(request)


def check_may_send(request: HttpRequest) -> User:
    """The person who asks, if they may send datasets."""
    if not request.user.is_authenticated or not policy.may_upload(request.user):
        mend = "Ask the operator for the permission to make competitions, or an organizer for a role as editor."
        raise Refused(FOR_ORGANIZERS, status=403, mend=mend)
    return request.user


def _check_length(request: HttpRequest) -> None:
    length = request.META.get("CONTENT_LENGTH")
    if not length:
        raise Refused("The upload does not say how long it is.", status=411)
    if int(length) > WHOLE_BYTES + FORM_BYTES:
        most = WHOLE_BYTES // 2**20
        mend = "With JavaScript larger ones are sent in pieces."
        raise Refused(f"A form sends files of at most {most} MiB.", status=413, mend=mend)


def _target(request: HttpRequest, slug: object) -> Dataset | None:
    """The dataset that gets a new version, where one is named; 404 for who may not edit it."""
    return load(request, str(slug), least=Access.EDITOR).dataset if slug else None


def _form(request: HttpRequest, refused: Refused | None = None, target: Dataset | None = None) -> HttpResponse:
    last = target.versions.order_by("-number").first() if target else None
    context = {
        "target": target,
        "target_name": last.name if last else "",
        "uploads": policy.visible_uploads(request.user).select_related("version__dataset"),
        "most_bytes": settings.MAX_DATASET_BYTES,
        "whole_bytes": WHOLE_BYTES,
        "piece_bytes": receiving.PIECE_BYTES,
        "refused": refused,
    }
    return render(request, "datasets/uploads.html", context, status=refused.status if refused else 200)


@csrf_protect
def _received(request: HttpRequest) -> HttpResponseBase:
    request.POST = without_nul(request.POST)  # type: ignore[assignment]
    try:
        file = request.FILES.get("file")
        if file is None:
            raise Refused("No file was sent.", mend="Choose the file that holds the data.")
        upload = receiving.begin(
            cast(User, request.user),
            filename=file.name or "",
            size=file.size or 0,
            dataset=_target(request, request.POST.get("dataset")),
            title=request.POST.get("title", ""),
            description=request.POST.get("description", ""),
            check_only=request.POST.get("check_only") == "1",
        )
        receiving.receive_whole(upload, cast(IO[bytes], file))
    except Refused as refused:
        return refusal_as_json(refused) if wants_json(request) else _form(request, refused)
    return redirect(upload)


@login_required
@require_POST
@tells_refusals
def begin(request: HttpRequest) -> HttpResponseBase:
    """Begin to send a file in pieces, or go on with it: JSON in, `{"url", "content", "received"}` out."""
    user = check_may_send(request)
    given = _json(request)
    upload = receiving.begin(
        user,
        filename=str(given.get("filename", "")),
        size=_whole(given.get("size")),
        fingerprint=str(given.get("fingerprint", "")),
        dataset=_target(request, given.get("dataset")),
        title=str(given.get("title", "")),
        description=str(given.get("description", "")),
        check_only=given.get("check_only") is True,
    )
    return JsonResponse({**_standing(upload), "url": upload.get_absolute_url()}, status=201)


def _json(request: HttpRequest) -> dict[str, Any]:
    if int(request.META.get("CONTENT_LENGTH") or 0) > BEGIN_BYTES:
        raise Refused("The description of the upload is too long.", status=413)
    try:
        given = json.loads(request.body)
    except (ValueError, RawPostDataException):  # the latter: a form, which was read as one before
        given = None
    if not isinstance(given, dict):
        raise Refused("The description of the upload is no JSON object.")
    return {name: text.replace(NUL, "") if isinstance(text, str) else text for name, text in given.items()}


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refused("The upload does not say how large the file is.")
    return value


def _standing(upload: Upload) -> dict[str, object]:
    return {"upload": upload.pk, "received": upload.received, "size": upload.size, "state": upload.state}


def found(request: HttpRequest, upload_id: int) -> Upload:
    """One's own upload; anybody else's is as unknown as one that does not exist."""
    return resolved(policy.visible_uploads(request.user).select_related("version__dataset"), upload_id, "upload")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "PUT"])
def content(request: HttpRequest, upload_id: int) -> HttpResponseBase:
    """PUT keeps the bytes from `Upload-Offset` on; GET says how many have arrived. Both answer JSON."""
    try:
        upload = found(request, upload_id)
        if request.method == "PUT":
            length = request.META.get("CONTENT_LENGTH") or "0"
            offset = request.headers.get("Upload-Offset", "")
            if not offset.isdecimal() or not length.isdecimal():
                raise Refused("A piece must say its offset and its length.")
            upload = receiving.receive(upload, cast(IO[bytes], request), offset=int(offset), length=int(length))
    except Refused as refused:
        drain(request)
        return refusal_as_json(refused)
    return JsonResponse({**_standing(upload), "url": upload.get_absolute_url()})


@login_required
@never_cache
@vary_on_headers("HX-Request")
@require_safe
@tells_refusals
def upload_page(request: HttpRequest, upload_id: int) -> HttpResponse:
    """One upload: how far it is, then its report and what can be done next. For htmx the live part alone."""
    upload = found(request, upload_id)
    context = {
        "upload": upload,
        "lines": finding_lines(upload.report),
        "piece_bytes": receiving.PIECE_BYTES,
        "has_file": upload.parts.exists(),
        "now": timezone.now(),
    }
    template = "datasets/upload_part.html" if is_part(request) else "datasets/upload.html"
    return render(request, template, context)


@login_required
@require_POST
@tells_refusals
def import_checked(request: HttpRequest, upload_id: int) -> HttpResponseBase:
    """Keep what was only checked or tried, or work again on a file that failed."""
    upload = found(request, upload_id)
    check_may_send(request)
    receiving.work_again(upload, job=Upload.Job.PREPARE if upload.recipe else Upload.Job.IMPORT)
    return redirect(upload)


@login_required
@require_POST
@tells_refusals
def remove(request: HttpRequest, upload_id: int) -> HttpResponseBase:
    """Remove an upload with its file and its report; what was imported from it stays."""
    receiving.discard(found(request, upload_id))
    return redirect("dataset_uploads")
