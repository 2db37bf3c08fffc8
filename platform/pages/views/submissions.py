"""Submissions: the list, one submission with its live state, its logs and its archive."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from accounts.refusals import Refused
from competitions.models import Entrant, Organizer, Phase
from leaderboards.columns.choosing import choice_of
from pages import forward, frame, own
from pages.answers import as_stranger_file, tells_refusals
from pages.text import plain_log
from submissions import actions, moderation, policy
from submissions.models import Prediction, Run, Submission
from submissions.models.submission import quota_left
from submissions.public import submission_state

PER_PAGE = 25


def list_context(shown: frame.Frame, request: HttpRequest) -> dict[str, object]:
    """What the page of a person's own submissions shows: the form, the quota, one page of the list."""
    assert request.user.is_authenticated
    entrant = shown.viewer.entrant
    own_ones = Submission.objects.filter(entrant=entrant) if entrant else Submission.objects.none()
    page = Paginator(own.with_runs(own_ones), PER_PAGE).get_page(request.GET.get("page"))
    lines = own.listed(list(page), sees_hidden=shown.sees_hidden, now=shown.now)
    phase = shown.phase_by_number(request.GET.get("phase")) or next(iter(shown.submit_phases), None)
    return shown.context(
        "submissions",
        entrant=entrant,
        page=page,
        lines=lines,
        any_active=any(line.state == Submission.State.ACTIVE for line in lines),
        most_bytes=settings.MAX_ARCHIVE_BYTES,
        quotas=[(open_phase, _quota(open_phase, entrant, shown)) for open_phase in shown.submit_phases],
        chosen=phase,
        standings=forward.standings(shown.phases, entrant, shown.now),
        blind_next=forward.feeds_blind_phases(shown.phases, shown.submit_phases),
        drops_code=request.POST.get("drops_code") == "1",
    )


def _quota(phase: Phase, entrant: Entrant | None, shown: frame.Frame) -> int | None:
    if entrant is not None:
        return quota_left(phase, entrant, shown.now)
    limits = [limit for limit in (phase.daily_quota, phase.total_quota) if limit is not None]
    return min(limits) if limits else None


@login_required
@never_cache
@vary_on_headers("HX-Request")
def own_submissions(request: HttpRequest, slug: str) -> HttpResponse:
    """The upload form and the person's own submissions; for htmx the list alone."""
    shown = frame.load(request, slug)
    template = "submissions/list_part.html" if is_part(request) else "submissions/list.html"
    return render(request, template, list_context(shown, request))


def is_part(request: HttpRequest) -> bool:
    """Whether htmx asks for the live part of a page rather than for the page."""
    return request.headers.get("HX-Request") == "true" and request.headers.get("HX-Boosted") != "true"


def found_submission(request: HttpRequest, shown: frame.Frame, submission_id: int) -> Submission:
    """The submission of an address; somebody else's is as unknown as one that does not exist."""
    of_competition = policy.visible_submissions(request.user, shown.competition)
    submission = own.with_runs(of_competition).filter(pk=submission_id).first()
    if submission is None:
        raise Http404("There is no such submission.")
    return submission


@login_required
@never_cache
@vary_on_headers("HX-Request")
@require_safe
def detail(request: HttpRequest, slug: str, submission_id: int) -> HttpResponse:
    """One submission; for htmx its live part alone, which asks again every 2 s until all has ended."""
    shown = frame.load(request, slug)
    submission = found_submission(request, shown, submission_id)
    may_see_log = policy.may_see_log(request.user, submission)
    runs = own.shown_runs(
        submission,
        user=request.user,
        sees_hidden=shown.sees_hidden,
        may_see_log=may_see_log,
        sees_attempts=may_see_log and shown.is_organizer,
        now=shown.now,
    )
    state, state_label = submission_state(submission, [run.view for run in runs])
    context = shown.context(
        "submissions",
        submission=submission,
        runs=runs,
        state=state,
        state_label=state_label,
        is_active=state == Submission.State.ACTIVE,
        counts=submission.pk in own.counting([submission.phase_id], [submission.entrant_id]),
        may_see_log=may_see_log,
        may_download=policy.may_download(request.user, submission),
        may_cancel=submission.is_active
        and submission.origin_id is None
        and policy.may_cancel(request.user, submission),
        is_own=policy.is_own(request.user, submission),
        to_ask=_owners(shown) if submission.disqualified_at else [],
        may_choose=_may_choose(submission, policy.is_own(request.user, submission), shown),
        board_choice=choice_of(submission) if policy.is_own(request.user, submission) else None,
    )
    return render(
        request, "submissions/detail_part.html" if is_part(request) else "submissions/detail.html", context
    )


