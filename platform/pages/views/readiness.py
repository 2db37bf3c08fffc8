"""Readiness checks of one submission: ask, watch, cancel, read the log."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from accounts.refusals import Refused
from pages import frame
from pages.answers import as_stranger_file, tells_refusals
from pages.readiness import whole_log
from pages.text import plain_log
from pages.views.submissions import found_submission, is_part
from submissions import policy, readiness
from submissions.models import ReadinessCheck, Submission


@login_required
@never_cache
@vary_on_headers("HX-Request")
@require_safe
def show(request: HttpRequest, slug: str, submission_id: int) -> HttpResponse:
    """The panel as a page; for htmx the panel alone, which asks again every 2 s until the check has ended."""
    shown = frame.load(request, slug)
    submission = found_submission(request, shown, submission_id)
    template = "submissions/readiness_part.html" if is_part(request) else "submissions/readiness.html"
    return render(request, template, shown.context("submissions", submission=submission))


@login_required
@require_POST
@tells_refusals
def ask(request: HttpRequest, slug: str, submission_id: int) -> HttpResponseBase:
    """Queue a check."""
    shown = frame.load(request, slug)
    assert request.user.is_authenticated
    readiness.ask(found_submission(request, shown, submission_id), by=request.user)
    return _back(slug, submission_id)


@login_required
@require_POST
@tells_refusals
def cancel(request: HttpRequest, slug: str, submission_id: int) -> HttpResponseBase:
    """Cancel the check that has not ended."""
    shown = frame.load(request, slug)
    assert request.user.is_authenticated
    submission = found_submission(request, shown, submission_id)
    readiness.cancel(_latest(submission), by=request.user)
    return _back(slug, submission_id)


@login_required
@require_safe
@tells_refusals
def log(request: HttpRequest, slug: str, submission_id: int) -> HttpResponseBase:
    """The logs of all traits of the last check as plain text; `?download=1` gives them as a file."""
    shown = frame.load(request, slug)
    submission = found_submission(request, shown, submission_id)
    if not policy.may_see_log(request.user, submission):
        raise Refused("Logs of this phase are open to its organizers only.", status=403)
    text = "".join(whole_log(_latest(submission)))
    plain = "text/plain; charset=utf-8"
    if not request.GET.get("download"):
        return as_stranger_file(HttpResponse(plain_log(text), content_type=plain))
    response = HttpResponse(text, content_type=plain)
    name = f"submission-{submission.number}-readiness.log"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return as_stranger_file(response)


def _latest(submission: Submission) -> ReadinessCheck:
    check = submission.readiness_checks.select_related("submission__phase__round__competition").first()
    if check is None:
        raise Http404("This submission was never checked.")
    return check


def _back(slug: str, submission_id: int) -> HttpResponseBase:
    return redirect(reverse("submission", kwargs={"slug": slug, "submission_id": submission_id}) + "#readiness")
