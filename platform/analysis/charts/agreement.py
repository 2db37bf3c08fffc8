"""Pictures of two scores of the same entrants."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import altair as alt

from analysis.charts.base import HEIGHT, chart, spec


def scatter(rows: Sequence[dict[str, Any]], first: str, second: str, *, mark: str = "Kind") -> dict[str, Any]:
    """One score against another with the diagonal; rows of `entrant`, `first`, `second`, `kind`.

    `first` and `second` name the axes, `mark` what tells some entrants from others; the kind that most have is
    drawn first, so that it hides no other.
    """
    common = Counter(row["kind"] for row in rows)
    rows = sorted(rows, key=lambda row: -common[row["kind"]])
    values = [row[key] for row in rows for key in ("first", "second")]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    diagonal = (
        chart([{"a": low, "b": low}, {"a": high, "b": high}]).mark_line(style="reference").encode(x="a:Q", y="b:Q")
    )
    wide = alt.Scale(zero=False, nice=True)
    points = (
        chart(rows)
        .mark_point(filled=True, size=45, opacity=0.75)
        .encode(
            x=alt.X("first:Q", title=first, scale=wide),
            y=alt.Y("second:Q", title=second, scale=wide),
            color=alt.Color("kind:N", title=mark, sort=None),
            shape=alt.Shape("kind:N", title=mark, sort=None),
            tooltip=[
                alt.Tooltip("entrant:N", title="Entrant"),
                alt.Tooltip("first:Q", title=first.capitalize(), format=".4f"),
                alt.Tooltip("second:Q", title=second.capitalize(), format=".4f"),
            ],
        )
    )
    return spec(alt.layer(diagonal, points).properties(height=HEIGHT))


def two_panels(rows: Sequence[dict[str, Any]], panels: tuple[str, str]) -> dict[str, Any]:
    """Scores of every entrant on every dataset, a panel above the other; rows of `dataset`, `entrant`, `who`,
    `task` and `common`.
    """
    keys = ("task", "common")
    return spec(alt.vconcat(*(_panel(rows, key, title) for key, title in zip(keys, panels, strict=True))))


def _panel(rows: Sequence[dict[str, Any]], key: str, title: str) -> Any:
    return (
        chart(rows)
        .mark_point(filled=True, size=40, opacity=0.7)
        .encode(
            x=alt.X("dataset:N", title=None, sort=None, axis=alt.Axis(labelAngle=-45)),
            y=alt.Y(f"{key}:Q", title="score", scale=alt.Scale(zero=False)),
            color=alt.Color("who:N", title="Entrant", sort=None),
            shape=alt.Shape("who:N", title="Entrant", sort=None),
            tooltip=[
                alt.Tooltip("entrant:N", title="Entrant"),
                alt.Tooltip("dataset:N", title="Dataset"),
                alt.Tooltip("metric:N", title="Task metric"),
                alt.Tooltip("task:Q", title="Under the task metric", format=".4f"),
                alt.Tooltip("common:Q", title="Under the common metric", format=".4f"),
            ],
        )
        .properties(title=title, height=220)
    )
