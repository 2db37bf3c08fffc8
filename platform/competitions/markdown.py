"""Organizers' Markdown as clean HTML, for pages and for mail."""

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre",
    "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}


def _shift_headings(tokens: list[Token]) -> None:
    """The page's title is the only h1: where a text begins its levels at 1, all move down by one."""
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    if any(token.tag == "h1" for token in headings):
        for token in headings:
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"


_parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def render_markdown(text: str) -> SafeString:
    """Organizers' Markdown as HTML: no raw HTML, no script, no style, nothing loaded from another host."""
    tokens = _parser.parse(text)
    _shift_headings(tokens)
    html = _parser.renderer.render(tokens, _parser.options, {})
    clean = nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(clean)  # noqa: S308 - nh3 has just cleaned it
