"""Pictures of learning curves."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from analysis.charts.base import HEIGHT, chart, spec

LEAST_SECONDS = 0.5  # what a logarithmic axis begins with at the latest
BUDGET = "end of the budget"


def curve_rows(curves: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of a picture: entrant, seconds, score, and whether it is within the budget or beyond.

    `curves` have `name`, `seconds`, `scores`, `late_seconds` and `late_scores`. The line beyond the budget begins
    at the last point before it.
    """
    rows = []
    for one in curves:
        within = list(zip(one["seconds"], one["scores"], strict=True))
        late = list(zip(one["late_seconds"], one["late_scores"], strict=True))
        parts = (("within the budget", within), ("beyond it", within[-1:] + late if late else []))
        for label, points in parts:
            rows += [
                {"entrant": one["name"], "seconds": seconds, "score": score, "time": label}
                for seconds, score in points
            ]
    return rows


def time_scale(is_log: bool) -> alt.Scale:
    """The scale of a time axis."""
    return alt.Scale(type="log", nice=False) if is_log else alt.Scale(type="linear", nice=False)


def curves_chart(curves: Sequence[dict[str, Any]], budget: float, *, is_log: bool) -> dict[str, Any]:
    """Scores over seconds as steps, with a line at the end of the budget; on a logarithmic or a linear axis."""
    rows = curve_rows(curves)
    if is_log:
        for row in rows:
            row["seconds"] = max(row["seconds"], LEAST_SECONDS)
    scale = time_scale(is_log)
    lines = (
        chart(rows)
        .mark_line(interpolate="step-after", point=alt.OverlayMarkDef(size=18))
        .encode(
            x=alt.X("seconds:Q", title="seconds since the start", scale=scale),
            y=alt.Y("score:Q", title="score", scale=alt.Scale(zero=False)),
            color=alt.Color("entrant:N", title="Entrant", sort=None),
            strokeDash=alt.StrokeDash("time:N", title="Time", sort=["within the budget", "beyond it"]),
            tooltip=[
                alt.Tooltip("entrant:N", title="Entrant"),
                alt.Tooltip("seconds:Q", title="Seconds", format=".1f"),
                alt.Tooltip("score:Q", title="Score", format=".4f"),
            ],
        )
    )
    return spec(alt.layer(lines, _budget_line(budget)).properties(height=HEIGHT))


def _budget_line(at: float) -> Any:
    return (
        chart([{"at": at, "what": BUDGET}])
        .mark_rule(style="reference", tooltip=True)
        .encode(x=alt.X("at:Q"), tooltip=[alt.Tooltip("what:N", title="Line"), alt.Tooltip("at:Q", title="At")])
    )


def mean_chart(rows: Sequence[dict[str, Any]], *, is_log: bool) -> dict[str, Any]:
    """Mean scores over the share of the budget that was used; rows of `entrant`, `share`, `score`."""
    lines = (
        chart(rows)
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("share:Q", title="time as a share of the budget", scale=time_scale(is_log)),
            y=alt.Y("score:Q", title="mean score of the datasets", scale=alt.Scale(zero=False)),
            color=alt.Color("entrant:N", title="Entrant", sort=None),
            tooltip=[
                alt.Tooltip("entrant:N", title="Entrant"),
                alt.Tooltip("share:Q", title="Share of the budget", format=".3f"),
                alt.Tooltip("score:Q", title="Mean score", format=".4f"),
            ],
        )
    )
    return spec(alt.layer(lines, _budget_line(1.0)).properties(height=HEIGHT))


def ranks_chart(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Mean rank by area against mean rank by final score; rows of `entrant`, `final`, `any_time`."""
    wide = alt.Scale(zero=False)
    most = max((max(row["final"], row["any_time"]) for row in rows), default=1.0)
    diagonal = chart([{"a": 1.0, "b": 1.0}, {"a": most, "b": most}]).mark_line(style="reference")
    points = (
        chart(rows)
        .mark_point(filled=True, size=50, opacity=0.7)
        .encode(
            x=alt.X("final:Q", title="mean rank by the score at the end of the budget", scale=wide),
            y=alt.Y("any_time:Q", title="mean rank by the area under the curve", scale=wide),
            tooltip=[
                alt.Tooltip("entrant:N", title="Entrant"),
                alt.Tooltip("final:Q", title="Mean rank, final", format=".2f"),
                alt.Tooltip("any_time:Q", title="Mean rank, any time", format=".2f"),
            ],
        )
    )
    return spec(alt.layer(diagonal.encode(x="a:Q", y="b:Q"), points).properties(height=HEIGHT))


def gains_chart(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What was gained after the budget: rows of `label`, `dataset`, `entrant`, `at_budget`, `at_end`."""
    moments = (("at_budget", "at the end of the budget"), ("at_end", "in the end"))
    ends = [
        {
            "label": row["label"],
            "dataset": row["dataset"],
            "entrant": row["entrant"],
            "score": row[key],
            "when": label,
        }
        for row in rows
        for key, label in moments
    ]
    y = alt.Y("label:N", title=None, sort=None)
    when: dict[str, Any] = {"title": "Score", "sort": None}  # both alike, so that they share a legend
    line = chart(rows).mark_rule().encode(x=alt.X("at_budget:Q", title="score"), x2="at_end:Q", y=y)
    points = (
        chart(ends)
        .mark_point(filled=True, size=60)
        .encode(
            x=alt.X("score:Q", title="score"),
            y=y,
            shape=alt.Shape("when:N", **when),
            color=alt.Color("when:N", **when),
            tooltip=[
                alt.Tooltip("dataset:N", title="Dataset"),
                alt.Tooltip("entrant:N", title="Entrant"),
                alt.Tooltip("when:N", title="When"),
                alt.Tooltip("score:Q", title="Score", format=".4f"),
            ],
        )
    )
    height = int(np.clip(22 * len({row["label"] for row in rows}), 80, 900))
    return spec(alt.layer(line, points).properties(height=height))
