"""Receiving an archive.

Who asks, and how much they want to send, is checked before the body is read: a stranger's 300 MB should not
reach the disk. Only then does Django parse the form and check its CSRF token.
"""

import contextlib
import datetime as dt
from pathlib import Path
from typing import Any, cast

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from accounts.refusals import Refused
from competitions import clock
from competitions.models import Phase
from pages import frame
from pages.answers import refusal_as_json, wants_json
from pages.middleware import without_nul
from pages.views.submissions import list_context, own_submissions
from submissions import actions

FORM_BYTES = 2**20  # what the form may hold beside the archive
DRAINED_ARCHIVES = 4  # how many largest archives a refused client may send until it is cut off
DRAIN_BLOCK = 2**20


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def submissions(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The page of one's submissions, and where archives are posted to. The CSRF check follows in `_received`."""
    if request.method != "POST":
        return own_submissions(request, slug)
    # Taken before the body is read: an upload that begins before a phase closes belongs to the phase.
    begun = timezone.now()
    if not request.user.is_authenticated:
        drain(request)
        return redirect_to_login(request.path)
    shown = frame.load(request, slug)
    try:
        check_before_reading(request, shown)
    except Refused as refused:
        drain(request)
        return told(request, shown, refused)
    request.upload_handlers = [TemporaryFileUploadHandler(request)]
    return _received(request, shown, clock.at(begun, shown.competition))


def check_before_reading(request: HttpRequest, shown: frame.Frame) -> None:
    """Refuse who may not submit, and a body that is larger than any archive may be."""
    if not shown.may_submit:
        raise Refused(
            f"Only participants of {shown.competition.title} may submit.",
            status=403,
            mend="Join the competition first.",
        )
    if not request.META.get("CONTENT_LENGTH"):
        raise Refused(
            "The upload does not say how long it is.",
            status=411,
            mend="Send it with a Content-Length, as browsers do.",
        )
    length = int(request.META["CONTENT_LENGTH"])
    if length > settings.MAX_ARCHIVE_BYTES + FORM_BYTES:
        most = settings.MAX_ARCHIVE_BYTES // 2**20
        raise Refused(
            f"The archive is larger than the limit of {most} MiB.",
            status=413,
            mend="Leave out data and models that are not needed.",
        )


@csrf_protect
def _received(request: HttpRequest, shown: frame.Frame, begun_at: dt.datetime) -> HttpResponseBase:
    request.POST = without_nul(request.POST)  # type: ignore[assignment]
    try:
        assert request.user.is_authenticated
        upload = request.FILES.get("archive")
        if upload is None:
            raise Refused("No file was sent.", mend="Choose the zip to submit.")
        submission = actions.submit(
            user=request.user,
            phase=chosen_phase(request, shown),
            archive=Path(cast(TemporaryUploadedFile, upload).temporary_file_path()),
            filename=upload.name or "submission.zip",
            comment=request.POST.get("comment", ""),
            begun_at=begun_at,
            drops_code=request.POST.get("drops_code") == "1",
        )
    except Refused as refused:
        return told(request, shown, refused)
    url = submission.get_absolute_url()
    if wants_json(request):
        return JsonResponse({"submission": submission.pk, "url": url}, status=201)
    return redirect(url)


def chosen_phase(request: HttpRequest, shown: frame.Frame) -> Phase:
    """The phase that the form names, else the one that is open."""
    named = request.POST.get("phase")
    if named:
        phase = shown.phase_by_number(named)
        if phase is None:
            raise Refused(f"{shown.competition.title} has no phase {named[:20]!r}.")
        return phase
    phase = next(iter(shown.submit_phases), shown.current)
    if phase is None:
        raise Refused(f"{shown.competition.title} has no phases yet.", status=409)
    return phase


def told(request: HttpRequest, shown: frame.Frame, refused: Refused) -> HttpResponse:
    """The refusal as JSON, or above the upload form."""
    if wants_json(request):
        return refusal_as_json(refused)
    context: dict[str, Any] = {**list_context(shown, request), "refused": refused}
    return render(request, "submissions/list.html", context, status=refused.status)


def drain(request: HttpRequest) -> None:
    """Read what a refused client still sends, up to a bound, and throw it away.

    A server that closes while its client is sending resets the connection, and the answer is lost.
    """
    most = DRAINED_ARCHIVES * settings.MAX_ARCHIVE_BYTES
    left = min(int(request.META.get("CONTENT_LENGTH") or 0), most)
    # A client that breaks off needs no answer, and its broken connection is no error of ours.
    with contextlib.suppress(OSError):
        while left > 0:
            block = request.read(min(left, DRAIN_BLOCK))
            if not block:
                return
            left -= len(block)
