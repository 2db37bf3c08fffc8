"""Pictures of meta-features: how alike datasets are, what predicts their difficulty, which basic method wins."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from analysis.charts.base import spec

Row = dict[str, Any]
STEP = 18  # pixels of a dataset or feature
BY_ORDER = alt.EncodingSortField(field="order", op="min", order="ascending")


def likeness(rows: Sequence[Row], names: Sequence[str]) -> Any:
    """A heat map of distances; rows have `one`, `other` and `distance`."""
    order = list(names)
    marks = alt.Chart(_data(rows)).mark_rect()
    chart = marks.encode(
        x=alt.X("one:N", sort=order, title=None, axis=alt.Axis(labelAngle=-90, labelOverlap=False)),
        y=alt.Y("other:N", sort=order, title=None),
        color=alt.Color("distance:Q", title="Distance", scale=alt.Scale(range="heatmap", reverse=True)),
        tooltip=[
            alt.Tooltip("one:N", title="Dataset"),
            alt.Tooltip("other:N", title="and"),
            alt.Tooltip("distance:Q", title="Distance", format=".3f"),
        ],
    )
    return spec(chart.properties(height=max(120, STEP * len(order)), width="container"))


def importances(rows: Sequence[Row]) -> Any:
    """Bars of importance by impurity with two standard errors, and by permutation as points.

    Rows have `feature`, `order`, `gini`, `low`, `high`, `permutation`.
    """
    base = alt.Chart(_data(rows)).encode(y=alt.Y("feature:N", sort=BY_ORDER, title=None))
    tips = [
        alt.Tooltip("feature:N", title="Meta-feature"),
        alt.Tooltip("gini:Q", title="By impurity", format=".3f"),
        alt.Tooltip("permutation:Q", title="By permutation", format=".3f"),
    ]
    bars = base.mark_bar(opacity=0.7, height={"band": 0.7}).encode(
        x=alt.X("gini:Q", title="Importance: bars by impurity, diamonds by permutation"), tooltip=tips
    )
    errors = base.mark_rule(style="ink").encode(x="low:Q", x2="high:Q")
    points = base.mark_point(style="second", shape="diamond", filled=True, size=60).encode(
        x="permutation:Q", tooltip=tips
    )
    return spec(alt.layer(bars, errors, points).properties(height=max(120, STEP * len(rows)), width="container"))


def predicted(rows: Sequence[Row], limits: tuple[float, float]) -> Any:
    """Predicted against real scores with the diagonal; rows have `dataset`, `score`, `predicted`."""
    base = alt.Chart(_data(rows))
    scale = alt.Scale(domain=list(limits), zero=False, nice=True)
    points = base.mark_point(filled=True, size=60).encode(
        x=alt.X("score:Q", title="Best score of a participant", scale=scale),
        y=alt.Y("predicted:Q", title="Predicted without that dataset", scale=scale),
        tooltip=[
            alt.Tooltip("dataset:N", title="Dataset"),
            alt.Tooltip("score:Q", title="Best score", format=".3f"),
            alt.Tooltip("predicted:Q", title="Predicted", format=".3f"),
        ],
    )
    names = base.mark_text(align="left", dx=7, style="label").encode(
        x="score:Q", y="predicted:Q", text="dataset:N"
    )
    ends = alt.Chart(_data([{"at": limits[0]}, {"at": limits[1]}]))
    diagonal = ends.mark_line(style="reference").encode(x="at:Q", y="at:Q")
    return spec(alt.layer(diagonal, points, names).properties(height=360, width="container"))


def discriminants(rows: Sequence[Row], methods: Sequence[str]) -> Any:
    """Datasets on the first two discriminants; rows have `dataset`, `method`, `first` and `second`."""
    base = alt.Chart(_data(rows))
    scale = alt.Scale(domain=list(methods))
    points = base.mark_point(filled=True, size=80).encode(
        x=alt.X("first:Q", title="First discriminant", scale=alt.Scale(zero=False)),
        y=alt.Y("second:Q", title="Second discriminant", scale=alt.Scale(zero=False)),
        color=alt.Color("method:N", title="Best basic method", scale=scale),
        shape=alt.Shape("method:N", title="Best basic method", scale=scale),
        tooltip=[
            alt.Tooltip("dataset:N", title="Dataset"),
            alt.Tooltip("method:N", title="Best basic method"),
        ],
    )
    names = base.mark_text(align="left", dx=7, style="label").encode(
        x="first:Q", y="second:Q", text="dataset:N", detail="method:N"
    )
    return spec(alt.layer(points, names).properties(height=380, width="container"))


def _data(rows: Sequence[Row]) -> Any:
    """Rows as the data of a chart."""
    make: Any = alt.Data
    return make(values=list(rows))
