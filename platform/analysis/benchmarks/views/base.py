"""What a page of a benchmark is: the fields of its form, and the result that follows from their values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from analysis.benchmarks.grid import Algorithm, Grid
from analysis.results import Note, Result
from analysis.sections.base import Choice

Wish = Mapping[str, str]
ALL = "all"

MEMENTO = (
    "Kretowicz, W., Biecek, P.: MementoML: performance of selected machine learning algorithm configurations on "
    "OpenML100 datasets. arXiv:2008.13162, 2020."
)


@dataclass(frozen=True)
class View:
    """One page. `build` gets the values of the fields, each one of its options, the first where none was given."""

    key: str
    label: str
    question: str
    fields: Callable[[Grid, Wish], tuple[Choice, ...]]
    build: Callable[[Grid, Wish], Result]


def algorithm_field(grid: Grid, *, with_all: bool = False) -> Choice:
    """Which algorithm."""
    names = tuple((one.name, one.name) for one in grid.algorithms)
    return Choice("algorithm", "Algorithm", ((ALL, "all algorithms"), *names) if with_all else names)


def dataset_field(grid: Grid, *, all_label: str = "all datasets") -> Choice:
    """Which dataset, or all of them."""
    return Choice("dataset", "Dataset", ((ALL, all_label), *((name, name) for name in grid.datasets)))


def chosen(grid: Grid, wish: Wish) -> tuple[Algorithm, ...]:
    """The algorithms that are asked for."""
    found = grid.named(wish.get("algorithm", ALL))
    return (found,) if found else grid.algorithms


def rows_asked(grid: Grid, wish: Wish) -> list[int]:
    """The datasets that are asked for, by their places."""
    name = wish.get("dataset", ALL)
    return [grid.datasets.index(name)] if name in grid.datasets else list(range(len(grid.datasets)))


def nothing(why: str) -> Result:
    """A result that says why there is none."""
    return Result(why, (Note(why),), references=(MEMENTO,))


def many(count: int, what: str) -> str:
    """A number of things in words."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
