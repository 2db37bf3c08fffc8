"""The pages of a bundle as the texts of a competition, with the pictures that they show.

Markdown stays Markdown. A page of HTML becomes one block of HTML inside Markdown: it is cleaned here, once, and
cleaned again whenever it is shown.
"""

from __future__ import annotations

import base64
import binascii
import html
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

import nh3
from django.core.files.base import ContentFile
from django.utils.text import slugify

from accounts.refusals import Refused
from bundles.importing.keeping import Keeper
from bundles.importing.report import ImportReport
from bundles.reading.contest import BundleContest, PageSource
from competitions import markdown, pictures
from competitions.actions.pages import LONGEST_TEXT, free_page_slug
from competitions.actions.pictures import MOST_BYTES, MOST_PICTURES
from competitions.models import Competition, Page, PageImage
from competitions.pictures import Picture

PLACE = "competition.yaml: pages"
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".tif", ".tiff", "")
_FIELDS = {"overview": "overview", "evaluation": "evaluation", "terms": "rules"}
_ASSET = re.compile(r"bundle:([\w./~%-]+)")
_DATA = re.compile(r"data:image/(?:png|jpe?g|gif|webp);base64,([A-Za-z0-9+/=]+)")
# What is cut out of a page: from the first to the next second. As one pattern they would look for the second from
# every first one again, where there is none.
_HEAD = (re.compile(r"(?i)<head\b"), re.compile(r"(?i)</head\s*>"))
_DOCTYPE = (re.compile(r"(?i)<!doctype"), re.compile(r">"))
_COMMENT = (re.compile(r"<!--"), re.compile(r"-->"))
_HEADING = re.compile(r"(?i)(</?h)([1-6])\b")
_IMG = re.compile(r"<img[^>]*>")
_SOURCE = re.compile(r'\ssrc="([^"]*)"')
_ALT = re.compile(r'\salt="([^"]*)"')


@dataclass
class Texts:
    """All texts and pictures of a bundle, ready to be saved."""

    report: ImportReport
    overview: str = ""
    evaluation: str = ""
    rules: str = ""
    pages: list[tuple[str, str]] = field(default_factory=list)
    logo: str = ""
    pictures: dict[str, Picture] = field(default_factory=dict)
    _by_file: dict[Path, str] = field(default_factory=dict)

    @classmethod
    def of(cls, contest: BundleContest, report: ImportReport) -> Texts:
        """The texts of a contest; pictures that cannot be shown are told in the report and left out."""
        texts = cls(report)
        texts._take_logo(contest.logo)
        taken = set[str]()
        for page in (*([contest.terms] if contest.terms else []), *contest.pages):
            body = texts.body(page)
            name = _FIELDS.get(page.role, "")
            if name and name not in taken:
                taken.add(name)
                setattr(texts, name, body)
            else:
                texts.pages.append((texts._free_title(page.title), body))
        return texts

    def _free_title(self, wanted: str) -> str:
        title, number = wanted, 1
        while title.casefold() in {one.casefold() for one, _ in self.pages}:
            number += 1
            title = f"{wanted[:74]} ({number})"
        return title

    def body(self, page: PageSource) -> str:
        """The text of a page, its pictures by their names; empty where it holds nothing but comments."""
        if not _without(page.text, _COMMENT).strip():
            return ""
        text = _DATA.sub(lambda found: self._embedded(found, page.title), page.text)
        text = _ASSET.sub(lambda found: self._asset(found[1], page), text)
        if len(text) > LONGEST_TEXT:
            what = f"The page {page.title} has {len(text):,} letters"
            self.report.warn(PLACE, f"{what}; only the first {LONGEST_TEXT:,} were taken.", "Divide it.")
            text = text[:LONGEST_TEXT]
        return block(text) if page.is_html else text

    def _asset(self, name: str, page: PageSource) -> str:
        path = page.assets.get(name)
        if path is None:
            return name
        if path not in self._by_file:
            self._by_file[path] = self._file(path, unquote(name), page)
        return self._by_file[path] or "#"

    def _file(self, path: Path, shown: str, page: PageSource) -> str:
        """The name of the picture that a file is; empty for any other file, with a warning."""
        what = f"The page {page.title} shows {shown}"
        if path.suffix.lower() in _PICTURES and path.stat().st_size > pictures.LARGEST_FILE:
            self.report.warn(PLACE, f"{what}, which is too large; it was left out.")
            return ""
        if path.suffix.lower() in _PICTURES:
            return self._kept(path.read_bytes(), shown, what)
        self.report.warn(
            PLACE,
            f"The page {page.title} leads to {shown}, which is no picture; the link leads nowhere here.",
            "Offer the file as public data or a starting kit of a phase, or write what it says on a page.",
        )
        return ""

    def _embedded(self, found: re.Match[str], title: str) -> str:
        try:
            content = base64.b64decode(found[1])
        except (binascii.Error, ValueError):
            content = b""
        return self._kept(content, "picture", f"The page {title} holds a picture") or "#"

    def _take_logo(self, path: Path | None) -> None:
        if path is None:
            return
        what = f"The logo is {path.name}"
        if path.stat().st_size > pictures.LARGEST_FILE:
            self.report.warn("competition.yaml: image", f"{what}, which is too large; it was left out.")
            return
        self.logo = self._kept(path.read_bytes(), "logo", what, place="competition.yaml: image")
        kept = self.pictures.get(self.logo)
        if kept is not None and (kept.width, kept.height) == (1, 1):
            # One point stands for no logo: version 2 cannot leave it out.
            del self.pictures[self.logo]
            self.logo = ""

    def _kept(self, content: bytes, name: str, what: str, *, place: str = PLACE) -> str:
        """The name under which a picture is kept; empty, with a warning, for what is none or too much."""
        if len(self.pictures) >= MOST_PICTURES:
            self.report.warn(place, f"{what}, but {MOST_PICTURES} pictures are kept at most; it was left out.")
            return ""
        try:
            picture = pictures.encoded(io.BytesIO(content), len(content))
        except Refused as problem:
            self.report.warn(place, f"{what}, which was left out. {problem.message}", problem.mend)
            return ""
        if sum(len(one.content) for one in self.pictures.values()) + len(picture.content) > MOST_BYTES:
            self.report.warn(place, f"{what}, but the pictures are too large together; it was left out.")
            return ""
        stem = slugify(PurePosixPath(name).stem).replace("_", "-").strip("-")[:60] or "picture"
        free, number = f"{stem}{picture.suffix}", 1
        while free in self.pictures:
            number += 1
            free = f"{stem}-{number}{picture.suffix}"
        self.pictures[free] = picture
        return free

    def save(self, competition: Competition, keeper: Keeper) -> None:
        """Save pages and pictures, inside the transaction of the import."""
        for order, (title, body) in enumerate(self.pages):
            slug = free_page_slug(competition, title)
            Page.objects.create(competition=competition, slug=slug, title=title, body=body, order=order)
        for image in self._images(competition, keeper):
            if image.name == self.logo:
                competition.logo = image
                competition.save(update_fields=["logo"])

    def _images(self, competition: Competition, keeper: Keeper) -> Iterator[PageImage]:
        for name, picture in self.pictures.items():
            image = PageImage(
                competition=competition,
                name=name,
                size=len(picture.content),
                width=picture.width,
                height=picture.height,
                uploaded_by=keeper.organizer,
            )
            if not keeper.is_dry:
                image.file.save(name, ContentFile(picture.content), save=False)
                keeper.stored.append((image.file.storage, str(image.file.name)))
            image.save()
            yield image


