"""The studio's participants: who takes part or wants to, answered one by one or many at once."""

from collections import Counter
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Max
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.refusals import Refused
from competitions.actions.participants import DECISIONS
from competitions.models import Participant
from pages import files, keyset, people, studio
from pages.answers import refusal_as_json, tells_refusals, wants_json
from pages.frame import Frame
from pages.views.studio.doing import editors_frame, person

PER_PAGE = 50
LABELS = {"approve": "Approve", "reject": "Reject", "remove": "Remove"}


@login_required
@never_cache
@require_safe
@tells_refusals
def participants(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The people, the latest first, filtered by state and words."""
    shown = studio.opened(request, slug)
    chosen = _filter(request, shown)
    rows = chosen.rows(shown.competition)
    page = keyset.page(request, rows.select_related("user"), PER_PAGE)
    found = chosen.of_words(shown.competition.participants.all())
    of_state: Counter[str] = Counter()
    last = 0
    for state, many, latest in found.order_by().values_list("state").annotate(Count("pk"), Max("pk")):
        of_state[state] = many
        if chosen.state in ("", state):
            last = max(last, latest)
    total = of_state[chosen.state] if chosen.state else of_state.total()
    context = studio.context(
        shown,
        "participants",
        page=page,
        lines=people.lines(shown.competition, page.rows),
        chosen=chosen,
        states=_states(request, chosen, of_state),
        total=total,
        any=bool(of_state) or shown.competition.participants.exists(),
        last=last,
        query=request.GET.urlencode(),
        sees_emails=chosen.sees_emails,
        labels=LABELS,
    )
    return render(request, "studio/participants.html", context)


def _filter(request: HttpRequest, shown: Frame) -> people.Filter:
    return people.Filter.of(request.GET, sees_emails=shown.viewer.may_edit)


def _states(request: HttpRequest, chosen: people.Filter, counts: Counter[str]) -> list[tuple[str, str, bool, int]]:
    """The choices of the state: label, address, whether it is the one shown, count."""

    def address(state: str) -> str:
        query = request.GET.copy()
        for name in ("state", "before", "after"):
            query.pop(name, None)
        if state:
            query["state"] = state
        return f"?{query.urlencode()}"

    choices = [("all", address(""), not chosen.state, counts.total())]
    for value, label in Participant.State.choices:
        if counts[value] or value == chosen.state:
            choices.append((label, address(value), value == chosen.state, counts[value]))
    return choices


@login_required
@never_cache
@require_safe
@tells_refusals
def as_csv(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Everybody of the filter as CSV; addresses for owners and editors alone."""
    shown = studio.opened(request, slug)
    rows = people.table(shown.competition, _filter(request, shown))
    return files.as_csv(rows, f"{slug}-participants.csv")


@login_required
@never_cache
@require_POST
@tells_refusals
def decide(request: HttpRequest, slug: str) -> HttpResponseBase:
    """What an answer to the chosen people would change; with `confirm` it is given."""
    shown = editors_frame(request, slug)
    kind = DECISIONS.get(request.POST.get("decision", ""))
    if kind is None:
        raise Http404("There is no such answer.")
    choice = people.Choice.of(request.POST, sees_emails=True)
    is_confirmed = request.POST.get("confirm") == "yes"
    action = kind(
        by=person(request),
        contest=shown.competition,
        people=choice.rows(shown.competition),
        words=request.POST.get("words", ""),
        tells=not is_confirmed or request.POST.get("tells") == "yes",
    )
    back = reverse("manage_participants", args=[slug])
    if is_confirmed:
        messages.success(request, action.execute())
        return redirect(back)
    context: dict[str, Any] = {
        "label": LABELS[request.POST["decision"]],
        "decision": request.POST["decision"],
        "fields": choice.fields(),
        "back": back,
        "is_dangerous": request.POST["decision"] != "approve",
    }
    status = 200
    try:
        action.permit()
        action.check(shown.now)
        context["preview"] = action.preview(shown.now)
    except Refused as refused:
        if wants_json(request):
            return refusal_as_json(refused)
        context["refused"], status = refused, refused.status
    return render(request, "studio/decide.html", studio.context(shown, "participants", **context), status=status)
