"""Long lists a page at a time by the ids of their rows: every page costs as much as the first."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest, QueryDict

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Page(Generic[Row]):
    """The rows of a page, the newest first, and the addresses of those beside it: empty where there is nothing."""

    rows: list[Row]
    newer: str
    older: str
    first: str


def page(request: HttpRequest, rows: QuerySet[Row], per_page: int) -> Page[Row]:
    """The page that the query names by `before` or `after`, each the id of a row; the first for anything else."""
    before, after = _number(request, "before"), _number(request, "after")
    if after is not None:
        found = list(rows.filter(pk__gt=after).order_by("pk")[: per_page + 1])
        has_newer, has_older = len(found) > per_page, True
        found = found[:per_page][::-1]
    else:
        chosen = rows if before is None else rows.filter(pk__lt=before)
        found = list(chosen.order_by("-pk")[: per_page + 1])
        has_newer, has_older = before is not None, len(found) > per_page
        found = found[:per_page]
    if not found:
        return Page([], "", "", _address(request) if before or after else "")
    return Page(
        found,
        _address(request, after=found[0].pk) if has_newer else "",
        _address(request, before=found[-1].pk) if has_older else "",
        _address(request) if has_newer else "",
    )


def _number(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 19 else None


def _address(request: HttpRequest, **more: int) -> str:
    """The query of this page with another place in the list."""
    query: QueryDict = request.GET.copy()
    for name in ("before", "after"):
        query.pop(name, None)
    for name, value in more.items():
        query[name] = str(value)
    return "?" + query.urlencode()
