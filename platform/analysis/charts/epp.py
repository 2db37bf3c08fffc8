"""Pictures of EPP: how far apart players are, who beats whom, and whether the model says what happened."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.charts.base import spec

Values = Sequence[float] | NDArray[np.float64]

MOST_NAMED = 25  # players whose names stand beside their points
ROW_HEIGHT = 18  # pixels of one player's line


def caterpillar(
    players: Sequence[str],
    epp: Values,
    low: Values,
    high: Values,
    wide: Values | None = None,
    *,
    what: str,
) -> dict[str, Any]:
    """EPP with its interval, a line for each player in the order given. `what` is a player, such as "entrant".

    `wide` is half of a second, wider interval.
    """
    table = pd.DataFrame({"player": players, "epp": epp, "low": low, "high": high, "place": range(len(players))})
    if wide is not None:
        table["from"], table["to"] = table["epp"] - wide, table["epp"] + wide
    chart = alt.Chart(table).encode(
        y=alt.Y("player:N", sort=alt.EncodingSortField("place", op="min"), title=None),
        tooltip=[
            alt.Tooltip("player:N", title=what),
            alt.Tooltip("epp:Q", title="EPP", format=".3f"),
            alt.Tooltip("low:Q", title="from", format=".3f"),
            alt.Tooltip("high:Q", title="to", format=".3f"),
        ],
    )
    x = alt.X("low:Q", title="EPP (centred), 95 % interval")
    bars = chart.mark_rule(strokeWidth=3, style="first").encode(x=x, x2="high:Q")
    points = chart.mark_point(filled=True, size=60).encode(x="epp:Q")
    layers = bars + points
    if wide is not None:
        layers = chart.mark_rule(strokeWidth=1).encode(x=alt.X("from:Q"), x2="to:Q") + layers
    return spec(layers.properties(width="container", height=alt.Step(ROW_HEIGHT)))


def heat_map(
    players: Sequence[str], pairs: Sequence[tuple[int, int, float, float, float]], *, what: str
) -> dict[str, Any]:
    """Chance of the row to beat the column. `pairs`: row, column, chance, wins, matches."""
    table = pd.DataFrame(
        [(players[i], players[j], i, j, chance, f"{wins:g} of {met:g}") for i, j, chance, wins, met in pairs],
        columns=["first", "second", "row", "column", "chance", "won"],
    )
    chart = (
        alt.Chart(table)
        .mark_rect()
        .encode(
            y=alt.Y("first:N", sort=alt.EncodingSortField("row", op="min"), title=f"this {what}"),
            x=alt.X("second:N", sort=alt.EncodingSortField("column", op="min"), title=f"beats this {what}"),
            color=alt.Color(
                "chance:Q",
                title="chance",
                scale=alt.Scale(domain=[0, 0.5, 1], range="diverging"),
                legend=alt.Legend(format=".0%"),
            ),
            tooltip=[
                alt.Tooltip("first:N", title="this"),
                alt.Tooltip("second:N", title="beats"),
                alt.Tooltip("chance:Q", title="chance", format=".0%"),
                alt.Tooltip("won:N", title="won"),
            ],
        )
    )
    return spec(chart.properties(width="container", height=alt.Step(ROW_HEIGHT)))


def against_mean(
    players: Sequence[str], epp: Sequence[float], means: Sequence[float], *, what: str, score: str
) -> dict[str, Any]:
    """EPP against the mean score of every player."""
    table = pd.DataFrame({"player": players, "epp": epp, "mean": means})
    points = (
        alt.Chart(table)
        .mark_point(filled=True, size=60)
        .encode(
            x=alt.X("mean:Q", title=score, scale=alt.Scale(zero=False)),
            y=alt.Y("epp:Q", title="EPP (centred)", scale=alt.Scale(zero=False)),
            tooltip=[
                alt.Tooltip("player:N", title=what),
                alt.Tooltip("mean:Q", title=score, format=".4f"),
                alt.Tooltip("epp:Q", title="EPP", format=".3f"),
            ],
        )
    )
    if len(table) > MOST_NAMED:
        return spec(points.properties(width="container", height=280))
    names = alt.Chart(table).mark_text(align="left", dx=8, style="label")
    named = points + names.encode(x="mean:Q", y="epp:Q", text="player:N")
    return spec(named.properties(width="container", height=280))


def fit(predicted: Sequence[float], observed: Sequence[float], pairs: Sequence[int]) -> dict[str, Any]:
    """Observed shares of wins against those that the model says; the diagonal is a perfect fit."""
    table = pd.DataFrame({"predicted": predicted, "observed": observed, "pairs": pairs})
    line = alt.Chart(pd.DataFrame({"predicted": [0.5, 1.0], "observed": [0.5, 1.0]})).mark_line(style="reference")
    most = max(pairs, default=1)
    points = (
        alt.Chart(table)
        .mark_point(filled=True, opacity=0.6)
        .encode(
            size=alt.Size(
                "pairs:Q", legend=None, scale=alt.Scale(domain=[0, most], range=[0, 45 if most == 1 else 200])
            ),
            tooltip=[
                alt.Tooltip("predicted:Q", title="predicted", format=".1%"),
                alt.Tooltip("observed:Q", title="observed", format=".1%"),
                alt.Tooltip("pairs:Q", title="pairs"),
            ],
        )
    )
    share = alt.Axis(format=".0%")
    both = (line + points).encode(
        x=alt.X("predicted:Q", title="predicted share of wins", axis=share, scale=alt.Scale(domain=[0.5, 1])),
        y=alt.Y("observed:Q", title="observed share of wins", axis=share, scale=alt.Scale(domain=[0, 1])),
    )
    return spec(both.properties(width="container", height=280))


def by_dataset(
    players: Sequence[str], datasets: Sequence[str], cells: Sequence[tuple[int, int, float]]
) -> dict[str, Any]:
    """Differences to the reference on each dataset. `cells`: player, dataset, difference of EPP."""
    table = pd.DataFrame(
        [(players[i], datasets[j], i, j, gap) for i, j, gap in cells],
        columns=["player", "dataset", "row", "column", "gap"],
    )
    most = float(table["gap"].abs().max()) or 1.0
    chart = (
        alt.Chart(table)
        .mark_rect()
        .encode(
            y=alt.Y("player:N", sort=alt.EncodingSortField("row", op="min"), title=None),
            x=alt.X("dataset:N", sort=alt.EncodingSortField("column", op="min"), title=None),
            color=alt.Color(
                "gap:Q",
                title="EPP less the reference's",
                scale=alt.Scale(domain=[-most, 0, most], range="diverging"),
            ),
            tooltip=[
                alt.Tooltip("player:N", title="entrant"),
                alt.Tooltip("dataset:N", title="dataset"),
                alt.Tooltip("gap:Q", title="difference", format=".2f"),
            ],
        )
    )
    return spec(chart.properties(width="container", height=alt.Step(ROW_HEIGHT)))
