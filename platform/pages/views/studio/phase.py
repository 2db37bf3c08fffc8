"""One phase in the studio: added, edited, moved, removed; its datasets; datasets for several phases at once."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.refusals import Refused
from competitions import policy
from competitions.actions.phases import AddPhase, EditPhase, MovePhase, RemovePhase
from competitions.actions.tasks import AddTasks, EditTasks, TaskEdit, tasks_seen
from competitions.actions.wording import seen_of
from competitions.models import Phase, Task
from competitions.protocol_check import check_competition
from datasets.models import Dataset
from pages import frame, organizing, phase_studio, studio, zones
from pages.answers import tells_refusals
from pages.organizer_actions import OFFERS
from pages.phase_forms import AddTasksForm, PhaseForm, TaskForm
from pages.views.studio.doing import do, editors_frame, is_careful, person

SECTION = "phases"


def _phase(shown: frame.Frame, phase_id: int) -> Phase:
    """The phase of an address; one of another competition is unknown here."""
    phases = shown.competition.phases().select_related("round__competition", "parent__round")
    return policy.resolved(phases, phase_id, "phase")


def _page(
    request: HttpRequest,
    shown: frame.Frame,
    form: PhaseForm,
    *,
    phase: Phase | None = None,
    refused: Refused | None = None,
    task_forms: list[TaskForm] | None = None,
    seen: str = "",
) -> HttpResponse:
    context: dict[str, object] = {
        "form": form,
        "phase": phase,
        "refused": refused,
        "zone": zones.of_request(request),
    }
    if phase is not None:
        tasks = _tasks(phase)
        problems = [one for one in check_competition(shown.phases, now=shown.now) if one.place == phase.title]
        by_field: dict[str, list[object]] = {}
        for problem in problems:
            by_field.setdefault(problem.field, []).append(problem)
        context |= {
            "task_forms": task_forms if task_forms is not None else _task_forms(phase, tasks),
            "tasks_seen": tasks_seen(tasks),
            "seen": seen or seen_of(phase),
            "problems": problems,
            "by_field": by_field,
            "actions": [(name, OFFERS[name].label) for name in _offers(phase, tasks, shown)],
            "submissions": form.submissions,
        }
    wrong = bool(form.errors) or any(one.errors for one in task_forms or ())
    status = refused.status if refused else 400 if wrong else 200
    return render(request, "studio/phase.html", studio.context(shown, SECTION, **context), status=status)


def _offers(phase: Phase, tasks: list[Task], shown: frame.Frame) -> list[str]:
    found = organizing.possible_actions(phase, tasks, shown.now)
    # In a form of this page, as long as nothing ran.
    return (
        found if phase.submissions.exists() else [name for name in found if name not in ("change-budget", "board")]
    )


def _tasks(phase: Phase) -> list[Task]:
    tasks = list(phase.tasks.select_related("dataset").prefetch_related("dataset__versions"))
    for task in tasks:
        task.phase = phase
    return tasks


def _task_forms(phase: Phase, tasks: list[Task], data: Mapping[str, Any] | None = None) -> list[TaskForm]:
    ran = set(phase.tasks.filter(runs__isnull=False).values_list("pk", flat=True))
    return [TaskForm(data, task=task, is_bound_by_runs=task.pk in ran) for task in tasks]


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
@zones.in_own_zone
def add_phase(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A new phase; `kind` and `after` in the address say what it begins with."""
    shown = editors_frame(request, slug)
    options: dict[str, Any] = {"competition": shown.competition, "by": person(request), "now": shown.now}
    if request.method != "POST":
        wanted = request.GET.get("kind", "")
        kind = wanted if wanted in Phase.Kind.values else Phase.Kind.TWEAKATHON
        after = request.GET.get("after")
        parent = policy.resolved(shown.competition.phases(), after, "phase") if after else None
        return _page(request, shown, PhaseForm(initial=phase_studio.suggested(shown, kind, parent), **options))
    form = PhaseForm(request.POST, **options)
    if not form.is_valid():
        return _page(request, shown, form)
    action = AddPhase(
        by=person(request),
        contest=shown.competition,
        values=form.values(),
        copies_tasks=form.cleaned_data["copies_tasks"],
        prizes=form.cleaned_data["prizes"],
    )
    try:
        messages.success(request, action.execute())
    except Refused as refused:
        return _page(request, shown, form, refused=refused)
    return redirect("manage_phases", slug=slug)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
@zones.in_own_zone
def edit_phase(request: HttpRequest, slug: str, phase_id: int) -> HttpResponseBase:
    """Every field of a phase, its datasets, and what organizers may do with it now."""
    shown = editors_frame(request, slug)
    phase = _phase(shown, phase_id)
    options: dict[str, Any] = {"competition": shown.competition, "by": person(request), "now": shown.now}
    if request.method != "POST":
        return _page(request, shown, PhaseForm(instance=phase, **options), phase=phase)
    seen = request.POST.get("seen", "")
    form = PhaseForm(request.POST, instance=_phase(shown, phase_id), **options)
    if not form.is_valid():
        return _page(request, shown, form, phase=phase, seen=seen)
    action = EditPhase(
        by=person(request), phase=phase, values=form.values(), prizes=form.cleaned_data["prizes"], seen=seen
    )
    try:
        return do(
            request,
            shown,
            SECTION,
            action,
            title="Save the phase",
            back=reverse("manage_phases", args=[slug]),
            shows_first=is_careful(shown.competition),
        )
    except Refused as refused:
        return _page(request, shown, form, phase=phase, refused=refused, seen=seen)


