"""The exact distribution of complexity over every network of a space, without any drawing or training."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from analysis.measures.spaces.definitions import NetworkSpace, stage_grid
from analysis.measures.spaces.edf import Floats
from analysis.measures.spaces.networks import STEM_WIDTH, Ints, ends_complexity, stage_complexity

Measure = Literal["params", "flops"]


@dataclass(frozen=True)
class Distribution:
    """How many networks of a space lie in each bin of complexity: `counts` (k,), `edges` (k + 1,)."""

    edges: Floats
    counts: Ints

    @property
    def shares(self) -> Floats:
        """Of those within the edges."""
        return self.counts / max(1, int(self.counts.sum()))

    @property
    def median_bin(self) -> int:
        """The index of the bin, from 0, that holds the network in the middle; 0 where there is none."""
        total = int(self.counts.sum())
        return int(np.searchsorted(np.cumsum(self.counts), total / 2)) if total else 0


def networks_below(space: NetworkSpace, measure: Measure, limits: ArrayLike) -> Ints:
    """How many networks of the space have less than each limit of parameters or flops, (t,); all are counted.

    A stage's complexity depends on the stage before by its width alone. So the sums of the first two stages are
    sorted for each width of the second, and every last stage asks there how many leave it room enough: exact for
    53 million networks in well under a second.
    """
    thresholds = np.asarray(limits, dtype=float)
    which = 0 if measure == "params" else 1
    depth, width, ratio, groups = stage_grid(space)
    stem = np.array([STEM_WIDTH])
    first = stage_complexity(space.block, 0, stem, depth, width, ratio, groups)[which]
    found = np.zeros(thresholds.shape, dtype=np.int64)
    for second_width in space.widths:
        second = width == second_width
        columns = (one[second] for one in (depth, width, ratio, groups))
        seconds = stage_complexity(space.block, 1, width[:, None], *columns)[which]
        sums = np.sort((first[:, None] + seconds).ravel())
        thirds = stage_complexity(space.block, 2, np.array([second_width]), depth, width, ratio, groups)[which]
        thirds = thirds + ends_complexity(width)[which]
        room = thresholds[:, None] - thirds[None, :]
        found += np.searchsorted(sums, room, side="left").sum(axis=1)
    return found


def distribution(
    space: NetworkSpace, measure: Measure, bins: int, below: float, above: float = 0.0
) -> Distribution:
    """The networks with complexity in [above, below), in bins of equal width (the paper's figure 5 has 36)."""
    edges = np.linspace(above, below, bins + 1)
    return Distribution(edges, np.diff(networks_below(space, measure, edges)))
