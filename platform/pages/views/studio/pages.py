"""The studio's pages: their texts with a preview, the pages that organizers add, and their pictures."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.refusals import Refused
from competitions import policy
from competitions.actions.base import Action
from competitions.actions.pages import (
    LONGEST_TEXT,
    TEXTS,
    AddPage,
    EditPage,
    EditText,
    MovePage,
    RemovePage,
)
from competitions.actions.pictures import AddPicture, RemovePicture
from competitions.actions.seen import fingerprint
from competitions.models import Page
from pages import frame, studio
from pages.answers import tells_refusals
from pages.contest_forms import NewPage, PageForm, TextForm
from pages.views.studio.doing import do, editors_frame, person

SHOWN_OF_TEXT = 160


@dataclass(frozen=True)
class Written:
    """A page as the list shows it. `page` is None for the three that every competition has."""

    title: str
    beginning: str
    edit_url: str
    url: str
    page: Page | None = None


@login_required
@never_cache
@require_safe
@tells_refusals
def pages(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Every page with its beginning, and the pictures."""
    return _list(request, studio.opened(request, slug), NewPage())


def _list(
    request: HttpRequest, shown: frame.Frame, form: NewPage, refused: Refused | None = None
) -> HttpResponseBase:
    contest = shown.competition
    own = list(contest.pages.all())
    context = studio.context(
        shown,
        "pages",
        usual=[_usual(shown, key) for key in TEXTS],
        own=[_added(shown, page) for page in own],
        pictures=contest.images.all(),
        form=form,
        refused=refused,
    )
    is_bad = refused is not None or bool(form.errors)
    return render(
        request, "studio/pages.html", context, status=refused.status if refused else 400 if is_bad else 200
    )


def _usual(shown: frame.Frame, key: str) -> Written:
    slug, text = shown.competition.slug, str(getattr(shown.competition, key))
    url = reverse("competition" if key == "overview" else key, args=[slug])
    return Written(TEXTS[key], text[:SHOWN_OF_TEXT], reverse("edit_text", args=[slug, key]), url)


def _added(shown: frame.Frame, page: Page) -> Written:
    slug = shown.competition.slug
    url = reverse("added_page", args=[slug, page.slug])
    return Written(page.title, page.body[:SHOWN_OF_TEXT], reverse("edit_page", args=[slug, page.pk]), url, page)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
def edit_text(request: HttpRequest, slug: str, which: str) -> HttpResponseBase:
    """The text of one of the three pages that every competition has."""
    shown = editors_frame(request, slug)
    if which not in TEXTS:
        raise Refused("There is no such page.", status=404)
    text = str(getattr(shown.competition, which))
    initial = {"text": text, "seen": fingerprint(text)}
    form = TextForm(*_sent(request), initial=initial)

    def saving(given: dict[str, Any]) -> Action:
        return EditText(person(request), shown.competition, which, given["text"], given["seen"])

    return _editor(request, shown, form, saving, TEXTS[which], _usual(shown, which))


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@tells_refusals
def edit_page(request: HttpRequest, slug: str, page_id: int) -> HttpResponseBase:
    """Title and text of an added page."""
    shown = editors_frame(request, slug)
    page = policy.resolved(shown.competition.pages.all(), page_id, "page")
    initial = {"title": page.title, "text": page.body, "seen": fingerprint(page.title, page.body)}
    form = PageForm(*_sent(request), initial=initial)

    def saving(given: dict[str, Any]) -> Action:
        wanted = {"title": given["title"], "text": given["text"], "seen": given["seen"]}
        return EditPage(person(request), shown.competition, page, **wanted)

    return _editor(request, shown, form, saving, page.title, _added(shown, page))


def _sent(request: HttpRequest) -> tuple[Any, Any]:
    """What fills a form: the fields and files that were sent, or nothing."""
    return (request.POST, request.FILES) if request.method == "POST" else (None, None)


