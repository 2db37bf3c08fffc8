"""How numbers of fact sheets are shown."""

from django import template

register = template.Library()


@register.filter
def short_number(value: float) -> str:
    """A number with at most six digits, without zeros behind the point."""
    return f"{value + 0.0:.6g}"
