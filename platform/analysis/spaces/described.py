"""The nine design spaces of the paper as figures and tables: nothing has to be trained for them."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.charts import spaces as charts
from analysis.measures.spaces.definitions import (
    CELL_SPACES,
    FLOPS_CAP,
    NETWORK_SPACES,
    PARAMS_CAP,
    CellSpace,
    NetworkSpace,
    Space,
    one_network,
    sample_cells,
    sample_networks,
)
from analysis.measures.spaces.exact import Distribution, Measure, distribution, networks_below
from analysis.results import Block, Cell, Column, Figure, Heading, Note, Result, Table
from analysis.spaces.comparing import PAPER

BINS = 36
TITLES: dict[Measure, str] = {"params": "parameters", "flops": "flops"}
REFERENCES = (
    PAPER,
    "I. Radosavovic et al.: pycls. github.com/facebookresearch/pycls (MIT), model_complexity.json.",
)
STAGE = "of each of the three stages"


@dataclass(frozen=True)
class Limits:
    """The networks that count: fewer parameters and flops than these; and bins of the figures."""

    params: int = PARAMS_CAP
    flops: int = FLOPS_CAP
    bins: int = BINS

    def of(self, measure: Measure) -> int:
        """The limit of one of them."""
        return self.params if measure == "params" else self.flops


def described(limits: Limits) -> Result:
    """Counts, known networks, and the exact distribution of complexity below the limits."""
    blocks: list[Block] = [
        Heading("What the spaces hold", "As in tables 2 and 3 of the paper, to the digit."),
        _networks(),
        _cells(),
        Heading(
            "How large their models are",
            "Every network of a space is counted exactly; none has to be trained, nor drawn at random.",
        ),
        Note(
            "The paper names the size of R-56 as the limit, 0.856 million parameters or 0.126 billion flops; "
            "its notebooks cut flops at 0.129 billion, which is what stands here before another limit is chosen."
        ),
        _distribution("params", limits),
        _distribution("flops", limits),
        _below(limits),
        _known(),
    ]
    total = sum(space.total for space in NETWORK_SPACES)
    headline = (
        f"{total:,} networks of four families are counted without training one; of ResNeXt-A "
        f"{_share(NETWORK_SPACES[2], limits):.0f} % have fewer than {limits.params:,} parameters, of ResNeXt-B "
        f"{_share(NETWORK_SPACES[3], limits):.0f} %."
    )
    methods = (
        "Parameters and multiply-adds of CIFAR networks are sums over their convolutions, with normalisation and "
        "without biases, as in pycls. A stage depends on the one before by its width alone, so all networks of a "
        "space are counted without listing them."
    )
    return Result(headline, tuple(blocks), methods, REFERENCES)


def _share(space: NetworkSpace, limits: Limits) -> float:
    return 100 * float(networks_below(space, "params", [limits.params])[0]) / space.total


def _values(values: Sequence[int]) -> str:
    return ", ".join(str(value) for value in values)


def _networks() -> Table:
    columns = (
        Column("space", "Space"),
        Column("block", "Block"),
        Column("depths", "Depths", title=STAGE),
        Column("widths", "Widths", title=STAGE),
        Column("ratios", "Bottleneck ratios", title=STAGE),
        Column("groups", "Groups", title=STAGE),
        Column("total", "Networks", "integer", title="(d w r g)^3"),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            space.name,
            space.block,
            *(_values(values) for values in (space.depths, space.widths, space.ratios, space.groups)),
            space.total,
        )
        for space in NETWORK_SPACES
    )
    sentence = (
        "Three stages are chosen independently, so a space holds (depths x widths x ratios x groups)^3 networks."
    )
    return Table("table_2", "Families of networks (table 2)", columns, rows, sentence)


def _cells() -> Table:
    columns = (
        Column("space", "Space"),
        Column("operations", "Operations", "integer"),
        Column("nodes", "Nodes", "integer"),
        Column("output", "Output", title="What a cell gives on: all nodes, or those that no other node reads."),
        Column("billions", "Cells (billions)", title="Halves rounded up, as printed."),
        Column("cells", "Cells", "integer", title="o^(2k) ((k+1)!)^2"),
        Column("names", "Their names"),
    )
    rows = tuple(
        (
            space.name,
            len(space.operations),
            space.nodes,
            space.output,
            space.printed,
            space.total,
            ", ".join(space.operations),
        )
        for space in CELL_SPACES
    )
    sentence = (
        "Each of k nodes has two inputs among all before it and one of o operations for each: o^(2k) ((k+1)!)^2 "
        "cells, of which a network has a normal and a reduction one."
    )
    return Table("table_3", "Spaces of cells (table 3)", columns, rows, sentence)


def _distribution(measure: Measure, limits: Limits) -> Figure:
    found = {space.name: distribution(space, measure, limits.bins, limits.of(measure)) for space in NETWORK_SPACES}
    rows: list[tuple[Cell, ...]] = []
    for name, one in found.items():
        for index, (count, share) in enumerate(zip(one.counts, one.shares, strict=True)):
            low, high = float(one.edges[index]), float(one.edges[index + 1])
            rows.append((name, low, high, int(count), float(share)))
    keys = ("name", "low", "high", "count", "share")
    medians = [f"{round(_middle(one), -3):,.0f} in {name}" for name, one in found.items()]
    total = sum(int(one.counts.sum()) for one in found.values())
    return Figure(
        key=f"complexity_{measure}",
        title=f"Networks by {TITLES[measure]}",
        sentence=f"Of all networks with fewer than {limits.of(measure):,} {TITLES[measure]} half have fewer than "
        f"about {', '.join(medians)}.",
        spec=charts.histogram(
            [dict(zip(keys, row, strict=True)) for row in rows],
            title=TITLES[measure],
            count="share below the limit",
        ),
        columns=(
            Column("name", "Space"),
            Column("low", "From", "integer"),
            Column("high", "To", "integer"),
            Column("count", "Networks", "integer"),
            Column("share", "Share", "percent"),
        ),
        rows=tuple(rows),
        n=f"all {total:,} networks below the limit",
        method="Exact counts: the sums of the first two stages are sorted for each width of the second, and every "
        "last stage asks there how many leave it room enough (Radosavovic et al. 2019, figure 5, whose models "
        "were drawn at random).",
    )


def _middle(found: Distribution) -> float:
    """The upper edge of the bin that holds the median."""
    return float(found.edges[found.median_bin + 1])


def _below(limits: Limits) -> Table:
    columns = (
        Column("space", "Space"),
        Column("total", "Networks", "integer"),
        Column("params", f"Below {limits.params:,} parameters", "integer"),
        Column("flops", f"Below {limits.flops:,} flops", "integer"),
    )
    rows = tuple(
        (
            space.name,
            space.total,
            int(networks_below(space, "params", [limits.params])[0]),
            int(networks_below(space, "flops", [limits.flops])[0]),
        )
        for space in NETWORK_SPACES
    )
    return Table("below_limits", "Networks below the limits", columns, rows)


def _known() -> Table:
    columns = (
        Column("network", "Network"),
        Column("space", "Space"),
        Column("depths", "Depths"),
        Column("widths", "Widths"),
        Column("params", "Parameters", "integer"),
        Column("flops", "Flops", "integer"),
    )
    known = ((1, "V-56", 9), (0, "R-56", 9), (0, "R-110", 18))
    rows = []
    for is_vanilla, name, depth in known:
        space = NETWORK_SPACES[0 if is_vanilla else 1]
        found = one_network(space, (depth,) * 3, (16, 32, 64))
        rows.append((name, space.name, _values((depth,) * 3), "16, 32, 64", found.params, found.flops))
    sentence = "Parameters and multiply-adds of three published networks, equal to those that pycls publishes."
    return Table("known", "Networks that others have counted", columns, tuple(rows), sentence)


def sample_csv(space: Space, count: int, seed: int, limits: Limits | None) -> str:
    """Models drawn uniformly from a space, a row each; networks below the limits alone, where there are some."""
    text = io.StringIO()
    writer = csv.writer(text)
    if isinstance(space, CellSpace):
        _write_cells(writer, space, count, seed)
    else:
        _write_networks(writer, space, count, seed, limits)
    return text.getvalue()


def _write_networks(writer: Any, space: NetworkSpace, count: int, seed: int, limits: Limits | None) -> None:
    caps = {"params_below": limits.params, "flops_below": limits.flops} if limits else {}
    found = sample_networks(space, count, seed=seed, **caps)
    names = ("depth", "width", "ratio", "groups")
    writer.writerow([*(f"{name}_{stage}" for name in names for stage in (1, 2, 3)), "params", "flops"])
    columns = np.hstack([found.depths, found.widths, found.ratios, found.groups])
    rows = np.column_stack([columns, found.params, found.flops])
    writer.writerows(rows.tolist())


def _write_cells(writer: Any, space: CellSpace, count: int, seed: int) -> None:
    found = sample_cells(space, count, seed=seed)
    head = [
        f"node{node}_{side}_{what}" for node in range(space.nodes) for side in "ab" for what in ("input", "op")
    ]
    writer.writerow(["width", "depth", *head])
    for row in range(count):
        cell: list[object] = [int(found.widths[row]), int(found.depths[row])]
        for node in range(space.nodes):
            for side in range(2):
                cell.append(int(found.inputs[row, node, side]))
                cell.append(space.operations[int(found.operations[row, node, side])])
        writer.writerow(cell)
