"""Pictures of sets of models: distributions of errors, complexities, what random search finds."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from analysis.charts.base import HEIGHT, spec

Row = dict[str, Any]
UNDER_LINES = alt.Fill("name:N", legend=None)


def _data(rows: Sequence[Row]) -> Any:
    return alt.Chart(alt.Data(values=list(rows)))  # type: ignore[no-untyped-call]


def _named() -> dict[str, Any]:
    """Sets are told apart by colour and by the dashes of their lines; one legend tells both."""
    strokes = alt.Legend(symbolType="stroke", symbolStrokeWidth=2)
    return {
        "color": alt.Color("name:N", title=None, legend=strokes),
        "strokeDash": alt.StrokeDash("name:N", title=None, legend=strokes),
    }


def _without_own_legend(area: Any, lines: Any) -> Any:
    """Areas under lines; the legend that areas leave out, those of lines would otherwise leave out, too."""
    return alt.layer(area, lines).resolve_legend(fill="independent")


def distributions(rows: Sequence[Row], *, title: str, threshold: float | None = None) -> dict[str, Any]:
    """EDFs as steps; rows have `name`, `error`, `share`."""
    steps = (
        _data(rows)
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("error:Q", title=title, scale=alt.Scale(zero=False)),
            y=alt.Y("share:Q", title="share of the models below", scale=alt.Scale(domain=[0, 1])),
            tooltip=[
                alt.Tooltip("name:N", title="Set"),
                alt.Tooltip("error:Q", title="Error", format=".4~g"),
                alt.Tooltip("share:Q", title="Share", format=".1%"),
            ],
            **_named(),
        )
    )
    layers = [steps]
    if threshold is not None:
        layers.insert(0, _data([{"error": threshold}]).mark_rule(style="reference").encode(x="error:Q"))
    return spec(alt.layer(*layers).properties(width="container", height=HEIGHT))


def histogram(rows: Sequence[Row], *, title: str, count: str, is_log: bool = False) -> dict[str, Any]:
    """How many models lie in bins, as steps; rows have `name`, `low`, `high`, `share`, `count`, in order."""
    scale = alt.Scale(type="log", nice=False) if is_log else alt.Scale(zero=False, nice=False)
    last = {row["name"]: {**row, "low": row["high"], "share": 0.0, "count": 0} for row in rows}
    base = _data([*rows, *last.values()]).encode(
        x=alt.X("low:Q", title=title, scale=scale, axis=alt.Axis(format="~s")),
        y=alt.Y("share:Q", title=count, stack=None, axis=alt.Axis(format="%")),
    )
    steps = base.mark_line(interpolate="step-after").encode(
        tooltip=[
            alt.Tooltip("name:N", title="Set"),
            alt.Tooltip("low:Q", title="From", format=".3~s"),
            alt.Tooltip("high:Q", title="To", format=".3~s"),
            alt.Tooltip("count:Q", title="Models", format=",d"),
            alt.Tooltip("share:Q", title="Share", format=".1%"),
        ],
        **_named(),
    )
    area = base.mark_area(interpolate="step-after", opacity=0.15).encode(fill=UNDER_LINES)
    return spec(_without_own_legend(area, steps).properties(width="container", height=HEIGHT))


def scatter(rows: Sequence[Row], *, x: str, titles: tuple[str, str], is_log: bool = False) -> dict[str, Any]:
    """Errors by complexity; rows have `name`, `error` and the complexity `x`."""
    scale = alt.Scale(type="log", nice=False) if is_log else alt.Scale(zero=False)
    chart = (
        _data(rows)
        .mark_point(opacity=0.55, size=24)
        .encode(
            x=alt.X(f"{x}:Q", title=titles[0], scale=scale, axis=alt.Axis(format="~s")),
            y=alt.Y("error:Q", title=titles[1], scale=alt.Scale(zero=False)),
            color=alt.Color("name:N", title=None),
            shape=alt.Shape("name:N", title=None),
            tooltip=[
                alt.Tooltip("name:N", title="Set"),
                alt.Tooltip(f"{x}:Q", title=titles[0], format=".3~s"),
                alt.Tooltip("error:Q", title=titles[1], format=".4~g"),
            ],
        )
    )
    return spec(chart.properties(width="container", height=HEIGHT))


def bands(rows: Sequence[Row], *, x: str, titles: tuple[str, str], is_log: bool = False) -> dict[str, Any]:
    """Means with bands of two standard deviations; rows have `name`, `x`, `mean`, `low`, `high`."""
    scale = alt.Scale(type="log", nice=False) if is_log else alt.Scale(zero=False)
    axis = alt.Axis(format="~s", tickMinStep=1)
    base = _data(rows).encode(x=alt.X(f"{x}:Q", title=titles[0], scale=scale, axis=axis))
    area = base.mark_area(opacity=0.12).encode(
        y=alt.Y("low:Q", title=titles[1], scale=alt.Scale(zero=False)),
        y2="high:Q",
        fill=UNDER_LINES,
    )
    line = base.mark_line(point={"filled": True, "strokeDash": [1, 0]}).encode(
        y=alt.Y("mean:Q", title=titles[1]),
        tooltip=[
            alt.Tooltip("name:N", title="Set"),
            alt.Tooltip(f"{x}:Q", title=titles[0], format=".3~s"),
            alt.Tooltip("mean:Q", title="Mean", format=".4~g"),
            alt.Tooltip("low:Q", title="Mean - 2 sd", format=".4~g"),
            alt.Tooltip("high:Q", title="Mean + 2 sd", format=".4~g"),
        ],
        **_named(),
    )
    return spec(_without_own_legend(area, line).properties(width="container", height=HEIGHT))


def sample_sizes(rows: Sequence[Row], *, guides: Sequence[int]) -> dict[str, Any]:
    """D of samples by their size, both logarithmic; rows have `name`, `size`, `distance`."""
    lines = (
        _data(rows)
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "size:Q",
                title="models in the sample",
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(format="~s"),
            ),
            y=alt.Y("distance:Q", title="D to all models", scale=alt.Scale(type="log")),
            tooltip=[
                alt.Tooltip("name:N", title="Set"),
                alt.Tooltip("size:Q", title="Models", format=",d"),
                alt.Tooltip("distance:Q", title="D", format=".3f"),
            ],
            **_named(),
        )
    )
    guide = _data([{"size": size} for size in guides]).mark_rule(style="reference").encode(x="size:Q")
    return spec(alt.layer(guide, lines).properties(width="container", height=HEIGHT))
