"""The nine design spaces of the paper: what they hold, how many models that is, and uniform samples of them."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.measures.spaces.networks import (
    STEM_WIDTH,
    Block,
    Complexity,
    Ints,
    Stage,
    ends_complexity,
    network_complexity,
    stage_complexity,
)

PARAMS_CAP = 856_000  # of R-56, as the paper's notebooks have it
# The paper names R-56's flops, .126 billion, as the limit; its notebooks cut at .129.
FLOPS_CAP = 129_000_000

DEPTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24)
WIDTHS = (16, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256)
BILLION = 10**9


@dataclass(frozen=True)
class NetworkSpace:
    """Networks of three stages, each of a depth, width, bottleneck ratio and number of groups of its own."""

    key: str
    name: str
    block: Block
    depths: tuple[int, ...]
    widths: tuple[int, ...]
    ratios: tuple[int, ...] = (1,)
    groups: tuple[int, ...] = (1,)

    @property
    def per_stage(self) -> int:
        """How many stages there are to choose from."""
        return len(self.depths) * len(self.widths) * len(self.ratios) * len(self.groups)

    @property
    def total(self) -> int:
        """The models: (d w r g)^3, table 2."""
        return self.per_stage**3

    @property
    def printed(self) -> str:
        """The models as table 2 prints them."""
        return f"{self.total:,}"


@dataclass(frozen=True)
class CellSpace:
    """Networks of one repeated cell of `nodes` nodes, each of two inputs and two operations.

    `output` says what a cell gives on: the outputs of all nodes, or of those that no other node reads ("loose").
    """

    key: str
    name: str
    operations: tuple[str, ...]
    nodes: int
    output: str
    widths: tuple[int, ...] = (16, 24, 32)
    depths: tuple[int, ...] = (4, 8, 12, 16, 20)

    @property
    def total(self) -> int:
        """The cells: o^(2k) ((k+1)!)^2, table 3."""
        return int(len(self.operations) ** (2 * self.nodes) * math.factorial(self.nodes + 1) ** 2)

    @property
    def printed(self) -> str:
        """The cells in billions as table 3 prints them: halves are rounded up."""
        return f"{(2 * self.total + BILLION) // (2 * BILLION):,}"


Space = NetworkSpace | CellSpace

SEPARABLE = ("3x3 separable convolution", "5x5 separable convolution")
POOLS = ("3x3 average pooling", "3x3 max pooling")
FACTORED = "1x7 then 7x1 convolution"
WIDE = "7x7 separable convolution"
NASNET = (
    "identity",
    "1x1 convolution",
    "3x3 convolution",
    "1x3 then 3x1 convolution",
    FACTORED,
    "3x3 dilated convolution",
    *POOLS,
    "5x5 max pooling",
    "7x7 max pooling",
    *SEPARABLE,
    WIDE,
)
AMOEBA = ("identity", *SEPARABLE, WIDE, *POOLS, "3x3 dilated separable convolution", FACTORED)
PNAS = ("identity", *SEPARABLE, WIDE, *POOLS, "3x3 dilated convolution", FACTORED)
ENAS = ("identity", *SEPARABLE, *POOLS)
DARTS = (
    "none",
    "identity",
    *SEPARABLE,
    "3x3 dilated separable convolution",
    "5x5 dilated separable convolution",
    *POOLS,
)

NETWORK_SPACES: tuple[NetworkSpace, ...] = (
    NetworkSpace("vanilla", "Vanilla", "vanilla", DEPTHS, WIDTHS),
    NetworkSpace("resnet", "ResNet", "residual", DEPTHS, WIDTHS),
    NetworkSpace(
        "resnext-a",
        "ResNeXt-A",
        "bottleneck",
        (1, 2, 4, 8, 16),
        (16, 32, 64, 128, 256),
        (1, 2, 4),
        (1, 2, 4),
    ),
    NetworkSpace(
        "resnext-b",
        "ResNeXt-B",
        "bottleneck",
        (1, 2, 4, 8, 16),
        (64, 128, 256, 512, 1024),
        (1, 2, 4),
        (1, 2, 4, 8, 16),
    ),
)
CELL_SPACES: tuple[CellSpace, ...] = (
    CellSpace("nasnet", "NASNet", NASNET, 5, "loose"),
    CellSpace("amoeba", "Amoeba", AMOEBA, 5, "loose"),
    CellSpace("pnas", "PNAS", PNAS, 5, "all"),
    CellSpace("enas", "ENAS", ENAS, 5, "loose"),
    CellSpace("darts", "DARTS", DARTS, 4, "all"),
)
SPACES: tuple[Space, ...] = (*NETWORK_SPACES, *CELL_SPACES)
BY_KEY: dict[str, Space] = {space.key: space for space in SPACES}


@dataclass(frozen=True)
class NetworkSample:
    """n networks: `depths`, `widths`, `ratios`, `groups` are (n, 3), `params` and `flops` (n,)."""

    depths: Ints
    widths: Ints
    ratios: Ints
    groups: Ints
    params: Ints
    flops: Ints


def sample_networks(
    space: NetworkSpace,
    count: int,
    *,
    seed: int,
    params_below: float = math.inf,
    flops_below: float = math.inf,
) -> NetworkSample:
    """Networks drawn uniformly from those of a space below the limits; fewer than asked for where hardly any are.

    They are drawn from the whole space and thrown away where they are too large, which leaves the rest uniform.
    """
    random = np.random.default_rng(seed)
    choices = (space.depths, space.widths, space.ratios, space.groups)
    kept: list[tuple[Ints, ...]] = []
    found = 0
    for _ in range(50):
        size = max(1000, 2 * count)
        drawn = tuple(np.array(values)[random.integers(len(values), size=(size, 3))] for values in choices)
        params, flops = complexity_of(space.block, *drawn)
        below = (params < params_below) & (flops < flops_below)
        kept.append(tuple(column[below] for column in (*drawn, params, flops)))
        found += int(below.sum())
        if found >= count:
            break
    return NetworkSample(*(np.concatenate(columns)[:count] for columns in zip(*kept, strict=True)))


def complexity_of(block: Block, depths: Ints, widths: Ints, ratios: Ints, groups: Ints) -> tuple[Ints, Ints]:
    """Parameters and flops of n networks, (n,) each, from (n, 3) of each of their dimensions."""
    params, flops = ends_complexity(widths[:, 2])
    before: Ints = np.full(len(widths), STEM_WIDTH)
    for index in range(3):
        columns = (one[:, index] for one in (depths, widths, ratios, groups))
        more = stage_complexity(block, index, before, *columns)
        params, flops = params + more[0], flops + more[1]
        before = widths[:, index]
    return params, flops


def one_network(
    space: NetworkSpace,
    depths: tuple[int, ...],
    widths: tuple[int, ...],
    ratios: tuple[int, ...] = (1, 1, 1),
    groups: tuple[int, ...] = (1, 1, 1),
) -> Complexity:
    """Parameters and flops of one network of the space."""
    a, b, c = (Stage(*values) for values in zip(depths, widths, ratios, groups, strict=True))
    return network_complexity(space.block, (a, b, c))


@dataclass(frozen=True)
class CellSample:
    """n cells: `inputs` and `operations` are (n, k, 2); input 0 and 1 are the two cells before, 2 the first node.
    `widths` and `depths` are (n,).
    """

    inputs: Ints
    operations: Ints
    widths: Ints
    depths: Ints


def sample_cells(space: CellSpace, count: int, *, seed: int) -> CellSample:
    """Cells drawn uniformly: of every node two inputs among all before it, and an operation for each."""
    random = np.random.default_rng(seed)
    inputs = np.stack([random.integers(node + 2, size=(count, 2)) for node in range(space.nodes)], axis=1)
    operations = random.integers(len(space.operations), size=(count, space.nodes, 2))
    widths, depths = (np.array(values) for values in (space.widths, space.depths))
    chosen_widths, chosen_depths = random.choice(widths, count), random.choice(depths, count)
    return CellSample(inputs, operations, chosen_widths, chosen_depths)


def stage_grid(space: NetworkSpace) -> tuple[NDArray[np.int64], ...]:
    """Depth, width, ratio and groups of every stage that can be chosen, (s,) each."""
    grid = np.meshgrid(space.depths, space.widths, space.ratios, space.groups, indexing="ij")
    return tuple(np.asarray(one, dtype=np.int64).ravel() for one in grid)
