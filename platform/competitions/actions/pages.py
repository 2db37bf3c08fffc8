"""The texts of a competition: the three pages that all have, and those that its organizers add."""

import datetime as dt
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db.models import Max, QuerySet
from django.utils.text import slugify

from accounts.refusals import Refused
from competitions.actions.base import Preview
from competitions.actions.queue import OfCompetition
from competitions.actions.seen import require_unchanged
from competitions.models import Competition, Page

LONGEST_TEXT = 200_000
KEPT_OF_BEFORE = 20_000  # letters of the former text that the audit entry keeps
MOST_PAGES = 20
TEXTS = {"overview": "Overview", "evaluation": "Evaluation", "rules": "Rules"}


def _checked_text(text: str) -> None:
    if len(text) > LONGEST_TEXT:
        raise Refused(f"A page has at most {LONGEST_TEXT:,} letters; this one has {len(text):,}.")


@dataclass
class EditText(OfCompetition):
    """Change one of the three texts of `TEXTS`; `seen` is the fingerprint of the text that was shown."""

    which: str
    text: str
    seen: str = ""

    name: ClassVar[str] = "edit_page"

    def _before(self) -> str:
        return str(getattr(Competition.objects.only(self.which).get(pk=self.contest.pk), self.which))

    def check(self, now: dt.datetime) -> None:
        """The text must be another one, and the one that was edited."""
        if self.which not in TEXTS:
            raise Refused("There is no such page.", status=404)
        _checked_text(self.text)
        before = self._before()
        require_unchanged(self.seen, before, what="this page")
        if before == self.text:
            raise Refused("Nothing was changed.", status=409)

    def preview(self, now: dt.datetime) -> Preview:
        """That it is seen at once."""
        return Preview([f"{TEXTS[self.which]} shows the new text at once."])

    def change(self, now: dt.datetime) -> str:
        """Save the text."""
        self._replaced = self._before()
        Competition.objects.filter(pk=self.contest.pk).update(**{self.which: self.text})
        setattr(self.contest, self.which, self.text)
        return f"The page {TEXTS[self.which]} was changed."

    def details(self) -> dict[str, Any]:
        """Which page, and what stood there."""
        return {"page": self.which, "before": self._replaced[:KEPT_OF_BEFORE]}


@dataclass
class AddPage(OfCompetition):
    """Add a page at the end; its address comes from its title."""

    title: str
    page: Page = field(init=False)

    name: ClassVar[str] = "add_page"

    def check(self, now: dt.datetime) -> None:
        """It needs a title of its own."""
        if self.contest.pages.count() >= MOST_PAGES:
            raise Refused(f"A competition has at most {MOST_PAGES} pages of its own.", status=409)
        _checked_title(self.contest, self.title)

    def preview(self, now: dt.datetime) -> Preview:
        """Where it stands."""
        return Preview([f"{self.title} stands behind the last tab."])

    def change(self, now: dt.datetime) -> str:
        """Make it."""
        last = self.contest.pages.aggregate(last=Max("order"))["last"]
        self.page = self.contest.pages.create(
            title=self.title, slug=free_page_slug(self.contest, self.title), order=0 if last is None else last + 1
        )
        return f"The page {self.title} was added."

    def details(self) -> dict[str, Any]:
        """Its address."""
        return {"page": self.page.slug}


def free_page_slug(competition: Competition, title: str, but: Page | None = None) -> str:
    """A part of an address that no other page of the competition has."""
    wanted = slugify(title)[:50] or "page"
    taken = set(_others(competition, but).values_list("slug", flat=True))
    numbered = (wanted if number == 1 else f"{wanted}-{number}" for number in range(1, len(taken) + 2))
    return next(slug for slug in numbered if slug not in taken)


def _others(competition: Competition, page: Page | None) -> QuerySet[Page]:
    return competition.pages.exclude(pk=page.pk) if page else competition.pages.all()


