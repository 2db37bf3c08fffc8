"""What entrants answered on the fact sheet: the summary, each entrant's sheet, and all of it as files."""

from collections import defaultdict

from django.contrib.auth.decorators import login_required
from django.db.models import Count, Exists, OuterRef, Q
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from competitions import fact_sheets, policy
from competitions.models import Answer, Competition
from pages import fact_sheet, fact_sheet_export, fact_sheet_plot, files, keyset, studio
from pages.answers import tells_refusals
from submissions.models import Submission

SECTION = "fact_sheet"
PER_PAGE = 50
LONGEST_SEARCH = 80


@login_required
@never_cache
@require_safe
@tells_refusals
def summary(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Every question with counts and plots, of all entrants or of those who submitted."""
    shown = studio.opened(request, slug)
    is_narrow = request.GET.get("who") == "submitted"
    entrants = shown.competition.entrants.filter(is_baseline=False)
    if is_narrow:
        entrants = entrants.filter(Exists(Submission.objects.filter(entrant=OuterRef("pk"))))
    given = defaultdict(list)
    answers = Answer.objects.filter(entrant__in=entrants).order_by("-changed_at", "-pk")
    for question, entrant, name, value in answers.values_list("question", "entrant", "entrant__name", "value"):
        given[question].append((entrant, name, value))
    questions = list(shown.competition.questions.all())
    context = studio.context(
        shown,
        SECTION,
        summaries=fact_sheet_plot.summarised(questions, given, asked=entrants.count()),
        is_narrow=is_narrow,
        plot={"width": fact_sheet_plot.WIDTH, "height": fact_sheet_plot.HEIGHT},
    )
    return render(request, "studio/answers.html", context)


@login_required
@never_cache
@require_safe
@tells_refusals
def entrants(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The entrants, how much each has answered, and who owes an answer."""
    shown = studio.opened(request, slug)
    search = request.GET.get("search", "").replace("\0", "").strip()[:LONGEST_SEARCH]
    owing_only = request.GET.get("owing") == "1"
    found = shown.competition.entrants.annotate(answered=Count("answers"))
    if search:
        found = found.filter(Q(name__icontains=search) | Q(user__username__icontains=search))
    if owing_only:
        found = found.filter(owes_answers=True)
    context = studio.context(
        shown,
        SECTION,
        page=keyset.page(request, found, PER_PAGE),
        questions=shown.competition.questions.count(),
        search=search,
        owing_only=owing_only,
    )
    return render(request, "studio/fact_sheet_entrants.html", context)


@login_required
@never_cache
@require_safe
@tells_refusals
def sheet(request: HttpRequest, slug: str, entrant_id: int) -> HttpResponseBase:
    """All answers of one entrant."""
    shown = studio.opened(request, slug)
    entrant = policy.resolved(shown.competition.entrants.select_related("team"), entrant_id, "entrant")
    questions = list(shown.competition.questions.all())
    context = studio.context(
        shown,
        SECTION,
        entrant=entrant,
        lines=fact_sheet.as_answered(questions, fact_sheet.answers_of(entrant)),
        missing=fact_sheets.missing(entrant, questions),
    )
    return render(request, "studio/fact_sheet_of.html", context)


@login_required
@never_cache
@require_safe
@tells_refusals
def answers_csv(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A row for each entrant, a column for each question."""
    competition = studio.opened(request, slug).competition
    return files.as_csv(
        fact_sheet_export.as_rows(competition, list(competition.questions.all())), _name(competition, "csv")
    )


@login_required
@never_cache
@require_safe
@tells_refusals
def answers_json(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The same as one object."""
    competition = studio.opened(request, slug).competition
    pieces = fact_sheet_export.as_json(competition, list(competition.questions.all()))
    return files.attachment(pieces, _name(competition, "json"), "application/json")


def _name(competition: Competition, ending: str) -> str:
    return f"{competition.slug}-fact-sheets.{ending}"
