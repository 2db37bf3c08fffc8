"""Where the sets of the page come from: one's own files, competitions and benchmarks that one may see."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

from analysis.benchmarks.grid import opened
from analysis.benchmarks.policy import visible_benchmarks
from analysis.benchmarks.populations import populations_of
from analysis.inputs.audience import Audience
from analysis.inputs.boards import load_boards
from analysis.inputs.entrants_models import candidates, models_of
from analysis.models import Benchmark
from analysis.spaces.keeping import as_set, own_sets
from analysis.spaces.modelset import ModelSet
from competitions import clock
from competitions.policy import Person, viewer_of

Load = Callable[[], ModelSet]


@dataclass(frozen=True)
class Offer:
    """A set that the person may compare. `key` names it in an address; `population` is that of one's own."""

    key: str
    name: str
    size: int
    group: str
    load: Load
    population: int | None = None


def offers(user: Person, *, contest: str = "", benchmark: str = "", dataset: str = "") -> list[Offer]:
    """One's own sets, those of a competition by its slug, and those of a benchmark by its number.

    What the person may not see is not among them.
    """
    return [*_own(user), *_of_contest(user, contest), *_of_benchmark(user, benchmark, dataset)]


def _own(user: Person) -> list[Offer]:
    return [
        Offer(f"own-{one.pk}", one.name, one.size, "Your own", lambda one=one: as_set(one), one.pk)  # type: ignore[misc]
        for one in own_sets(user).defer("columns")  # read only of those that are chosen
    ]


def _of_contest(user: Person, slug: str) -> list[Offer]:
    viewer = viewer_of(user, slug) if slug else None
    if viewer is None or not viewer.may_see:
        return []
    now: dt.datetime = clock.now(viewer.competition)
    boards = load_boards(viewer.competition, Audience(viewer.sees_hidden), now)
    found = []
    for board in boards:
        for entrant, name, count in candidates(board):
            key = f"entrant-{board.phase_id}-{board.part}-{entrant}"

            def load(board=board, entrant=entrant, name=name) -> ModelSet:  # type: ignore[no-untyped-def]
                return models_of(board, entrant, name)

            group = f"{viewer.competition.title}: {board.title}, {board.part}"
            found.append(Offer(key, name, count, group, load))
    return found


def chosen_benchmark(user: Person, number: str) -> Benchmark | None:
    """The benchmark of that number, where the person may see it and it is ready."""
    if not number.isdecimal() or len(number) > 9:
        return None
    return visible_benchmarks(user).filter(pk=int(number), state=Benchmark.State.READY).first()


def _of_benchmark(user: Person, number: str, dataset: str) -> list[Offer]:
    benchmark = chosen_benchmark(user, number)
    if benchmark is None:
        return []
    with benchmark.content.open("rb") as content:
        found = populations_of(opened(content), dataset)
    group = f"{benchmark.title}{f': {dataset}' if dataset else ''}"
    return [
        Offer(
            f"benchmark-{benchmark.pk}-{place}",
            name,
            max((len(values) for values in columns.values()), default=0),
            group,
            lambda name=name, columns=columns: ModelSet(name, columns, group),  # type: ignore[misc]
        )
        for place, (name, columns) in enumerate(found)
    ]