@login_required
@require_POST
@tells_refusals
@zones.in_own_zone
def edit_tasks(request: HttpRequest, slug: str, phase_id: int) -> HttpResponseBase:
    """Order, aliases, metrics and seconds of the datasets of a phase; those that are ticked are taken out."""
    shown = editors_frame(request, slug)
    phase = _phase(shown, phase_id)
    forms = _task_forms(phase, _tasks(phase), request.POST)
    own = PhaseForm(
        instance=_phase(shown, phase_id), competition=shown.competition, by=person(request), now=shown.now
    )
    if [form for form in forms if not form.is_valid()]:
        return _page(request, shown, own, phase=phase, task_forms=forms)
    edits = [_edit(form) for form in forms]
    action = EditTasks(by=person(request), phase=phase, edits=edits, seen=request.POST.get("seen", ""))
    by_task = {form.task.pk: form for form in forms}
    for task, name, message in action.problems():
        by_task[task].add_error(name if name in by_task[task].fields else None, message)
    if any(form.errors for form in forms):
        return _page(request, shown, own, phase=phase, task_forms=forms)
    try:
        return do(
            request,
            shown,
            SECTION,
            action,
            title="Save the datasets",
            back=reverse("manage_phase", args=[slug, phase_id]),
            shows_first=is_careful(shown.competition) or any(edit.is_removed for edit in edits),
        )
    except Refused as refused:
        return _page(request, shown, own, phase=phase, task_forms=forms, refused=refused)


def _edit(form: TaskForm) -> TaskEdit:
    given = form.cleaned_data
    return TaskEdit(
        task=form.task.pk,
        order=given["order"] - 1,
        alias=given["alias"],
        metric=given["metric"],
        wall_seconds=given["wall_seconds"],
        is_removed=given["is_removed"],
    )


@login_required
@require_POST
@tells_refusals
def move_phase(request: HttpRequest, slug: str, phase_id: int) -> HttpResponseBase:
    """Let a phase change places with its neighbour."""
    shown = editors_frame(request, slug)
    is_up = request.POST.get("to") == "up"
    messages.success(request, MovePhase(by=person(request), phase=_phase(shown, phase_id), is_up=is_up).execute())
    return redirect("manage_phases", slug=slug)


@login_required
@require_POST
@tells_refusals
def remove_phase(request: HttpRequest, slug: str, phase_id: int) -> HttpResponseBase:
    """Say what would go with a phase, then take it away."""
    shown = editors_frame(request, slug)
    return do(
        request,
        shown,
        SECTION,
        RemovePhase(by=person(request), phase=_phase(shown, phase_id)),
        title="Remove the phase",
        back=reverse("manage_phases", args=[slug]),
        shows_first=True,
        is_dangerous=True,
    )


def _add_tasks_page(
    request: HttpRequest, shown: frame.Frame, form: AddTasksForm, refused: Refused | None = None
) -> HttpResponse:
    usable = policy.usable_datasets(person(request)).prefetch_related("versions")
    words = request.GET.get("search", "").strip()
    matching = usable.filter(title__icontains=words) if words else usable
    chosen = {str(getattr(one, "pk", one)) for one in form["datasets"].value() or ()}
    ticked = {str(getattr(one, "pk", one)) for one in form["phases"].value() or ()}
    listed = list(matching[:MOST_LISTED])
    context = {
        "form": form,
        "refused": refused,
        "listed": [_described(dataset, str(dataset.pk) in chosen) for dataset in listed],
        "more": max(0, matching.count() - len(listed)),
        "search": words,
        "phases": [(phase, str(phase.pk) in ticked, phase.tasks.count()) for phase in shown.phases],
    }
    status = refused.status if refused else 400 if form.errors else 200
    return render(request, "studio/add_tasks.html", studio.context(shown, SECTION, **context), status=status)


MOST_LISTED = 200


def _described(dataset: Dataset, is_chosen: bool) -> dict[str, object]:
    """A line of the library's choice."""
    version = dataset.current
    facts = f"{version.get_task_kind_display()}, {version.metric}" if version else "no data yet"
    return {"dataset": dataset, "facts": facts, "is_chosen": is_chosen}


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
def add_tasks(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Datasets of the library into phases, several into several at once."""
    shown = editors_frame(request, slug)
    options: dict[str, Any] = {"competition": shown.competition, "by": person(request)}
    if request.method != "POST":
        with_some = set(Task.objects.filter(phase__in=shown.phases).values_list("phase", flat=True))
        wanted = request.GET.get("phase")
        empty = [phase for phase in shown.phases if phase.pk not in with_some]
        # What is put into a blind phase together with others would be seen before it opens.
        proposed = [phase.pk for phase in empty if not phase.is_blind] or [phase.pk for phase in empty]
        ticked = [wanted] if wanted else proposed
        return _add_tasks_page(request, shown, AddTasksForm(initial={"phases": ticked}, **options))
    form = AddTasksForm(request.POST, **options)
    if not form.is_valid():
        return _add_tasks_page(request, shown, form)
    action = AddTasks(
        by=person(request),
        contest=shown.competition,
        datasets=list(form.cleaned_data["datasets"]),
        phases=list(form.cleaned_data["phases"]),
        metric=form.cleaned_data["metric"],
    )
    try:
        return do(
            request,
            shown,
            SECTION,
            action,
            title="Add the datasets",
            back=reverse("manage_phases", args=[slug]),
            shows_first=is_careful(shown.competition),
        )
    except Refused as refused:
        return _add_tasks_page(request, shown, form, refused)
