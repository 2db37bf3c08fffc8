"""Pictures of how hard datasets are, and of what tuning gains."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from analysis.charts.base import spec

Row = dict[str, Any]
ROOM = alt.Scale(padding=40, zero=False)  # for names beside the outermost points
ROW_HEIGHT = 22  # pixels of a dataset in a list of them
IN_ORDER = alt.EncodingSortField(field="order", op="min", order="ascending")


def quadrants(rows: Sequence[Row], *, x: str, y: str, lines: tuple[float, float], titles: tuple[str, str]) -> Any:
    """Datasets by two difficulties, cut by the medians in `lines`; rows have `dataset`, `round`, `x` and `y`."""
    base = alt.Chart(_data(rows))
    points = base.mark_point(filled=True, size=70).encode(
        x=alt.X(f"{x}:Q", title=titles[0], scale=ROOM),
        y=alt.Y(f"{y}:Q", title=titles[1]),
        shape=alt.Shape("round:N", title="Round"),
        color=alt.Color("round:N", title="Round"),
        tooltip=[
            alt.Tooltip("dataset:N", title="Dataset"),
            alt.Tooltip("round:N", title="Round"),
            alt.Tooltip(f"{x}:Q", title=titles[0], format=".3f"),
            alt.Tooltip(f"{y}:Q", title=titles[1], format=".3f"),
            alt.Tooltip("best:Q", title="Best score", format=".3f"),
        ],
    )
    names = base.mark_text(align="left", dx=7, style="label").encode(
        x=f"{x}:Q", y=f"{y}:Q", text="dataset:N", detail="round:N"
    )
    cut = _data([{"across": lines[0], "up": lines[1]}])
    vertical = alt.Chart(cut).mark_rule(style="reference").encode(x="across:Q")
    horizontal = alt.Chart(cut).mark_rule(style="reference").encode(y="up:Q")
    return spec(alt.layer(vertical, horizontal, points, names).properties(height=380, width="container"))


def strips(summary: Sequence[Row], points: Sequence[Row], *, middle: float) -> Any:
    """The spread of scores on every dataset and phase.

    Rows of `summary` have `dataset`, `phase`, `order`, `lower`, `median`, `upper`, `best`; those of `points`
    `dataset`, `phase`, `order`, `entrant`, `score`. `middle` is the median of all medians.
    """
    base = alt.Chart(_data(summary))
    y = alt.Y("dataset:N", sort=IN_ORDER, title=None)
    phases = sorted({row["phase"] for row in summary})
    beside = {"yOffset": alt.YOffset("phase:N")} if len(phases) > 1 else {}
    tips = [
        alt.Tooltip("dataset:N", title="Dataset"),
        alt.Tooltip("phase:N", title="Phase"),
        alt.Tooltip("participants:Q", title="Entrants"),
        *(
            alt.Tooltip(f"{key}:Q", title=label, format=".3f")
            for key, label in (("lower", "First quartile"), ("median", "Median"), ("upper", "Third quartile"))
        ),
        alt.Tooltip("best:Q", title="Best score", format=".3f"),
    ]
    x = alt.X("lower:Q", title="Score")
    bars = base.mark_bar(opacity=0.45, height={"band": 0.8}).encode(
        x=x, x2="upper:Q", y=y, color=alt.Color("phase:N", title="Phase"), tooltip=tips, **beside
    )
    ticks = base.mark_tick(thickness=2.5, style="ink", height={"band": 0.8}).encode(
        x="median:Q", y=y, tooltip=tips, **beside
    )
    dots = (
        alt.Chart(_data(points))
        .mark_point(filled=True, size=16, opacity=0.6)
        .encode(
            x="score:Q",
            y=y,
            color=alt.Color("phase:N", title="Phase"),
            shape=alt.Shape("phase:N", legend=None),
            tooltip=[
                alt.Tooltip("entrant:N", title="Entrant"),
                alt.Tooltip("dataset:N", title="Dataset"),
                alt.Tooltip("phase:N", title="Phase"),
                alt.Tooltip("score:Q", title="Score", format=".3f"),
            ],
            **beside,
        )
    )
    overall = alt.Chart(_data([{"middle": middle}])).mark_rule(style="reference").encode(x="middle:Q")
    layers = [overall, bars, *([dots] if points else []), ticks]
    datasets = len({row["dataset"] for row in summary})
    height = max(120, datasets * (ROW_HEIGHT + 12 * (len(phases) - 1)))
    return spec(alt.layer(*layers).properties(height=height, width="container"))


def medians(rows: Sequence[Row]) -> Any:
    """The median of every dataset before and after the participants could tune: rows have `automl` and `later`."""
    base = alt.Chart(_data(rows))
    ends = _data([{"a": low, "b": low} for low in _ends(rows, "automl", "later")])
    diagonal = alt.Chart(ends).mark_line(style="reference").encode(x="a:Q", y="b:Q")
    points = base.mark_point(filled=True, size=70).encode(
        x=alt.X("automl:Q", title="Median of AutoML", scale=ROOM),
        y=alt.Y("later:Q", title="Median of Tweakathon"),
        shape=alt.Shape("round:N", title="Round"),
        color=alt.Color("round:N", title="Round"),
        tooltip=[
            alt.Tooltip("dataset:N", title="Dataset"),
            alt.Tooltip("automl:Q", title="Median of AutoML", format=".3f"),
            alt.Tooltip("later:Q", title="Median of Tweakathon", format=".3f"),
        ],
    )
    names = base.mark_text(align="left", dx=7, style="label").encode(x="automl:Q", y="later:Q", text="dataset:N")
    return spec(alt.layer(diagonal, points, names).properties(height=360, width="container"))


def tuned_or_not(rows: Sequence[Row]) -> Any:
    """Tuned against default: rows have `default`, `tuned`, `method`, `dataset` and `outcome`."""
    base = alt.Chart(_data(rows))
    ends = _data([{"a": low, "b": low} for low in _ends(rows, "default", "tuned")])
    diagonal = alt.Chart(ends).mark_line(style="reference").encode(x="a:Q", y="b:Q")
    points = base.mark_point(filled=True, size=64).encode(
        x=alt.X("default:Q", title="Score with defaults"),
        y=alt.Y("tuned:Q", title="Score tuned"),
        shape=alt.Shape("method:N", title="Method"),
        color=alt.Color("method:N", title="Method"),
        tooltip=[
            alt.Tooltip("dataset:N", title="Dataset"),
            alt.Tooltip("method:N", title="Method"),
            alt.Tooltip("default_score:Q", title="Score with defaults", format=".3f"),
            alt.Tooltip("tuned_score:Q", title="Score tuned", format=".3f"),
            alt.Tooltip("outcome:N", title="Tuned is"),
        ],
    )
    return spec(alt.layer(diagonal, points).properties(height=360, width="container"))


def outcomes(rows: Sequence[Row]) -> Any:
    """How often tuning was better, equal, worse or without a score, by method, as bars end to end.

    Rows have `method`, `outcome`, `count`, `start`, `end`, `label`, and where it is written, `middle`.
    """
    layers = []
    for outcome, style in (("better", "good"), ("equal", "muted"), ("worse", "bad"), ("without a score", "faint")):
        bars = alt.Chart(_data([row for row in rows if row["outcome"] == outcome and row["count"]]))
        layers.append(
            bars.mark_bar(style=style, opacity=0.4).encode(
                x=alt.X("start:Q", title="Datasets"),
                x2="end:Q",
                y=alt.Y("method:N", title=None),
                tooltip=[
                    alt.Tooltip("method:N", title="Method"),
                    alt.Tooltip("outcome:N", title="Tuned is"),
                    alt.Tooltip("count:Q", title="Datasets"),
                ],
            )
        )
    words = alt.Chart(_data([row for row in rows if row["count"]])).mark_text(style="label")
    layers.append(words.encode(x="middle:Q", y="method:N", text="label:N"))
    height = max(120, 34 * len({row["method"] for row in rows}))
    return spec(alt.layer(*layers).properties(height=height, width="container"))


def _data(rows: Sequence[Row]) -> Any:
    """Rows as a chart takes them."""
    made: Any = alt.Data
    return made(values=list(rows))


def _ends(rows: Sequence[Row], *keys: str) -> tuple[float, float]:
    """The least and the largest value of the rows under these keys."""
    values = [row[key] for row in rows for key in keys]
    return min(values), max(values)
