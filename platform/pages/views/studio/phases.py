"""The Phases section: all phases with their dates, and what concerns several of them at once."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.refusals import Refused
from competitions.actions.phases import FillFromBlueprint, MoveDates, dates_seen
from competitions.actions.rounds import AddRound, EditRound, RemoveRound
from competitions.models import Competition, Round
from competitions.policy import resolved
from pages import frame, phase_studio, studio, zones
from pages.answers import tells_refusals
from pages.phase_forms import FillForm, RoundForm, ZoneForm
from pages.views.studio.doing import do, editors_frame, is_careful, person

SECTION = "phases"


def section_page(
    request: HttpRequest, shown: frame.Frame, *, data: phase_studio.Section | None = None, **more: object
) -> HttpResponse:
    """The page with its timeline; `more` may hold a refusal, or forms that were sent."""
    section = data or phase_studio.section(shown)
    zone = zones.of_request(request)
    context = {
        "page": section,
        "zone": zone,
        "zone_form": ZoneForm(initial={"time_zone": request.user.time_zone}),  # type: ignore[union-attr]
        "fill_form": FillForm(initial={"start": phase_studio.next_midnight(shown.now)}),
        "seen": dates_seen(shown.phases),
        **more,
    }
    status = 409 if "refused" in more else 400 if "is_wrong" in more else 200
    return render(request, "studio/phases.html", studio.context(shown, SECTION, **context), status=status)


@login_required
@never_cache
@require_safe
@tells_refusals
@zones.in_own_zone
def phases(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Rounds and phases for every organizer; editors may move them."""
    shown = frame.load(request, slug)
    if not shown.is_organizer:
        raise Refused(f"This page is for the organizers of {shown.competition.title}.", status=403)
    return section_page(request, shown)


@login_required
@require_POST
@tells_refusals
@zones.in_own_zone
def dates(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Move the dates of the timeline; for htmx only say what stands against them."""
    shown = editors_frame(request, slug)
    section = phase_studio.section(shown, data=request.POST)
    forms = [row.form for row in section.rows]
    is_valid = not [form for form in forms if not form.is_valid()]
    action = MoveDates(
        by=person(request),
        contest=shown.competition,
        dates={form.phase.pk: form.dates() for form in forms} if is_valid else {},
        seen=request.POST.get("seen", ""),
    )
    found = action.problems(shown.now) if is_valid else []
    if request.htmx:  # type: ignore[attr-defined]
        context = {"forms": forms, "found": [problem for _, problem in found], "is_valid": is_valid}
        return render(request, "studio/date_problems.html", context)
    for phase, problem in found:
        form = next(form for form in forms if form.phase.pk == phase.pk)
        form.add_error(problem.field if problem.field in form.fields else None, str(problem))
    seen = request.POST.get("seen", "")
    if not is_valid or found:
        return section_page(request, shown, data=section, is_wrong=True, seen=seen)
    try:
        return do(
            request,
            shown,
            SECTION,
            action,
            title="Save the dates",
            back=reverse("manage_phases", args=[slug]),
            shows_first=is_careful(shown.competition),
        )
    except Refused as refused:
        return section_page(request, shown, refused=refused)


@login_required
@require_POST
@tells_refusals
def zone(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Choose the time zone in which one's own moments are typed and shown in forms."""
    editors_frame(request, slug)
    form = ZoneForm(request.POST)
    if not form.is_valid():
        raise Refused("There is no such time zone.")
    user = person(request)
    user.time_zone = form.cleaned_data["time_zone"]
    user.save(update_fields=["time_zone"])
    messages.success(request, f"Times are typed in {zones.of_request(request).name}.")
    return redirect("manage_phases", slug=slug)


@login_required
@require_POST
@tells_refusals
@zones.in_own_zone
def fill(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Give an empty competition the phases of a template."""
    shown = editors_frame(request, slug)
    form = FillForm(request.POST)
    if not form.is_valid():
        return section_page(request, shown, fill_form=form, is_wrong=True)
    # Days of a template are counted by the person's own clock, so that midnight stays midnight.
    start = timezone.localtime(form.cleaned_data["start"])
    name = form.cleaned_data["blueprint"]
    action = FillFromBlueprint(by=person(request), contest=shown.competition, blueprint=name, start=start)
    try:
        messages.success(request, action.execute())
    except Refused as refused:
        return section_page(request, shown, fill_form=form, refused=refused)
    return redirect("manage_phases", slug=slug)


def _round_page(
    request: HttpRequest, shown: frame.Frame, form: RoundForm, refused: Refused | None = None
) -> HttpResponse:
    made = form.instance
    context = {
        "form": form,
        "round": made if made.pk else None,
        "has_phases": bool(made.pk and made.phases.exists()),
        "refused": refused,
    }
    status = refused.status if refused else 400 if form.errors else 200
    return render(request, "studio/round.html", studio.context(shown, SECTION, **context), status=status)


def _number(competition: Competition) -> int:
    return max((one.number for one in competition.rounds.all()), default=-1) + 1


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
def add_round(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A new group of phases."""
    shown = editors_frame(request, slug)
    made = Round(competition=shown.competition)
    if request.method != "POST":
        return _round_page(
            request, shown, RoundForm(instance=made, initial={"number": _number(shown.competition)})
        )
    form = RoundForm(request.POST, instance=made)
    if not form.is_valid():
        return _round_page(request, shown, form)
    number, title = form.cleaned_data["number"], form.cleaned_data["name"]
    action = AddRound(by=person(request), contest=shown.competition, number=number, title=title)
    try:
        messages.success(request, action.execute())
    except Refused as refused:
        return _round_page(request, shown, form, refused)
    return redirect("manage_phases", slug=slug)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
def edit_round(request: HttpRequest, slug: str, round_id: int) -> HttpResponseBase:
    """Number and name of a round."""
    shown = editors_frame(request, slug)
    found = resolved(shown.competition.rounds.all(), round_id, "round")
    if request.method != "POST":
        return _round_page(request, shown, RoundForm(instance=found))
    form = RoundForm(request.POST, instance=resolved(shown.competition.rounds.all(), round_id, "round"))
    if not form.is_valid():
        return _round_page(request, shown, form)
    number, title = form.cleaned_data["number"], form.cleaned_data["name"]
    action = EditRound(by=person(request), round=found, number=number, title=title)
    try:
        return do(
            request,
            shown,
            SECTION,
            action,
            title="Save the round",
            back=reverse("manage_phases", args=[slug]),
            shows_first=is_careful(shown.competition),
        )
    except Refused as refused:
        return _round_page(request, shown, form, refused)


@login_required
@require_POST
@tells_refusals
def remove_round(request: HttpRequest, slug: str, round_id: int) -> HttpResponseBase:
    """Take an empty round away."""
    shown = editors_frame(request, slug)
    found = resolved(shown.competition.rounds.all(), round_id, "round")
    messages.success(request, RemoveRound(by=person(request), round=found).execute())
    return redirect("manage_phases", slug=slug)
