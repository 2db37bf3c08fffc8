"""The pages of one competition that everybody may read, and joining it."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.refusals import Refused
from competitions import offered
from competitions.actions import join as join_action
from competitions.models import Participant
from datasets.downloads import public_archive
from pages import facts, frame, phase_cards, timeline
from pages.answers import as_stranger_file, tells_refusals
from pages.kit import kit_archive
from pages.metrics import METRIC_TEXTS
from pages.views import column_boards


@require_safe
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    """What the competition is about, what is open, and the way in."""
    shown = frame.load(request, slug)
    phase = shown.current
    tasks = facts.tasks_of([phase], shown.now, sees_hidden=shown.sees_hidden) if phase else []
    context = shown.context("overview", tasks=tasks)
    return render(request, "competitions/overview.html", context)


@require_safe
def phases(request: HttpRequest, slug: str) -> HttpResponse:
    """The phases on a time axis and in words."""
    shown = frame.load(request, slug)
    listed = phase_cards.cards(shown.phases, shown.viewer.entrant, shown.now)
    budgets = facts.budgets_in_words(shown.phases, shown.now, sees_hidden=shown.sees_hidden)
    context = shown.context(
        "phases", listed=listed, budgets=budgets, timeline=timeline.draw(shown.phases, shown.now)
    )
    return render(request, "competitions/phases.html", context)


@require_safe
def datasets(request: HttpRequest, slug: str) -> HttpResponse:
    """The facts of every phase's datasets, as far as the person may know them."""
    shown = frame.load(request, slug)
    known = facts.tasks_of(shown.phases, shown.now, sees_hidden=shown.sees_hidden)
    tasks = facts.with_cards(known, shown.now, sees_hidden=shown.sees_hidden)
    by_phase = [(phase, facts.of_phase(tasks, phase)) for phase in shown.phases]
    groups = [(phase, own, any(task.is_revealed for task in own)) for phase, own in by_phase if own]
    offers = offered.offered(shown.viewer, shown.competition, shown.phases, shown.now)
    context = shown.context(
        "datasets",
        groups=groups,
        offers=offers,
        has_tables=any(not task.is_programmed for _, own, _ in groups for task in own),
    )
    return render(request, "competitions/datasets.html", context)


@login_required
@require_safe
@tells_refusals
def dataset_download(request: HttpRequest, slug: str, task_id: int) -> HttpResponseBase:
    """The public files of a task's dataset: features and training targets, never a hidden solution."""
    shown = frame.load(request, slug)
    tasks = facts.tasks_of(shown.phases, shown.now, sees_hidden=shown.sees_hidden)
    wanted = next((task for task in tasks if task.task.pk == task_id), None)
    if wanted is None or wanted.version is None or not wanted.may_be_downloaded:
        raise Http404("There is no such dataset.")
    if not shown.may_download_data:
        raise Refused(
            f"Datasets go to participants of {shown.competition.title}.",
            status=403,
            mend="Join the competition first.",
        )
    name = wanted.shown_name
    file = public_archive(wanted.version, name)
    answer = FileResponse(file, as_attachment=True, filename=f"{name}.zip", content_type="application/zip")
    return as_stranger_file(answer)


@require_safe
def evaluation(request: HttpRequest, slug: str) -> HttpResponse:
    """How scores and ranks come about: the organizers' words, then what follows from the phases."""
    shown = frame.load(request, slug)
    tasks = facts.tasks_of(shown.phases, shown.now, sees_hidden=shown.sees_hidden)
    used = {task.metric for task in tasks if task.is_revealed}
    metrics = [text for key, text in METRIC_TEXTS.items() if key in used]
    budgets = [
        (phase, sorted({task.wall_seconds for task in facts.of_phase(tasks, phase) if task.is_revealed}))
        for phase in shown.phases
    ]
    context = shown.context(
        "evaluation",
        metrics=metrics,
        budgets=budgets,
        column_boards=column_boards.told_boards(shown) if any(task.is_programmed for task in tasks) else None,
    )
    return render(request, "competitions/evaluation.html", context)


@require_safe
def rules(request: HttpRequest, slug: str) -> HttpResponse:
    """The organizers' rules, then those that the platform itself keeps."""
    shown = frame.load(request, slug)
    phase = [shown.current] if shown.current else []
    tasks = facts.tasks_of(phase, shown.now, sees_hidden=shown.sees_hidden)
    named = [task.shown_name for task in tasks if task.is_revealed]
    context = shown.context(
        "rules",
        submit_phases=[phase for phase in shown.phases if phase.takes_submissions],
        most_bytes=settings.MAX_ARCHIVE_BYTES,
        example_name=next(iter(named), "name"),
    )
    return render(request, "competitions/rules.html", context)


@require_safe
def added_page(request: HttpRequest, slug: str, page_slug: str) -> HttpResponse:
    """A page that the organizers added."""
    shown = frame.load(request, slug)
    page = shown.competition.pages.filter(slug=page_slug).first()
    if page is None:
        raise Http404("There is no such page.")
    return render(request, "competitions/page.html", shown.context("page", shown_page=page))


@login_required
@require_POST
@tells_refusals
def join(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Take part, or ask to."""
    shown = frame.load(request, slug)
    assert request.user.is_authenticated
    wish = join_action(shown.competition, request.user)
    if wish.state == Participant.State.APPROVED:
        messages.success(request, f"You take part in {shown.competition.title}.")
    elif wish.state == Participant.State.PENDING:
        messages.info(request, "Your wish to take part was sent to the organizers; they will answer it.")
    else:
        raise Refused(f"The organizers of {shown.competition.title} did not accept you.", status=403)
    return redirect("submissions", slug=slug)


@require_safe
def starting_kit(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The starting kit as one zip."""
    frame.load(request, slug)
    return FileResponse(
        kit_archive().open("rb"),
        as_attachment=True,
        filename="podium_starting_kit.zip",
        content_type="application/zip",
    )
