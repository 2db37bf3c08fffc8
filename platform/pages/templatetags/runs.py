"""Runs in a long table: what `submissions/dots.html` shows, made in one go, because a page has hundreds."""

from collections.abc import Sequence

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

from pages.templatetags.podium import state_style
from submissions.public import Glance

register = template.Library()


@register.simple_tag
def run_dots(runs: Sequence[Glance]) -> SafeString:
    """A dot for each run in the colour of its state, with the words for who cannot see them."""
    dot = '<span class="dot {}" title="{}: {}"></span>'
    dots = format_html_join("", dot, ((state_style(run.state), run.task, run.state_label) for run in runs))
    words = format_html_join("", "{}: {}. ", ((run.task, run.state_label) for run in runs))
    return mark_safe(f'<span class="run-dots">{dots}</span><span class="sr">{words}</span>')  # noqa: S308