def _checked_title(competition: Competition, title: str, but: Page | None = None) -> None:
    if not title.strip():
        raise Refused("A page needs a title.")
    titles = _others(competition, but).values_list("title", flat=True)
    if title.casefold() in {one.casefold() for one in titles}:
        raise Refused(f"There is a page {title} already.", status=409, mend="Choose another title.")


@dataclass
class OfPage(OfCompetition):
    """An action on a page that organizers added."""

    page: Page

    def details(self) -> dict[str, Any]:
        """Its address."""
        return {"page": self.page.slug}


@dataclass
class EditPage(OfPage):
    """Change title and text of an added page; the address stays, because others link to it."""

    title: str
    text: str
    seen: str = ""

    name: ClassVar[str] = "edit_page"

    def check(self, now: dt.datetime) -> None:
        """Title and text must be good, and those that were edited."""
        before = _still_there(self.page)
        require_unchanged(self.seen, before.title, before.body, what="this page")
        _checked_text(self.text)
        _checked_title(self.contest, self.title, but=self.page)
        if (before.title, before.body) == (self.title, self.text):
            raise Refused("Nothing was changed.", status=409)
        try:
            Page(competition=self.contest, slug=before.slug, title=self.title, body=self.text).clean_fields()
        except ValidationError as problem:
            raise Refused(" ".join(problem.messages)) from problem

    def preview(self, now: dt.datetime) -> Preview:
        """That it is seen at once."""
        return Preview([f"{self.title} shows the new text at once."])

    def change(self, now: dt.datetime) -> str:
        """Save both."""
        before = _still_there(self.page)
        self._replaced = before.title, before.body
        self.page.title, self.page.body = self.title, self.text
        self.page.save(update_fields=["title", "body"])
        renamed = f", now called {self.title}," if self.title != before.title else ""
        return f"The page {before.title}{renamed} was changed."

    def details(self) -> dict[str, Any]:
        """Its address, and what stood there."""
        title, body = self._replaced
        return {"page": self.page.slug, "title": title, "before": body[:KEPT_OF_BEFORE]}


@dataclass
class MovePage(OfPage):
    """Move an added page one place forward (-1) or back (1)."""

    by_places: int

    name: ClassVar[str] = "move_page"

    def _order(self) -> list[Page]:
        return list(self.contest.pages.all())

    def check(self, now: dt.datetime) -> None:
        """There must be a place to go to."""
        pages = self._order()
        place = pages.index(_still_there(self.page)) + self.by_places
        if abs(self.by_places) != 1 or not 0 <= place < len(pages):
            raise Refused(f"{self.page.title} stands there already.", status=409)

    def preview(self, now: dt.datetime) -> Preview:
        """The new order."""
        return Preview([f"{self.page.title} changes its place with the page beside it."])

    def change(self, now: dt.datetime) -> str:
        """Number the pages anew."""
        pages = self._order()
        place = pages.index(self.page)
        pages.insert(place + self.by_places, pages.pop(place))
        for order, page in enumerate(pages):
            if page.order != order:
                Page.objects.filter(pk=page.pk).update(order=order)
        return f"The page {self.page.title} was moved {'forward' if self.by_places < 0 else 'back'}."


@dataclass
class RemovePage(OfPage):
    """Remove an added page."""

    name: ClassVar[str] = "remove_page"

    def check(self, now: dt.datetime) -> None:
        """It must be there."""
        _still_there(self.page)

    def preview(self, now: dt.datetime) -> Preview:
        """What is lost."""
        return Preview([f"{self.page.title} goes, with its text. Links to it lead nowhere."])

    def change(self, now: dt.datetime) -> str:
        """Remove it."""
        Page.objects.filter(pk=self.page.pk).delete()
        return f"The page {self.page.title} was removed."

    def details(self) -> dict[str, Any]:
        """Its address and its text."""
        return {**super().details(), "before": self.page.body[:KEPT_OF_BEFORE]}


def _still_there(page: Page) -> Page:
    found = Page.objects.filter(pk=page.pk).first()
    if found is None:
        raise Refused("This page was removed in the meantime.", status=409)
    return found
