"""The components that hold other markup: each is a template in `templates/parts/`, shown at `/styleguide/`.

Components without anything inside are included: `{% include "parts/empty.html" with text="…" %}`.
"""

from django import template
from django.template.context import Context
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_block_tag
def panel(content: str, title: str = "", *, id: str = "", style: str = "") -> SafeString:
    """A surface with a heading of the second level, for one thing of the page."""
    return render_to_string("parts/panel.html", {"content": content, "title": title, "id": id, "style": style})


@register.simple_block_tag
def note(content: str, style: str = "", *, alert: bool = False) -> SafeString:
    """A sentence set apart. `style`: error, warning, success or empty; `alert`: screen readers say it at once."""
    return render_to_string("parts/note_frame.html", {"content": content, "style": style, "alert": alert})


@register.simple_block_tag
def table(content: str, label: str, *, style: str = "", id: str = "") -> SafeString:
    """A table in a frame that scrolls sideways and can be scrolled by keyboard. `label` says what it lists."""
    return render_to_string("parts/table.html", {"content": content, "label": label, "style": style, "id": id})


@register.simple_block_tag
def filters(content: str, label: str = "Filter", *, clear: str = "") -> SafeString:
    """A form of filters that is sent by GET. `clear`: the address without any, where one is set."""
    return render_to_string("parts/filters.html", {"content": content, "label": label, "clear": clear})


@register.simple_block_tag(takes_context=True)
def confirm(
    context: Context,
    content: str,
    label: str,
    *,
    id: str,
    question: str,
    action: str = "",
    yes: str = "",
    no: str = "Leave it as it is",
    typed: str = "",
    style: str = "danger small",
    busy: str = "",
) -> SafeString:
    """A button that asks before it does something, without a script.

    `id` is of this button alone on its page. What stands inside is part of the form that "yes" sends: hidden
    fields, sentences. `typed`: a name that has to be typed first, sent as `typed`.
    `busy`: what the button of "yes" says once it was clicked, where the answer takes long.
    """
    shown = {
        "content": content,
        "label": label,
        "id": id,
        "question": question,
        "action": action,
        "yes": yes or label,
        "no": no,
        "typed": typed,
        "style": style,
        "busy": busy,
        "csrf_token": context.get("csrf_token"),
    }
    return render_to_string("parts/confirm.html", shown)
