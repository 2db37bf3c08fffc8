"""Organizers' Markdown as clean HTML, for pages and for mail. HTML inside stays, as far as it is harmless.

A text shows the pictures of its own competition by their names, `![what it shows](name.png)`, where it is rendered
with the address at which they are served. A picture from anywhere else becomes a link: a page loads nothing from
another host.
"""

import re

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from competitions.pictures import NAME

TAGS = {
    "a", "abbr", "b", "blockquote", "br", "caption", "cite", "code", "dd", "del", "details", "div", "dl", "dt",
    "em", "figcaption", "figure", "h2", "h3", "h4", "h5", "h6", "hr", "i", "ins", "kbd", "li", "ol", "p", "pre",
    "q", "s", "samp", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "u", "ul", "var",
}  # fmt: skip
ATTRIBUTES = {
    "a": {"href", "title"},
    "abbr": {"title"},
    "ol": {"start"},
    "img": {"src", "alt", "loading"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
}
_WITHOUT_SOURCE = re.compile(r"<img(?![^>]* src=)[^>]*>")


def _shift_headings(tokens: list[Token]) -> None:
    """The page's title is the only h1: where a text begins its levels at 1, all move down by one."""
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    if any(token.tag == "h1" for token in headings):
        for token in headings:
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"


_parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def _place_pictures(tokens: list[Token], pictures_at: str) -> None:
    """Give own pictures their addresses; others become links, or their description where they are none."""
    for token in tokens:
        if token.children and any(child.type == "image" for child in token.children):
            token.children = [
                new
                for child in token.children
                for new in (_picture(child, pictures_at) if child.type == "image" else [child])
            ]


def _picture(token: Token, pictures_at: str) -> list[Token]:
    source = str(token.attrGet("src") or "")
    if pictures_at and NAME.fullmatch(source):
        token.attrs = {"src": pictures_at + source, "alt": "", "loading": "lazy"}
        return [token]
    described = Token("text", "", 0, content=token.content or source)
    if not source.startswith(("https://", "http://")):
        return [described]
    return [Token("link_open", "a", 1, attrs={"href": source}), described, Token("link_close", "a", -1)]


def render_markdown(text: str, *, pictures_at: str = "") -> SafeString:
    """Organizers' Markdown as HTML: no script, no style, nothing loaded from another host.

    `pictures_at`: the address, with its slash, below which the pictures of the text's competition are served.
    """
    tokens = _parser.parse(text)
    _shift_headings(tokens)
    _place_pictures(tokens, pictures_at)
    html = _parser.renderer.render(tokens, _parser.options, {})

    def allowed(tag: str, attribute: str, value: str) -> str | None:
        """Own pictures in HTML are named as those in Markdown are; no other one is loaded."""
        if attribute == "href" and value.startswith("//"):
            return None
        if tag != "img" or attribute != "src":
            return value
        name = value.removeprefix(pictures_at)
        return pictures_at + name if NAME.fullmatch(name) else None

    clean = nh3.clean(
        html,
        tags=TAGS | {"img"} if pictures_at else TAGS,
        attributes=ATTRIBUTES,
        attribute_filter=allowed,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(_WITHOUT_SOURCE.sub("", clean))  # noqa: S308 - nh3 has just cleaned it