def _owners(shown: frame.Frame) -> list[str]:
    """Whom an entrant asks why: what the organizers wrote in the log stays among them."""
    owners = shown.competition.organizers.filter(role=Organizer.Role.OWNER).select_related("user")
    return [owner.user.display_name for owner in owners.order_by("pk")]


@login_required
@require_POST
@tells_refusals
def cancel(request: HttpRequest, slug: str, submission_id: int) -> HttpResponseBase:
    """Cancel what has not ended."""
    shown = frame.load(request, slug)
    assert request.user.is_authenticated
    submission = found_submission(request, shown, submission_id)
    actions.cancel(submission, by=request.user)
    return redirect("submission", slug=slug, submission_id=submission_id)


def _may_choose(submission: Submission, is_own: bool, shown: frame.Frame) -> bool:
    """Whether the entrant may let this submission count now, and it does not yet by choice."""
    phase = submission.phase
    asks = is_own and phase.counts == Phase.Counts.CHOSEN and submission.competes and not submission.is_chosen
    return asks and phase.is_open_for(submission.entrant, shown.now)


@login_required
@require_POST
@tells_refusals
def choose(request: HttpRequest, slug: str, submission_id: int) -> HttpResponseBase:
    """Let this submission count, where the phase leaves the choice to its entrants."""
    shown = frame.load(request, slug)
    assert request.user.is_authenticated
    submission = found_submission(request, shown, submission_id)
    moderation.choose(submission, by=request.user)
    return redirect("submission", slug=slug, submission_id=submission_id)


@login_required
@require_safe
@tells_refusals
def archive(request: HttpRequest, slug: str, submission_id: int) -> HttpResponseBase:
    """The archive as it was uploaded, for its entrant and the organizers."""
    shown = frame.load(request, slug)
    submission = found_submission(request, shown, submission_id)
    if not policy.may_download(request.user, submission):
        raise Refused("This archive is not open to you.", status=403)
    name = f"submission-{submission.number}.zip"
    file = submission.archive.open("rb")
    return as_stranger_file(FileResponse(file, as_attachment=True, filename=name, content_type="application/zip"))


@login_required
@require_safe
@tells_refusals
def log(request: HttpRequest, slug: str, submission_id: int, run_id: int) -> HttpResponseBase:
    """The log of a run as plain text; `?download=1` gives its bytes untouched as a file."""
    shown = frame.load(request, slug)
    submission = found_submission(request, shown, submission_id)
    run = next((run for run in submission.runs.all() if run.pk == run_id), None)
    if run is None:
        raise Http404("There is no such run.")
    if not policy.may_see_log(request.user, submission):
        raise Refused("Logs of this phase are open to its organizers only.", status=403)
    plain = "text/plain; charset=utf-8"
    if request.GET.get("download"):
        name = f"submission-{submission.number}-run-{run.order + 1}.log"
        if run.log:
            answer = FileResponse(run.log.open("rb"), as_attachment=True, filename=name, content_type=plain)
            return as_stranger_file(answer)
        response = HttpResponse(run.log_tail, content_type=plain)
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return as_stranger_file(response)
    return as_stranger_file(HttpResponse(plain_log(log_text(run)), content_type=plain))


@login_required
@require_safe
@tells_refusals
def prediction(request: HttpRequest, slug: str, submission_id: int, run_id: int, file_id: int) -> HttpResponseBase:
    """A file that was collected of a run, for organizers who may read its log."""
    shown = frame.load(request, slug)
    submission = found_submission(request, shown, submission_id)
    if not (shown.is_organizer and policy.may_see_log(request.user, submission)):
        raise Refused("Files of runs are open to the organizers only.", status=403)
    found = Prediction.objects.filter(run=run_id, run__submission=submission, pk=file_id).first()
    if found is None or not found.file:  # of a replay, the score of a prediction is known and its file is not
        raise Http404("There is no such file.")
    plain = "text/plain; charset=utf-8"
    answer = FileResponse(found.file.open("rb"), as_attachment=True, filename=found.name, content_type=plain)
    return as_stranger_file(answer)


def log_text(run: Run) -> str:
    """The whole log of an ended run; of a running one its last lines."""
    if not run.log:
        return run.log_tail
    with run.log.open("rb") as file:
        content: bytes = file.read()
    return content.decode("utf-8", errors="replace")
