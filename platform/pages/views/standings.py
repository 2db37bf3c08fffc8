"""The board of a round and of the whole series, and UP %."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from competitions.models import Entrant, Phase, Round
from leaderboards import export
from leaderboards.reading import PER_PAGE, Look
from leaderboards.series import SeriesPlace, combine, in_series, places_of, rises
from pages import boards, frame

SERIES = "series"


@dataclass(frozen=True)
class Scope:
    """A round, or all rounds."""

    key: str
    title: str
    round: Round | None
    phases: list[Phase]


def scope_of(request: HttpRequest, shown: frame.Frame) -> Scope | None:
    """The round or the series that the address names; None where it names a phase or nothing."""
    wish = request.GET.get("round")
    if wish == SERIES:
        return Scope(SERIES, "Whole series", None, shown.phases)
    for choice in boards.rounds_of(shown.phases):
        if wish is not None and wish == str(choice.round.number):
            return Scope(f"round-{choice.round.number}", str(choice.round), choice.round, choice.phases)
    return None


def page(request: HttpRequest, shown: frame.Frame, scope: Scope) -> HttpResponse:
    """The page of a round or of the series."""
    looks, places = _places(shown, scope)
    own = {shown.viewer.entrant_id}
    pages = max(1, -(-len(places) // PER_PAGE))
    wish = request.GET.get("page", "")
    number = min(int(wish), pages) if wish.isdecimal() and 0 < len(wish) < 9 and int(wish) else 1
    chosen = places[(number - 1) * PER_PAGE : number * PER_PAGE]
    elsewhere = [place for place in places if place.entrant_id in own and place not in chosen]
    entrants = Entrant.objects.in_bulk([place.entrant_id for place in (*chosen, *elsewhere)])
    context = shown.context(
        "leaderboard",
        scope=scope,
        rounds=boards.rounds_of(shown.phases),
        looks=looks,
        left_out=[phase for phase in scope.phases if phase.pk not in {look.phase.pk for look in looks}],
        places=[(place, entrants[place.entrant_id], place.entrant_id in own) for place in chosen],
        elsewhere=[(place, entrants[place.entrant_id]) for place in elsewhere],
        number=number,
        pages=pages,
        total=len(places),
        rises=rises(looks),
        sees_more=any(not look.is_public for look in looks),
    )
    return render(request, "leaderboards/standings.html", context)


def _places(shown: frame.Frame, scope: Scope) -> tuple[list[Look], list[SeriesPlace]]:
    looks = in_series([boards.look(shown, phase) for phase in scope.phases])
    found = [(look, places) for look, places in zip(looks, places_of(looks), strict=True) if places]
    return [look for look, _ in found], combine([places for _, places in found])


def _named(places: list[SeriesPlace]) -> dict[int, str]:
    ids = [place.entrant_id for place in places]
    return {
        entrant: name
        for start in range(0, len(ids), 1000)
        for entrant, name in Entrant.objects.filter(pk__in=ids[start : start + 1000]).values_list("pk", "name")
    }


def as_csv(shown: frame.Frame, scope: Scope) -> Iterator[str]:
    """The board of a round or of the series as lines of CSV."""
    looks, places = _places(shown, scope)
    return export.series_as_csv([look.phase.title for look in looks], places, _named(places))


def as_json(shown: frame.Frame, scope: Scope, about: dict[str, object]) -> Iterator[str]:
    """The same as pieces of JSON, with UP %."""
    looks, places = _places(shown, scope)
    up = [
        {
            "automl": rise.automl.title,
            "final": rise.final.title,
            "track": rise.final.track,
            "percent": rise.percent,
        }
        for rise in rises(looks)
    ]
    about = {**about, "scope": scope.key, "title": scope.title, "up": up}
    return export.series_as_json([look.phase.title for look in looks], places, _named(places), about)
