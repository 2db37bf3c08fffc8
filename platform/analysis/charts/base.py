"""From Altair charts to the specifications that results keep."""

from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt

HEIGHT = 280  # pixels of a figure that has no reason for another

alt.data_transformers.disable_max_rows()


def spec(chart: Any) -> dict[str, Any]:
    """A chart as a Vega-Lite specification with its data inside, without Altair's own look.

    Colours of marks, axes and ground belong to the page, which knows light from dark; a chart says only what they
    mean (`charts.look`). A chart without a width of its own takes that of the page.
    """
    # Checking every value against the schema of Vega-Lite takes longer than all else; the tests do it.
    found: dict[str, Any] = chart.to_dict(validate=False)
    found.pop("config", None)
    return found


def chart(rows: Iterable[Mapping[str, Any]]) -> alt.Chart:
    """A chart of rows that go into its specification."""
    return alt.Chart(alt.Data(values=list(rows)))  # type: ignore[no-untyped-call]
