"""What the organizers announced, for who may read the competition, and whether a person wants it by mail."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.refusals import Refused
from competitions.models import Announcement, Delivery, Participant
from competitions.telling.mail import of_token
from pages import frame, keyset
from pages.answers import tells_refusals

PER_PAGE = 20


@never_cache
@require_safe
def announcements(request: HttpRequest, slug: str) -> HttpResponse:
    """The announcements that the person may read; what was new to them is marked, and is not new any more."""
    shown = frame.load(request, slug)
    page = keyset.page(request, _readable(request, shown), PER_PAGE)
    if request.user.is_authenticated and page.rows:
        unread = Delivery.objects.filter(user=request.user, read_at=None, announcement__in=page.rows)
        new = set(unread.values_list("announcement", flat=True))
        if new:
            unread.update(read_at=timezone.now())
            shown.viewer.unread = max(0, shown.viewer.unread - len(new))
    else:
        new = set()
    context = shown.context("announcements", page=page, new=new)
    return render(request, "competitions/announcements.html", context)


def _readable(request: HttpRequest, shown: frame.Frame) -> QuerySet[Announcement]:
    """What went to all, and what went to this person."""
    found = shown.competition.announcements.select_related("phase", "sent_by")
    to_all = Q(audience=Announcement.Audience.EVERYBODY)
    if not request.user.is_authenticated:
        return found.filter(to_all)
    own = Delivery.objects.filter(announcement=OuterRef("pk"), user=request.user)
    return found.filter(to_all | Exists(own))


@login_required
@never_cache
@require_POST
@tells_refusals
def set_mail(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Whether announcements of this competition come by mail."""
    shown = frame.load(request, slug)
    wants = request.POST.get("wants_mail") == "yes"
    if not shown.competition.participants.filter(user=request.user.pk).update(wants_mail=wants):
        raise Refused(f"Only participants of {shown.competition.title} get its mail.", status=403)
    messages.success(request, _told(shown.competition.title, wants=wants))
    return redirect("announcements", slug=slug)


def _told(title: str, *, wants: bool) -> str:
    return f"Announcements of {title} come by mail." if wants else f"No more mail comes from {title}."


@csrf_exempt  # mail programs post here without a page of ours; the signed link alone permits it
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def stop_mail(request: HttpRequest, token: str) -> HttpResponseBase:
    """Where the link in a mail leads: asks, and ends the mails of that competition (RFC 8058)."""
    participant = of_token(token)
    if participant is None:
        raise Http404("There is no such link.")
    if request.method == "POST":
        Participant.objects.filter(pk=participant.pk).update(wants_mail=False)
    context = {"competition": participant.competition, "is_done": request.method == "POST"}
    return render(request, "competitions/stop_mail.html", context)
