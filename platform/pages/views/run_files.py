"""Files that organizers' programs, and code that they run, left of a run."""

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.refusals import Refused
from pages import frame
from pages.answers import as_stranger_file, tells_refusals
from pages.views.submissions import found_submission
from submissions import policy
from submissions.models import RunFile

# A page of details may bring its own styles and pictures, but no script runs and nothing is loaded from elsewhere.
DETAILS_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:; "
    "form-action 'none'; frame-ancestors 'none'"
)
TEXTS = (RunFile.Kind.INGESTION_LOG, RunFile.Kind.SCORING_LOG, RunFile.Kind.SCORES)


@login_required
@never_cache
@require_safe
@tells_refusals
def run_file(request: HttpRequest, slug: str, submission_id: int, run_id: int, kind: str) -> HttpResponseBase:
    """One file of a run: logs as plain text, details under a policy of their own, the rest to be saved."""
    shown = frame.load(request, slug)
    submission = found_submission(request, shown, submission_id)
    run = next((run for run in submission.runs.all() if run.pk == run_id), None)
    if run is None or kind not in RunFile.Kind.values:
        raise Http404("There is no such file.")
    if kind not in policy.readable_kinds(request.user, submission, run.task):
        raise Refused("This file is open to the organizers only.", status=403)
    found = run.files.filter(kind=kind).first()
    if found is None:
        raise Http404("There is no such file.")
    return _answer(found, f"submission-{submission.number}-run-{run.order + 1}")


def _answer(found: RunFile, prefix: str) -> HttpResponseBase:
    file = found.file.open("rb")
    if found.kind == RunFile.Kind.DETAILS:
        answer = as_stranger_file(FileResponse(file, content_type="text/html; charset=utf-8"))
        answer.headers["Content-Security-Policy"] = DETAILS_POLICY
        return answer
    if found.kind in TEXTS:
        return as_stranger_file(FileResponse(file, content_type="text/plain; charset=utf-8"))
    name = f"{prefix}-{found.kind}.zip"
    return as_stranger_file(FileResponse(file, as_attachment=True, filename=name, content_type="application/zip"))
