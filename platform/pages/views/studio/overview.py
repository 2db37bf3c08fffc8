"""The studio's first page: what state a competition is in, what it still needs, what stands and what was done."""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import User
from accounts.refusals import Refused
from competitions import checklist, policy
from competitions.actions.base import Action
from competitions.actions.clone import Clone
from competitions.actions.publishing import Archive, Publish, Unarchive, Unpublish
from competitions.models import Competition
from pages import frame, organizing, studio, zones
from pages.answers import tells_refusals
from pages.contest_forms import CloneForm
from pages.organizer_actions import OFFERS
from pages.phase_studio import next_midnight
from pages.views.studio.doing import editors_frame, person
from submissions.deletion import DeleteCompetition

State = Competition.State


@login_required
@never_cache
@require_safe
@tells_refusals
def manage(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The state and the checklist, the phases with what may be done with them, and the latest of the audit log."""
    shown = studio.opened(request, slug)
    contest = shown.competition
    facts = checklist.gathered(contest, shown.now, shown.phases, sees_hidden=shown.sees_hidden)
    lines = [_line(contest, item) for item in checklist.check(facts)]
    context = studio.context(
        shown,
        "manage",
        steps=[step for step in STEPS.values() if contest.state in step.came_from and _may(shown, step)],
        needed=[line for line in lines if line.is_needed],
        advice=[line for line in lines if not line.is_needed and not line.is_done],
        is_ready=all(line.is_done for line in lines if line.is_needed),
        may_clone=_may_clone(shown),
        may_delete=shown.viewer.owns,
        people=contest.participants.filter(state="approved").count(),
        waiting=contest.participants.filter(state="pending").count(),
        protocol=organizing.shown_phases(contest, shown.phases, shown.now, sees_hidden=shown.sees_hidden),
        offers={name: offer.label for name, offer in OFFERS.items()},
        sees_hidden=shown.sees_hidden,
        # What was done may name what is hidden.
        audit=organizing.audit(contest) if shown.sees_hidden else [],
    )
    return render(request, "studio/overview.html", context)


@dataclass(frozen=True)
class Line:
    """A line of the checklist as the page shows it, with the address where it is mended."""

    text: str
    is_done: bool
    is_needed: bool
    href: str
    label: str


def _line(contest: Competition, item: checklist.Item) -> Line:
    text = item.text if item.is_done or not item.mend else f"{item.text}. {item.mend}"
    section = next((one for one in studio.SECTIONS if one.key == item.section), studio.SECTIONS[0])
    return Line(text, item.is_done, item.is_needed, reverse(section.name, args=[contest.slug]), section.label)


@dataclass(frozen=True)
class Step:
    """A button that changes the state of the whole competition. `typed`: its name has to be typed first."""

    key: str
    label: str
    make: Callable[[User, Competition, str], Action]
    came_from: tuple[str, ...]
    typed: bool = False
    for_owners: bool = False
    style: str = "quiet"


STEPS = {
    step.key: step
    for step in (
        Step("publish", "Publish", lambda by, contest, _: Publish(by, contest), (State.DRAFT,), style=""),
        Step("unpublish", "Unpublish", lambda by, contest, _: Unpublish(by, contest), (State.PUBLISHED,), True),
        Step("archive", "Archive", lambda by, contest, _: Archive(by, contest), (State.PUBLISHED,), True),
        Step("unarchive", "Open again", lambda by, contest, _: Unarchive(by, contest), (State.ARCHIVED,)),
        Step("delete", "Delete", DeleteCompetition, tuple(State.values), True, True, "danger"),
    )
}


def _may(shown: frame.Frame, step: Step) -> bool:
    return shown.viewer.owns if step.for_owners else shown.viewer.may_edit


def _may_clone(shown: frame.Frame) -> bool:
    is_rehearsal = shown.competition.rehearses_id is not None
    return shown.viewer.may_edit and not is_rehearsal and policy.may_create_competition(shown.viewer.user)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
def take_step(request: HttpRequest, slug: str, step: str) -> HttpResponseBase:
    """What publishing, archiving or deleting would mean; a POST does it, where asked with the name typed."""
    shown = editors_frame(request, slug)
    wanted = STEPS.get(step)
    if wanted is None:
        raise Http404("There is no such step.")
    contest, typed = shown.competition, request.POST.get("typed", "").strip()
    action = wanted.make(person(request), contest, typed or contest.slug)
    refused = None
    try:
        action.permit()
        action.check(shown.now)
        if request.method == "POST":
            if wanted.typed and typed not in (contest.title, contest.slug):
                raise Refused("What was typed is not the name of the competition.", mend=f"Type {contest.slug}.")
            messages.success(request, action.execute())
            return redirect("competitions") if step == "delete" else redirect("manage", slug=slug)
    except Refused as problem:
        if problem.status == 403:
            raise
        refused = problem
    context = studio.context(
        shown, "manage", step=wanted, preview=action.preview(shown.now), refused=refused, typed=typed
    )
    return render(request, "studio/step.html", context, status=refused.status if refused else 200)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
@zones.in_own_zone
def clone(request: HttpRequest, slug: str) -> HttpResponseBase:
    """What the copy is called and when it begins; a POST makes it."""
    shown = editors_frame(request, slug)
    contest = shown.competition
    title = f"{contest.title[:110]} (copy)"
    form = CloneForm(
        request.POST if request.method == "POST" else None,
        initial={"title": title, "start": next_midnight(shown.now)},
        has_phases=bool(shown.phases),
    )
    action = Clone(person(request), contest, title, "")
    action.permit()
    refused = None
    if form.is_valid():
        action = Clone(person(request), contest, **form.cleaned_data)
        try:
            action.execute()
        except Refused as problem:
            refused = problem
        else:
            messages.success(request, f"{action.made.title} is a draft with the same pages, phases and datasets.")
            return redirect("manage", slug=action.made.slug)
    context = studio.context(
        shown,
        "manage",
        form=form,
        refused=refused,
        sentences=Clone(person(request), contest, title, "").preview(shown.now).sentences[:2],
        zone=zones.of_request(request),
    )
    is_bad = bool(refused or form.errors)
    return render(
        request, "studio/clone.html", context, status=refused.status if refused else 400 if is_bad else 200
    )
