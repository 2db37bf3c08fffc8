"""Pictures of standings: places with intervals, critical differences, chances, ranks by dataset."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from analysis.charts.base import spec

ROW = 18  # pixels of one entrant's line
LANE = 16  # pixels between names of a critical-difference diagram


def _by_place(title: str | None = None) -> alt.Y:
    return alt.Y("entrant:N", sort=alt.EncodingSortField("place", op="min"), title=title)


def places(table: pd.DataFrame) -> dict[str, Any]:
    """Mean ranks with intervals; `table` has entrant, place, mean_rank, low, high, group.

    Entrants of one group carry the same shape and colour; groups take turns.
    """
    shown = table.assign(turn=["odd" if group % 2 else "even" for group in table["group"]])
    base = alt.Chart(shown).encode(y=_by_place())
    tips = [
        alt.Tooltip("entrant:N"),
        alt.Tooltip("place:Q"),
        alt.Tooltip("mean_rank:Q", title="⟨R⟩", format=".2f"),
        alt.Tooltip("low:Q", title="from", format=".2f"),
        alt.Tooltip("high:Q", title="to", format=".2f"),
        alt.Tooltip("group:Q", title="tie group"),
    ]
    turn: dict[str, Any] = {"scale": alt.Scale(domain=["odd", "even"]), "legend": None}
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title="⟨R⟩, mean rank", scale=alt.Scale(zero=False)),
        x2=alt.X2("high:Q"),
        color=alt.Color("turn:N", **turn),
    )
    points = base.mark_point(filled=True).encode(
        x=alt.X("mean_rank:Q"), color=alt.Color("turn:N", **turn), shape=alt.Shape("turn:N", **turn), tooltip=tips
    )
    return spec((bars + points).properties(height=alt.Step(ROW)))


def rules(table: pd.DataFrame) -> dict[str, Any]:
    """Places by several rules as lines; `table` has entrant, rule, order (of the rule), place, start."""
    sort = alt.EncodingSortField("start", op="min")
    chart = (
        alt.Chart(table)
        .mark_line(point=alt.OverlayMarkDef(size=60))
        .encode(
            x=alt.X(
                "rule:N",
                sort=alt.EncodingSortField("order", op="min"),
                title=None,
                scale=alt.Scale(type="point", padding=0.3),
                axis=alt.Axis(labelAngle=-20),
            ),
            y=alt.Y(
                "place:Q", scale=alt.Scale(reverse=True, zero=False), title="place", axis=alt.Axis(tickMinStep=1)
            ),
            color=alt.Color("entrant:N", sort=sort, title="entrant"),
            shape=alt.Shape("entrant:N", sort=sort, legend=None),
            tooltip=[alt.Tooltip("entrant:N"), alt.Tooltip("rule:N"), alt.Tooltip("place:Q")],
        )
    )
    return spec(chart)


def critical_difference(
    names: Sequence[str], means: Sequence[float], bars: Sequence[tuple[int, int]], difference: float, lowest: float
) -> dict[str, Any]:
    """A critical-difference diagram (Demšar 2006): mean ranks on a line, and bars over who is not told apart.

    `means` rise; `bars` are first and last places. Names stand left for the better half, right for the others.
    `lowest` is the worst mean rank that there can be, or that is drawn.
    """
    count = len(means)
    left = (count + 1) // 2
    top = -(len(bars) + 1)
    lanes = [top - place - 1 for place in range(left)] + [top - count + place for place in range(left, count)]
    span = max(lowest - 1, 1e-9)
    ends = [1 - 0.02 * span if place < left else lowest + 0.02 * span for place in range(count)]
    entrants = pd.DataFrame(
        {"entrant": list(names), "mean_rank": list(means), "lane": lanes, "end": ends, "line": [0] * count}
    )
    x = alt.X(
        "mean_rank:Q",
        title="⟨R⟩ of fractional ranks; better entrants stand left",
        scale=alt.Scale(domain=[1 - 0.35 * span, lowest + 0.35 * span], nice=False),
        axis=alt.Axis(orient="top", grid=False, values=_ticks(lowest), format="d"),
    )
    heights = alt.Scale(domain=[min(lanes) - 0.5, 3], nice=False)

    def y(field: str) -> alt.Y:
        return alt.Y(field, axis=None, scale=heights)

    tips = [alt.Tooltip("entrant:N"), alt.Tooltip("mean_rank:Q", title="⟨R⟩", format=".3f")]
    base = alt.Chart(entrants)
    layers: list[Any] = [
        base.mark_point(filled=True, size=36).encode(x=x, y=y("line:Q"), tooltip=tips),
        base.mark_rule().encode(x=alt.X("mean_rank:Q"), y=y("line:Q"), y2=alt.Y2("lane:Q")),
        base.mark_rule().encode(x=alt.X("mean_rank:Q"), x2=alt.X2("end:Q"), y=y("lane:Q")),
    ]
    halves: tuple[tuple[pd.DataFrame, Any, int], ...] = (
        (entrants[:left], "right", -4),
        (entrants[left:], "left", 4),
    )
    for half, align, shift in halves:
        text = alt.Chart(half).mark_text(align=align, dx=shift, limit=150)
        layers.append(text.encode(x=alt.X("end:Q"), y=y("lane:Q"), text=alt.Text("entrant:N"), tooltip=tips))
    return spec(
        alt.layer(*layers, *_bars(means, bars, span, y), *_scale(difference, y)).properties(
            height=LANE * (3 - min(lanes))
        )
    )


def _ticks(lowest: float) -> list[int]:
    """Whole ranks from 1 to the lowest, not too many."""
    step = max(1, round(lowest / 12))
    return [1, *range(1 + step, int(lowest) + 1, step)]


def _bars(means: Sequence[float], bars: Sequence[tuple[int, int]], span: float, y: Any) -> list[Any]:
    """Thick lines over entrants that are not told apart."""
    if not bars:
        return []
    cliques = pd.DataFrame(
        {
            "from": [means[first] - 0.008 * span for first, _ in bars],
            "to": [means[last] + 0.008 * span for _, last in bars],
            "lane": [-(index + 1) for index in range(len(bars))],
            "alike": [last - first + 1 for first, last in bars],
        }
    )
    tip = alt.Tooltip("alike:Q", title="entrants not told apart")
    rule = alt.Chart(cliques).mark_rule(strokeWidth=4, style="ink")
    return [rule.encode(x=alt.X("from:Q"), x2=alt.X2("to:Q"), y=y("lane:Q"), tooltip=[tip])]


def _scale(difference: float, y: Any) -> list[Any]:
    """How long the critical difference is, above the line."""
    scale = pd.DataFrame(
        {"from": [1.0], "to": [1 + difference], "lane": [1.2], "text": [f"CD = {difference:.2f}"]}
    )
    return [
        alt.Chart(scale)
        .mark_rule(strokeWidth=2, style="accent")
        .encode(x=alt.X("from:Q"), x2=alt.X2("to:Q"), y=y("lane:Q")),
        alt.Chart(scale)
        .mark_text(align="left", dy=-8)
        .encode(x=alt.X("from:Q"), y=y("lane:Q"), text=alt.Text("text:N")),
    ]


def chances(table: pd.DataFrame) -> dict[str, Any]:
    """P(rank = 1) by two questions; `table` has entrant, place, drawn and chance."""
    drawn: dict[str, Any] = {"title": "drawn anew", "sort": None}
    chart = (
        alt.Chart(table)
        .mark_point(filled=True, size=70)
        .encode(
            y=_by_place(),
            x=alt.X("chance:Q", title="share of draws in which it leads", axis=alt.Axis(format="%")),
            color=alt.Color("drawn:N", **drawn),
            shape=alt.Shape("drawn:N", **drawn),
            tooltip=[alt.Tooltip("entrant:N"), alt.Tooltip("drawn:N"), alt.Tooltip("chance:Q", format=".1%")],
        )
    )
    return spec(chart.properties(height=alt.Step(ROW)))


def win_chances(table: pd.DataFrame) -> dict[str, Any]:
    """Who is ahead of whom; `table` has first, second, row, column, chance."""
    chart = (
        alt.Chart(table)
        .mark_rect()
        .encode(
            y=alt.Y("first:N", sort=alt.EncodingSortField("row", op="min"), title="this entrant"),
            x=alt.X("second:N", sort=alt.EncodingSortField("column", op="min"), title="is ahead of"),
            color=alt.Color(
                "chance:Q",
                scale=alt.Scale(domain=[0, 1], domainMid=0.5),
                title="chance",
                legend=alt.Legend(format="%"),
            ),
            tooltip=[alt.Tooltip("first:N"), alt.Tooltip("second:N"), alt.Tooltip("chance:Q", format=".1%")],
        )
    )
    return spec(chart.properties(height=alt.Step(ROW)))


def by_dataset(table: pd.DataFrame, tied: str) -> dict[str, Any]:
    """Ranks of entrants on datasets; `table` has entrant, place, dataset, column, rank, score, remark.

    A point marks who is not told apart from the best of the dataset: `tied` is that remark.
    """
    base = alt.Chart(table).encode(
        y=_by_place(),
        x=alt.X(
            "dataset:N",
            sort=alt.EncodingSortField("column", op="min"),
            title=None,
            axis=alt.Axis(labelAngle=-60, labelOverlap=False),
        ),
        tooltip=[
            alt.Tooltip("entrant:N"),
            alt.Tooltip("dataset:N"),
            alt.Tooltip("rank:Q"),
            alt.Tooltip("score:Q", format=".4f"),
            alt.Tooltip("remark:N"),
        ],
    )
    cells = base.mark_rect().encode(color=alt.Color("rank:Q", title="rank"))
    points = base.transform_filter(alt.FieldEqualPredicate(field="remark", equal=tied))
    signs = points.mark_point(filled=True, shape="circle", size=26, style="ink")
    return spec((cells + signs).properties(height=alt.Step(ROW)))


def leaders(table: pd.DataFrame) -> dict[str, Any]:
    """The best two scores of each dataset with intervals; `table` has dataset, column, who, entrant, score, "
    "low, high."""
    who: dict[str, Any] = {"title": None, "sort": None}
    base = alt.Chart(table).encode(
        y=alt.Y("dataset:N", sort=alt.EncodingSortField("column", op="min"), title=None),
        yOffset=alt.YOffset("who:N", sort=None),
    )
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title="score", scale=alt.Scale(zero=False)),
        x2=alt.X2("high:Q"),
    )
    tips = [
        alt.Tooltip("dataset:N"),
        alt.Tooltip("entrant:N"),
        alt.Tooltip("score:Q", format=".4f"),
        alt.Tooltip("low:Q", title="from", format=".4f"),
        alt.Tooltip("high:Q", title="to", format=".4f"),
    ]
    points = base.mark_point(filled=True).encode(
        x=alt.X("score:Q"), color=alt.Color("who:N", **who), shape=alt.Shape("who:N", **who), tooltip=tips
    )
    return spec((bars + points).properties(height=alt.Step(10)))
