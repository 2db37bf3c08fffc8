"""Pages of a benchmark's results, each kept for a while by the process that made it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from analysis.benchmarks.grid import Grid, opened
from analysis.benchmarks.views import BY_KEY
from analysis.benchmarks.views.base import View
from analysis.models import Benchmark
from analysis.results import Result
from analysis.sections.base import Choice

FIELDS = ("algorithm", "parameter", "dataset", "rule")
KEPT = 24  # results; the largest are a few megabytes


@dataclass(frozen=True)
class Field:
    """A choice of the page's form with its value."""

    choice: Choice
    value: str


@dataclass(frozen=True)
class Asked:
    """What an address asks for, and the result."""

    view: View
    fields: tuple[Field, ...]
    result: Result


def ask(benchmark: Benchmark, view: View, given: Mapping[str, str]) -> Asked:
    """The result of a view for what the address gives; a value that is no option counts as not given."""
    wanted = {name: value for name, value in given.items() if name in FIELDS}
    with benchmark.content.open("rb") as file:
        fields = _fields(opened(file), view, wanted)
    # Kept by what the values mean: words that are no options cannot push out what others look at.
    options = tuple((field.choice.name, field.value) for field in fields)
    return Asked(view, fields, _built(benchmark.content.name, view.key, options))


@lru_cache(maxsize=KEPT)
def _built(content: str, key: str, options: tuple[tuple[str, str], ...]) -> Result:
    """By the name of the benchmark's file, which never changes under its name."""
    with Benchmark.content.field.storage.open(content, "rb") as file:
        return BY_KEY[key].build(opened(file), dict(options))


def _fields(grid: Grid, view: View, given: Mapping[str, str]) -> tuple[Field, ...]:
    found = []
    for choice in view.fields(grid, given):
        options = [value for value, _ in choice.options]
        wish = given.get(choice.name, "")
        found.append(Field(choice, wish if wish in options else next(iter(options), "")))
    return tuple(found)
