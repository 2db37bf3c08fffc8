"""An entrant's fact sheet: the questions of the organizers, and the answers."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.refusals import Refused
from competitions import fact_sheets
from pages import fact_sheet as sheet
from pages import frame
from pages.answers import tells_refusals


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
def fact_sheet(request: HttpRequest, slug: str) -> HttpResponseBase:
    """GET shows the sheet, POST stores it; whoever is in the team answers for it."""
    shown = frame.load(request, slug)
    if not (shown.takes_part or shown.is_organizer):
        raise Refused(
            f"The fact sheet is for those who take part in {shown.competition.title}.",
            status=403,
            mend="Join the competition first.",
        )
    questions = list(shown.competition.questions.all())
    problems: dict[int, str] = {}
    if request.method == "POST":
        sent = sheet.sent_texts(questions, request.POST)
        values, problems = fact_sheets.read_all(questions, sent)
        if not problems:
            assert request.user.is_authenticated
            entrant = fact_sheets.answer(shown.competition, request.user, values)
            left = len(fact_sheets.missing(entrant, questions))
            if left:
                what = "question has" if left == 1 else "questions have"
                messages.warning(request, f"Your answers were saved. {left} required {what} no answer yet.")
            else:
                messages.success(request, "Your answers were saved.")
            return redirect("fact_sheet", slug=slug)
        lines = sheet.as_sent(questions, sent, problems)
    else:
        lines = sheet.as_answered(questions, sheet.answers_of(shown.viewer.entrant))
    context = shown.context(
        "fact_sheet",
        lines=lines,
        problems=len(problems),
        missing=fact_sheets.missing(shown.viewer.entrant, questions),
        entrant=shown.viewer.entrant,
    )
    return render(request, "competitions/fact_sheet.html", context, status=400 if problems else 200)
