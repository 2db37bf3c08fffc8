"""Pictures inside of a page of HTML."""

import re
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from analysis.drawing import pictures

_NAMES = re.compile(r'(\bid="|url\(#|href="#)')


def inline_svg(spec: dict[str, Any], prefix: str) -> SafeString:
    """The picture as an element of HTML, as wide as its place at most.

    Names inside of it get the prefix: those of several pictures on a page would otherwise be taken for each
    other's. What people wrote stands in it as escaped text.
    """
    drawn = pictures.svg(spec).decode()
    drawn = _NAMES.sub(lambda found: found.group(1) + prefix, drawn[drawn.index("<svg") :])
    return mark_safe(drawn)  # noqa: S308 (Vega escapes all text and attributes that it draws)