def block(text: str) -> str:
    """A page of HTML as one block inside Markdown: clean, its headings below the page's own, no empty line."""
    text = _without(_without(text, _HEAD), _DOCTYPE)
    if re.search(r"(?i)<h1\b", text):
        text = _HEADING.sub(lambda found: f"{found[1]}{min(6, int(found[2]) + 1)}", text)
    clean = nh3.clean(
        text,
        tags=markdown.TAGS | {"img"},
        attributes={**markdown.ATTRIBUTES, "img": {"src", "alt"}},
        url_schemes={"http", "https", "mailto"},
        link_rel=None,
    )
    clean = _IMG.sub(_own_or_linked, clean)
    # CommonMark ends a block of HTML at an empty line.
    lines = [line.rstrip() or "&#8203;" if in_pre else line.strip() for line, in_pre in _with_pre(clean)]
    return "<div>\n" + "\n".join(line for line in lines if line) + "\n</div>"


def _without(text: str, ends: tuple[re.Pattern[str], re.Pattern[str]]) -> str:
    """The text without what stands between these two, and without them; one that never ends stays."""
    first, second = ends
    kept, at = [], 0
    while (begin := first.search(text, at)) and (end := second.search(text, begin.end())):
        kept.append(text[at : begin.start()])
        at = end.end()
    return "".join([*kept, text[at:]])


def _with_pre(text: str) -> Iterator[tuple[str, bool]]:
    """The lines, and whether each begins inside preformatted text."""
    depth = 0
    for line in text.split("\n"):
        yield line, depth > 0
        depth += line.count("<pre") - line.count("</pre")


def _own_or_linked(found: re.Match[str]) -> str:
    """A picture of the competition as it is; one from elsewhere as a link to it."""
    source = _SOURCE.search(found[0])
    address = html.unescape(source[1]) if source else ""
    if pictures.NAME.fullmatch(address):
        return found[0]
    alt = _ALT.search(found[0])
    text = (alt[1] if alt else "") or html.escape(address)
    if not address.startswith(("https://", "http://")):
        return text if alt else ""
    return f'<a href="{html.escape(address)}">{text}</a>'
