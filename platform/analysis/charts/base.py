"""From Altair charts to the specifications that results keep."""

from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt

HEIGHT = 280  # pixels of a figure that has no reason for another
# Numbers beyond these make Vega count the ticks of an axis without end, which ends the process that draws.
LARGEST, SMALLEST = 1e60, 1e-60

alt.data_transformers.disable_max_rows()


def spec(chart: Any) -> dict[str, Any]:
    """A chart as a Vega-Lite specification with its data inside, without Altair's own look.

    Colours of marks, axes and ground belong to the page, which knows light from dark; a chart says only what they
    mean (`charts.look`). A chart without a width of its own takes that of the page.
    """
    # Checking every value against the schema of Vega-Lite takes longer than all else; the tests do it.
    found: dict[str, Any] = chart.to_dict(validate=False)
    found.pop("config", None)
    drawable: dict[str, Any] = _drawable(found)
    return drawable


def _drawable(value: Any) -> Any:
    """The same with numbers that axes can show: null for those out of all bounds, 0 for the tiniest."""
    if isinstance(value, dict):
        return {key: _drawable(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_drawable(one) for one in value]
    if isinstance(value, float) and value and not SMALLEST <= abs(value) <= LARGEST:
        return 0.0 if abs(value) < SMALLEST else None
    return value


def chart(rows: Iterable[Mapping[str, Any]]) -> alt.Chart:
    """A chart of rows that go into its specification."""
    return alt.Chart(alt.Data(values=list(rows)))  # type: ignore[no-untyped-call]
