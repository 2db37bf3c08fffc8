"""Pictures of benchmarks: what was run, what a hyper-parameter does, what tuning gains, time against quality."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from analysis.charts.base import spec

ROW = 18  # pixels of one dataset's line
IN_ORDER = alt.EncodingSortField("place", op="min")
SMALL = 190  # pixels of one of many small pictures


def coverage(table: pd.DataFrame) -> dict[str, Any]:
    """How much of each algorithm was run on each dataset: dataset, algorithm, place, done, failed, left, share."""
    chart = (
        alt.Chart(table)
        .mark_rect()
        .encode(
            y=alt.Y("dataset:N", sort=IN_ORDER, title="dataset"),
            x=alt.X("algorithm:N", title=None, axis=alt.Axis(labelAngle=-30)),
            color=alt.Color(
                "share:Q", title="done", scale=alt.Scale(domain=[0, 1]), legend=alt.Legend(format=".0%")
            ),
            tooltip=["dataset:N", "algorithm:N", "done:Q", "failed:Q", "left:Q"],
        )
    )
    return spec(chart.properties(width="container", height=alt.Step(ROW)))


def sensitivity(
    points: pd.DataFrame, lines: pd.DataFrame, *, parameter: str, is_log: bool, columns: int
) -> dict[str, Any]:
    """AUC by a hyper-parameter, a small picture for each dataset; both tables have dataset, place, x and auc."""
    x = alt.X(
        "x:Q",
        title=parameter,
        scale=alt.Scale(type="log", nice=False) if is_log else alt.Scale(zero=False, nice=False),
    )
    y = alt.Y("auc:Q", title="AUC", scale=alt.Scale(zero=False))
    both = pd.concat([points.assign(kind="configuration"), lines.assign(kind="LOESS")], ignore_index=True)
    base = alt.Chart(both)
    dots = (
        base.transform_filter(alt.datum.kind == "configuration")
        .mark_circle(size=14, opacity=0.35)
        .encode(x=x, y=y, tooltip=[alt.Tooltip("x:Q", title=parameter), alt.Tooltip("auc:Q", format=".4f")])
    )
    smooth = base.transform_filter(alt.datum.kind == "LOESS").mark_line(style="second").encode(x=x, y=y)
    layered = alt.layer(dots, smooth, data=both)
    if columns == 1:
        return spec(layered.properties(width="container", height=320))
    small = layered.properties(width=SMALL, height=130)
    facets = small.facet(alt.Facet("dataset:N", sort=IN_ORDER, title=None), columns=columns)
    return spec(facets.resolve_scale(y="independent"))


def levels(table: pd.DataFrame, *, parameter: str) -> dict[str, Any]:
    """Quartiles of the AUC by the values of a hyper-parameter that is a text: dataset, place, level, quartiles."""
    base = alt.Chart(table).encode(
        y=alt.Y("dataset:N", sort=IN_ORDER, title="dataset"),
        yOffset="level:N",
        color=alt.Color("level:N", title=parameter),
    )
    bars = base.mark_rule(strokeWidth=3, opacity=0.6).encode(
        x=alt.X("low:Q", title="AUC, quartiles and median", scale=alt.Scale(zero=False)), x2="high:Q"
    )
    tips = ["dataset:N", "level:N", *(alt.Tooltip(f"{one}:Q", format=".4f") for one in ("low", "median", "high"))]
    middle = base.mark_point(filled=True).encode(
        x="median:Q", shape=alt.Shape("level:N", legend=None), tooltip=tips
    )
    return spec((bars + middle).properties(width="container", height=alt.Step(26, **{"for": "position"})))


def gains(table: pd.DataFrame) -> dict[str, Any]:
    """What tuning gains on each dataset: dataset, place, over (what it is compared with), gain."""
    chart = (
        alt.Chart(table)
        .mark_point(filled=True, size=60)
        .encode(
            y=alt.Y("dataset:N", sort=IN_ORDER, title="dataset"),
            x=alt.X("gain:Q", title="gain of the best configuration, AUC"),
            color=alt.Color("over:N", title="over"),
            shape=alt.Shape("over:N", title="over"),
            tooltip=["dataset:N", alt.Tooltip("over:N", title="over"), alt.Tooltip("gain:Q", format=".4f")],
        )
    )
    return spec(chart.properties(width="container", height=alt.Step(ROW)))


def time_and_quality(points: pd.DataFrame, front: pd.DataFrame) -> dict[str, Any]:
    """AUC against training time: algorithm, configuration, time, auc; `front` has the points that none beats."""
    x = alt.X("time:Q", title="training time, seconds", scale=alt.Scale(type="log", nice=False))
    y = alt.Y("auc:Q", title="AUC", scale=alt.Scale(zero=False))
    tips = [
        "algorithm:N",
        alt.Tooltip("configuration:N"),
        alt.Tooltip("time:Q", format=".3g"),
        alt.Tooltip("auc:Q", format=".4f"),
    ]
    kind: dict[str, Any] = {"color": alt.Color("algorithm:N"), "shape": alt.Shape("algorithm:N")}
    dots = alt.Chart(points).mark_point(filled=True, size=16, opacity=0.45).encode(x=x, y=y, tooltip=tips, **kind)
    line = alt.Chart(front).mark_line(interpolate="step-after", style="ink").encode(x=x, y=y)
    best = alt.Chart(front).mark_point(size=70, filled=True).encode(x=x, y=y, tooltip=tips, **kind)
    return spec((dots + line + best).properties(width="container", height=320))


def portfolio(table: pd.DataFrame) -> dict[str, Any]:
    """Regret by the size of a portfolio: size, regret, on (the same datasets, or one that was left out)."""
    chart = alt.Chart(table).encode(
        x=alt.X("size:Q", title="configurations in the portfolio", axis=alt.Axis(tickMinStep=1)),
        y=alt.Y("regret:Q", title="mean regret, AUC"),
        color=alt.Color("on:N", title="on"),
        tooltip=["size:Q", "on:N", alt.Tooltip("regret:Q", format=".4f")],
    )
    points = chart.mark_point(filled=True).encode(shape=alt.Shape("on:N", legend=None))
    return spec((chart.mark_line() + points).properties(width="container", height=280))


def distributions(table: pd.DataFrame, *, names: Sequence[str]) -> dict[str, Any]:
    """EDF of errors: algorithm, error, share."""
    dashes = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 1], [1, 3], [10, 2], [3, 6]]
    chart = (
        alt.Chart(table)
        .mark_line(interpolate="step-before")
        .encode(
            x=alt.X("error:Q", title="error, 1 - AUC", scale=alt.Scale(zero=False)),
            y=alt.Y("share:Q", title="share of configurations below", axis=alt.Axis(format=".0%")),
            color=alt.Color("algorithm:N"),
            strokeDash=alt.StrokeDash(
                "algorithm:N", scale=alt.Scale(range=[dashes[place % len(dashes)] for place in range(len(names))])
            ),
            tooltip=["algorithm:N", alt.Tooltip("error:Q", format=".4f"), alt.Tooltip("share:Q", format=".0%")],
        )
    )
    return spec(chart.properties(width="container", height=300))
