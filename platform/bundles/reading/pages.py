"""Pages of a bundle: markdown or HTML, with the files of the bundle that they show or offer."""

from __future__ import annotations

import html
import re
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from bundles.reading.contest import PageSource
from bundles.reading.files import BundleFiles

# Pages may hold their pictures as data.
LARGEST_PAGE = 8 << 20
_HTML_SUFFIXES = (".html", ".htm")
_MARKDOWN_LINK = re.compile(r"(\]\(\s*<?)([^)\s>]+)")
_MARKDOWN_REFERENCE = re.compile(r"(?m)(^ {0,3}\[[^\]\n]{1,999}\]:[ \t]*<?)([^\s>]+)")
_ATTRIBUTE = re.compile(r"""(?i)((?:\s|["'])(?:src|href|poster|data)\s*=\s*)(?:"([^"]*)"|'([^']*)'|([^"'\s>]+))""")
_BASE = re.compile(r"\{\{\s*ASSET_BASE_URL\s*\}\}/?")
_ROLES = {
    "overview": "overview",
    "evaluation": "evaluation",
    "terms": "terms",
    "terms and conditions": "terms",
    "rules": "terms",
    "data": "data",
}


def role_of(title: str) -> str:
    """Which of the usual pages a title names: "overview", "evaluation", "terms", "data" or ""."""
    return _ROLES.get(title.strip().lower(), "")


def read_page(files: BundleFiles, written: str, place: str, *, title: str, role: str = "") -> PageSource | None:
    """The page in a file of the bundle, or None with the error noted when the file is missing."""
    notes = files.notes
    path = files.find(written, place)
    if path is None or not path.is_file():
        notes.error(place, f"The file {written} of the page {title} is missing.", files.similar(written))
        return None
    if path.stat().st_size > LARGEST_PAGE:
        notes.error(place, f"The page {written} is larger than {LARGEST_PAGE >> 20} MiB.", "Shorten it.")
        return None
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
        notes.warn(place, f"The page {written} is not in UTF-8; it was read as Windows text.", "Save it as UTF-8.")
    if not text.strip():
        notes.warn(place, f"The page {written} is empty.", "Write it, or leave it out.")
    text = text.replace("\r\n", "\n").replace("\x00", "")
    is_html = path.suffix.lower() in _HTML_SUFFIXES
    text, assets = _with_assets(files, path.parent, text, is_html=is_html)
    return PageSource(title=title, text=text, is_html=is_html, assets=assets, role=role)


def _with_assets(files: BundleFiles, folder: Path, text: str, *, is_html: bool) -> tuple[str, dict[str, Path]]:
    """The text with `bundle:PATH` for links that lead to files of the bundle, and those files by PATH."""
    assets: dict[str, Path] = {}

    def address(link: str) -> str | None:
        target = _asset(files.root, folder, link)
        if target is None:
            return None
        name = _quoted(target.relative_to(files.root).as_posix())
        assets[name] = target
        return f"bundle:{name}"

    def in_attribute(found: re.Match[str]) -> str:
        new = address(html.unescape(found[2] or found[3] or found[4] or ""))
        return found[0] if new is None else f'{found[1]}"{new}"'

    def in_markdown(found: re.Match[str]) -> str:
        new = address(found[2])
        return found[0] if new is None else f"{found[1]}{new}"

    text = _ATTRIBUTE.sub(in_attribute, text)
    if not is_html:
        for pattern in (_MARKDOWN_LINK, _MARKDOWN_REFERENCE):
            text = pattern.sub(in_markdown, text)
    return text, assets


def _quoted(name: str) -> str:
    """A path that ends neither a link of markdown nor an attribute."""
    return re.sub(r"[^\w./~-]", lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), name)


def _asset(root: Path, folder: Path, link: str) -> Path | None:
    """The file that a link means, looked for beside the page, at the root and in assets/; else None."""
    plain = _BASE.sub("", link)
    based = plain != link
    plain = unquote(plain.split("#")[0].split("?")[0])
    if not plain or (not based and re.match(r"(?i)^([a-z][a-z0-9+.-]*:|//|#)", plain)):
        return None
    pieces = [piece for piece in PurePosixPath(plain).parts if piece not in ("/", ".")]
    if not pieces or any(len(piece) > 255 for piece in pieces) or "\x00" in plain:
        return None
    places = [root / "assets", root] if based else [folder, root, root / "assets"]
    for place in places:
        target = place.joinpath(*pieces).resolve()
        if target.is_file() and target.is_relative_to(root.resolve()):
            return root / target.relative_to(root.resolve())
    return None
