"""The panel of readiness checks, which a page of a submission includes by one tag."""

from typing import Any

from django import template

from pages import readiness

register = template.Library()


@register.inclusion_tag("submissions/readiness_panel.html", takes_context=True)
def readiness_panel(context: dict[str, Any]) -> dict[str, Any]:
    """The panel of the page's submission; empty where the viewer has nothing to check or read."""
    user, submission = context["request"].user, context["submission"]
    return {
        "panel": readiness.panel(user, submission, context["now"]),
        "competition": context["competition"],
        "submission": submission,
        "csrf_token": context.get("csrf_token"),
    }
