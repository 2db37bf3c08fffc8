"""A benchmark as arrays: for each algorithm datasets x configurations x splits, read from its file when asked "
"for."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ABOUT = "about"
MEASURES = ("auc", "acc", "time")  # the first is what analyses compare by
DEFAULT_INDEX = 1001  # MementoML's number of a package's defaults; the random ones follow
NOT_FINITE = "this is no number"


@dataclass(frozen=True)
class Algorithm:
    """One algorithm of a benchmark: P configurations by their `index` (P,)."""

    name: str
    place: int
    index: NDArray[np.int64]
    parameters: tuple[str, ...]

    @property
    def default(self) -> int | None:
        """The place of the package's defaults, where they were run."""
        found = np.flatnonzero(self.index == DEFAULT_INDEX)
        return int(found[0]) if len(found) else None


class Grid:
    """The arrays of a benchmark. `archive` gives them by name: a dictionary, or a file of numpy opened lazily."""

    def __init__(self, archive: Mapping[str, NDArray[Any]]) -> None:
        self.archive = archive
        about = json.loads(bytes(archive[ABOUT]).decode())
        self.datasets: tuple[str, ...] = tuple(about["datasets"])
        self.splits: tuple[str, ...] = tuple(about["splits"])
        self.measures: tuple[str, ...] = tuple(about["measures"])
        self.algorithms = tuple(
            Algorithm(one["name"], place, archive[f"a{place}_index"], tuple(one["parameters"]))
            for place, one in enumerate(about["algorithms"])
        )

    def values(self, algorithm: Algorithm, measure: str) -> NDArray[np.float32]:
        """Datasets x P x splits, NaN where a cell is missing or failed."""
        return self.archive[f"a{algorithm.place}_{measure}"]

    def means(self, algorithm: Algorithm, measure: str = "auc") -> Floats:
        """Means over the splits, datasets x P, NaN where none succeeded."""
        return self.archive[f"a{algorithm.place}_mean_{measure}"]

    def counts(self, algorithm: Algorithm) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many cells of each dataset succeeded and failed, (datasets,) each; others were never run."""
        return self.archive[f"a{algorithm.place}_done"], self.archive[f"a{algorithm.place}_failed"]

    def parameter(self, algorithm: Algorithm, name: str) -> NDArray[Any]:
        """A hyper-parameter of every configuration, (P,): numbers, or texts."""
        return self.archive[f"a{algorithm.place}_p_{algorithm.parameters.index(name)}"]

    def named(self, name: str) -> Algorithm | None:
        """The algorithm of that name."""
        return next((one for one in self.algorithms if one.name == name), None)

    def label(self, algorithm: Algorithm, configuration: int) -> str:
        """A configuration by its algorithm and number."""
        return f"{algorithm.name} {algorithm.index[configuration]}"


def opened(file: IO[bytes]) -> Grid:
    """A benchmark from its file; nothing in it is ever unpickled."""
    return Grid(np.load(file, allow_pickle=False))


def about_array(about: dict[str, Any]) -> NDArray[np.uint8]:
    """The description of a benchmark as an array among its others."""
    return np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
