"""The address of a competition that is made of its title."""

from django.utils.text import slugify

from competitions.actions.copying import free_slug
from competitions.models.contest import RESERVED_SLUGS

LONGEST = 60


def slug_of(title: str) -> str:
    """A free address that is made of a title."""
    slug = slugify(title).strip("-_")[:LONGEST] or "competition"
    return free_slug(f"{slug}-competition" if slug in RESERVED_SLUGS else slug)
