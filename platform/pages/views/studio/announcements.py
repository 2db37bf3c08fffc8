"""The studio's announcements: written, looked at with the count of those who get it, sent, and followed."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.refusals import Refused
from competitions import policy
from competitions.actions.announcements import LONGEST_SUBJECT, Announce, SendAgain
from competitions.models import Announcement, Competition, Delivery
from competitions.telling import delivery
from pages import keyset, people, studio
from pages.answers import refusal_as_json, tells_refusals, wants_json
from pages.frame import Frame
from pages.views.studio.doing import editors_frame, person

PER_PAGE = 20
FAILED_SHOWN = 50
COUNTED = ("told", "read", "mails", "sent", "failed", "left")
Audience = Announcement.Audience


class Message(forms.Form):
    """What is said, and to whom."""

    to = forms.ChoiceField(label="To")
    subject = forms.CharField(max_length=LONGEST_SUBJECT)
    body = forms.CharField(
        label="Text", widget=forms.Textarea(attrs={"rows": 10}), help_text="Markdown. The mail carries it, too."
    )
    by_mail = forms.BooleanField(label="Send it by mail, too", required=False, initial=True)

    def __init__(self, *args: Any, audiences: list[tuple[str, str]], **options: Any) -> None:
        super().__init__(*args, **options)
        self.label_suffix = ""
        to = self.fields["to"]
        assert isinstance(to, forms.ChoiceField)
        to.choices = audiences


@login_required
@never_cache
@require_safe
@tells_refusals
def announcements(request: HttpRequest, slug: str) -> HttpResponseBase:
    """What was sent, the latest first, and how far the mails are."""
    shown = studio.opened(request, slug)
    rows = shown.competition.announcements.select_related("phase", "sent_by")
    page = keyset.page(request, rows, PER_PAGE)
    counts = progress(page.rows)
    lines = [(one, counts[one.pk]) for one in page.rows]
    return render(
        request, "studio/announcements.html", studio.context(shown, "announcements", page=page, lines=lines)
    )


def progress(found: list[Announcement]) -> dict[int, dict[str, int]]:
    """How many people each went to, how many read it, and how far its mails are; one query."""
    mails = ~Q(state=Delivery.State.ON_SITE)
    rows = Delivery.objects.filter(announcement__in=found).order_by().values("announcement")
    counted = rows.annotate(
        told=Count("pk"),
        read=Count("pk", filter=Q(read_at__isnull=False)),
        mails=Count("pk", filter=mails),
        sent=Count("pk", filter=Q(state=Delivery.State.SENT)),
        failed=Count("pk", filter=Q(state=Delivery.State.FAILED)),
        left=Count("pk", filter=Q(state__in=(Delivery.State.WAITING, Delivery.State.SENDING))),
    )
    made = {one.pk: dict.fromkeys(COUNTED, 0) for one in found}
    for announcement, *many in counted.values_list("announcement", *COUNTED):
        made[announcement] = dict(zip(COUNTED, many, strict=True))
    return made


@login_required
@never_cache
@require_safe
@tells_refusals
def announcement(request: HttpRequest, slug: str, announcement_id: int) -> HttpResponseBase:
    """One of them, what became of its mails, and those that could not be sent."""
    shown = studio.opened(request, slug)
    found = _found(shown, announcement_id)
    waits = found.deliveries.filter(state=Delivery.State.WAITING).exclude(problem="")
    failed = found.deliveries.filter(state=Delivery.State.FAILED).select_related("user").order_by("pk")
    context = studio.context(
        shown,
        "announcements",
        announcement=found,
        counts=progress([found])[found.pk],
        failed=list(failed[:FAILED_SHOWN]),
        delayed=waits.values_list("problem", flat=True).first(),
        may_try_again=shown.viewer.may_edit and found.sent_at > timezone.now() - delivery.KEPT_FOR,
    )
    name = "studio/announcement_part.html" if request.headers.get("HX-Request") else "studio/announcement.html"
    return render(request, name, context)


def _found(shown: Frame, pk: int) -> Announcement:
    found = shown.competition.announcements.select_related("phase", "sent_by", "competition")
    return policy.resolved(found, pk, "announcement")


@login_required
@never_cache
@require_POST
@tells_refusals
def send_again(request: HttpRequest, slug: str, announcement_id: int) -> HttpResponseBase:
    """Let the mails that could not be sent wait once more."""
    shown = editors_frame(request, slug)
    action = SendAgain(by=person(request), contest=shown.competition, announcement=_found(shown, announcement_id))
    messages.success(request, action.execute())
    return redirect("manage_announcement", slug=slug, announcement_id=announcement_id)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
def compose(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The form; what was typed as it will be read, with the count of recipients; and the sending of it."""
    shown = editors_frame(request, slug)
    choice = people.Choice.of(request.POST, sees_emails=True)
    chosen = choice.rows(shown.competition) if choice.fields() else None
    if "write" in request.POST and chosen is None:
        raise Refused("Nobody was chosen.", mend="Tick the people to whom you want to write.")
    audiences = _audiences(shown, chosen is not None)
    if "subject" not in request.POST or "change" in request.POST:
        form = Message(initial=request.POST.dict() if "change" in request.POST else None, audiences=audiences)
        if "change" in request.POST:
            form.initial["by_mail"] = request.POST.get("by_mail") == "on"
        return _form(request, shown, form, choice)
    form = Message(request.POST, audiences=audiences)
    if not form.is_valid():
        return _form(request, shown, form, choice, status=400)
    asked = form.cleaned_data
    kind, _, number = asked["to"].partition("-")
    action = Announce(
        by=person(request),
        contest=shown.competition,
        subject=asked["subject"],
        body=asked["body"],
        audience=kind,
        phase=shown.phase_by_number(number),
        people=chosen,
        by_mail=asked["by_mail"],
    )
    try:
        if request.POST.get("confirm") == "yes":
            messages.success(request, action.execute())
            assert action.made is not None
            return redirect("manage_announcement", slug=slug, announcement_id=action.made.pk)
        action.permit()
        action.check(shown.now)
    except Refused as refused:
        if wants_json(request):
            return refusal_as_json(refused)
        return _form(request, shown, form, choice, refused=refused, status=refused.status)
    sent = [(name, str(request.POST[name])) for name in form.fields if name in request.POST]
    context = studio.context(
        shown,
        "announcements",
        action=action,
        preview=action.preview(shown.now),
        sent=[*sent, *choice.fields()],
    )
    return render(request, "studio/announce.html", context)


def _audiences(shown: Frame, has_chosen: bool) -> list[tuple[str, str]]:
    """To whom a message may go: chosen people alone where some were chosen."""
    if has_chosen:
        return [(Audience.PERSON, "the people you chose")]
    phases = [phase for phase in shown.phases if phase.has_begun(shown.now)]
    return [
        (Audience.EVERYBODY, "all participants"),
        *((f"{Audience.PHASE}-{phase.number}", f"those who submitted to {phase.title}") for phase in phases),
    ]


def _form(
    request: HttpRequest,
    shown: Frame,
    form: Message,
    choice: people.Choice,
    *,
    refused: Refused | None = None,
    status: int = 200,
) -> HttpResponse:
    context = studio.context(
        shown,
        "announcements",
        form=form,
        fields=choice.fields(),
        refused=refused,
        goes_by_mail=goes_by_mail(shown.competition),
    )
    return render(request, "studio/compose.html", context, status=status)


def goes_by_mail(competition: Competition) -> bool:
    """Whether mails of this competition are sent at all: those of a rehearsal are not."""
    return competition.rehearses_id is None