def _editor(
    request: HttpRequest, shown: frame.Frame, form: TextForm, saving: Any, title: str, written: Written
) -> HttpResponseBase:
    """Show, preview, save, or keep a picture; what was typed is never lost on the way."""
    context: dict[str, Any] = {"title": title, "written": written, "form": form}
    status = 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            try:
                # A picture that was chosen is never lost, whichever button was pressed.
                if request.POST.get("do") == "upload" or form.cleaned_data["picture"] is not None:
                    context["added"] = _added_picture(request, shown, form)
                elif request.POST.get("do") != "preview":
                    messages.success(request, saving(form.cleaned_data).execute())
                    return redirect(written.edit_url)
                status = 200
            except Refused as refused:
                context["refused"], status = refused, refused.status
    context["text"] = form["text"].value()
    context["pictures"] = shown.competition.images.all()
    return render(request, "studio/edit_page.html", studio.context(shown, "pages", **context), status=status)


def _added_picture(request: HttpRequest, shown: frame.Frame, form: TextForm) -> str:
    sent = form.cleaned_data["picture"]
    if sent is None:
        raise Refused("No picture was chosen.", mend="Choose a file first.")
    return _keep(request, shown, sent)


def _keep(request: HttpRequest, shown: frame.Frame, sent: Any) -> str:
    """Keep a picture that was sent as an uploaded file; returns the name that texts use."""
    action = AddPicture(person(request), shown.competition, sent.file, sent.name or "", sent.size or 0)
    action.execute()
    return action.image.name


@login_required
@never_cache
@require_POST
@tells_refusals
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """A text that is being written, as its page would show it."""
    shown = editors_frame(request, slug)
    text = request.POST.get("text", "")
    if len(text) > LONGEST_TEXT:
        raise Refused(f"A page has at most {LONGEST_TEXT:,} letters.")
    return render(request, "studio/page_preview.html", {"text": text, "competition": shown.competition})


@login_required
@require_POST
@tells_refusals
def add_page(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A new page at the end, then its editor."""
    shown = editors_frame(request, slug)
    form = NewPage(request.POST)
    if not form.is_valid():
        return _list(request, shown, form)
    action = AddPage(person(request), shown.competition, form.cleaned_data["title"])
    try:
        messages.success(request, action.execute())
    except Refused as refused:
        return _list(request, shown, form, refused)
    return redirect("edit_page", slug=slug, page_id=action.page.pk)


@login_required
@require_POST
@tells_refusals
def move_page(request: HttpRequest, slug: str, page_id: int) -> HttpResponseBase:
    """One place forward, or back."""
    shown = editors_frame(request, slug)
    page = policy.resolved(shown.competition.pages.all(), page_id, "page")
    by_places = -1 if request.POST.get("to") == "forward" else 1
    messages.success(request, MovePage(person(request), shown.competition, page, by_places).execute())
    return redirect("manage_pages", slug=slug)


@login_required
@require_POST
@tells_refusals
def remove_page(request: HttpRequest, slug: str, page_id: int) -> HttpResponseBase:
    """Gone, after what is lost was shown."""
    shown = editors_frame(request, slug)
    page = policy.resolved(shown.competition.pages.all(), page_id, "page")
    action = RemovePage(person(request), shown.competition, page)
    back = reverse("manage_pages", args=[slug])
    title = "Remove the page"
    return do(request, shown, "pages", action, title=title, back=back, shows_first=True, is_dangerous=True)


@login_required
@require_POST
@tells_refusals
def add_picture(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Keep a picture."""
    shown = editors_frame(request, slug)
    sent = request.FILES.get("picture")
    if sent is None:
        raise Refused("No picture was chosen.", mend="Choose a file first.")
    messages.success(request, f"The picture {_keep(request, shown, sent)} was added.")
    return redirect("manage_pages", slug=slug)


@login_required
@require_POST
@tells_refusals
def remove_picture(request: HttpRequest, slug: str, picture_id: int) -> HttpResponseBase:
    """Gone, after the pages that show it were named."""
    shown = editors_frame(request, slug)
    image = policy.resolved(shown.competition.images.all(), picture_id, "picture")
    action = RemovePicture(person(request), shown.competition, image)
    back = reverse("manage_pages", args=[slug])
    title = "Remove the picture"
    return do(request, shown, "pages", action, title=title, back=back, shows_first=True, is_dangerous=True)
