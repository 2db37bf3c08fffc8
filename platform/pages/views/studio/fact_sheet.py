"""The studio's fact sheet: the questions, added, changed, moved and removed."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.refusals import Refused
from competitions import policy
from competitions.actions.fact_sheet import AddQuestion, EditQuestion, MoveQuestion, OfQuestion, RemoveQuestion
from competitions.models import Question
from pages import frame, studio
from pages.answers import tells_refusals
from pages.question_form import QuestionForm
from pages.views.studio.doing import do, editors_frame, person

SECTION = "fact_sheet"


@login_required
@never_cache
@require_safe
@tells_refusals
def questions(request: HttpRequest, slug: str) -> HttpResponseBase:
    """All questions in their order, and how many answered each."""
    shown = studio.opened(request, slug)
    asked = shown.competition.questions.annotate(answered=Count("answers")).order_by("order", "pk")
    context = studio.context(
        shown,
        SECTION,
        questions=list(asked),
        entrants=shown.competition.entrants.count(),
        owing=shown.competition.entrants.filter(owes_answers=True).count(),
    )
    return render(request, "studio/fact_sheet.html", context)


def _question(shown: frame.Frame, question_id: int) -> Question:
    return policy.resolved(shown.competition.questions.select_related("competition"), question_id, "question")


def _home(slug: str) -> str:
    return reverse("manage_fact_sheet", args=[slug])


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
def add(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A form for a new question, and adding it."""
    shown = editors_frame(request, slug)
    if request.method != "POST":
        return _form_page(request, shown, QuestionForm())
    form = QuestionForm(request.POST, instance=Question(competition=shown.competition))
    if not form.is_valid():
        return _form_page(request, shown, form, status=400)
    action = AddQuestion(by=person(request), question=form.save(commit=False))
    return _done(request, shown, form, action, title="Add the question")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
def edit(request: HttpRequest, slug: str, question_id: int) -> HttpResponseBase:
    """A form for a question; what becomes of answers that are there is shown before it is changed."""
    shown = editors_frame(request, slug)
    question = _question(shown, question_id)
    if request.method != "POST":
        return _form_page(request, shown, QuestionForm(instance=question))
    form = QuestionForm(request.POST, instance=question)
    if not form.is_valid():
        return _form_page(request, shown, form, status=400)
    action = EditQuestion(by=person(request), question=form.save(commit=False))
    return _done(request, shown, form, action, title="Change the question")


def _form_page(
    request: HttpRequest,
    shown: frame.Frame,
    form: QuestionForm,
    *,
    refused: Refused | None = None,
    status: int = 200,
) -> HttpResponse:
    answered = form.instance.answers.count() if form.instance.pk else 0
    context = studio.context(shown, SECTION, form=form, question=form.instance, answered=answered, refused=refused)
    return render(request, "studio/question.html", context, status=status)


def _done(
    request: HttpRequest, shown: frame.Frame, form: QuestionForm, action: OfQuestion, *, title: str
) -> HttpResponseBase:
    """Do it, at once where nothing else follows from it; a refusal stands above the form."""
    try:
        action.permit()
        action.check(shown.now)
        follows = bool(action.preview(shown.now).sentences)
        back = _home(shown.competition.slug)
        return do(
            request, shown, SECTION, action, title=title, back=back, shows_first=follows, is_dangerous=follows
        )
    except Refused as refused:
        return _form_page(request, shown, form, refused=refused, status=refused.status)


@login_required
@require_POST
@tells_refusals
def move(request: HttpRequest, slug: str, question_id: int) -> HttpResponseBase:
    """Ask it one place earlier, or later."""
    shown = editors_frame(request, slug)
    question = _question(shown, question_id)
    action = MoveQuestion(by=person(request), question=question, earlier=request.POST.get("to") == "up")
    messages.success(request, action.execute())
    return redirect(_home(slug))


@login_required
@require_POST
@tells_refusals
def remove(request: HttpRequest, slug: str, question_id: int) -> HttpResponseBase:
    """Ask it no more, after a page that says how many answers go with it."""
    shown = editors_frame(request, slug)
    action = RemoveQuestion(by=person(request), question=_question(shown, question_id))
    return do(
        request,
        shown,
        SECTION,
        action,
        title="Remove the question",
        back=_home(slug),
        shows_first=True,
        is_dangerous=True,
    )
