"""A section with one figure of every kind that sections draw, for tests of how figures are shown."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.charts.base import spec
from analysis.inputs.boards import Loaded
from analysis.results import Column, Figure, Heading, Note, Result, Table
from analysis.sections.base import Choice, Section, Tool
from analysis.sections.standings import SECTION as STANDINGS

NAMES = ["alice", "<b>bob</b>", "constructor", "=SUM(A1)"]
FRAME = pd.DataFrame(
    [
        {
            "who": who,
            "dataset": f"dataset{number}",
            "x": float(number),
            "y": (3 * place + number) % 7 / 7,
            "low": 0.1,
        }
        for place, who in enumerate(NAMES)
        for number in range(1, 7)
    ]
)
COLUMNS = tuple(Column(name, name, "number" if name in ("x", "y", "low") else "text") for name in FRAME.columns)
TIPS = [alt.Tooltip("who:N", title="Entrant"), alt.Tooltip("y:Q", title="Score", format=".3f")]


def charts() -> dict[str, Any]:
    """The kinds by their keys."""
    base = alt.Chart(FRAME)
    scatter = base.mark_point().encode(x="x:Q", y="y:Q", color="who:N", shape="who:N", tooltip=TIPS)
    diagonal = (
        alt.Chart(pd.DataFrame({"x": [1, 6], "y": [0, 1]})).mark_line(style="reference").encode(x="x", y="y")
    )
    means = base.encode(x="mean(y):Q", y=alt.Y("who:N", title=None))
    bars = means.mark_bar().encode(y=alt.Y("who:N", sort="-x", title=None))
    heat = base.mark_rect().encode(
        x="dataset:N", y="who:N", color=alt.Color("y:Q", scale=alt.Scale(domain=[0, 1]))
    )
    return {
        "scatter": diagonal + scatter,
        "intervals": base.mark_rule().encode(x="low:Q", x2="y:Q", y="who:N") + means.mark_point(style="accent"),
        "bars": bars,
        "heat": heat,
        "lines": base.mark_line(interpolate="step-after", point=True).encode(
            x=alt.X("x:Q", scale=alt.Scale(type="log")), y="y:Q", color="who:N", strokeDash="who:N"
        ),
        "boxes": base.mark_boxplot(extent="min-max").encode(x="dataset:N", y="y:Q"),
        "facets": base.mark_point().encode(x="x:Q", y="y:Q").properties(height=120).facet("who:N", columns=2),
        "beside": alt.hconcat(scatter, bars),
        "chosen": base.mark_bar()
        .encode(
            x="dataset:N",
            y="sum(y):Q",
            color=alt.condition(alt.datum.dataset == "dataset2", alt.value("gray"), "dataset:N", legend=None),
        )
        .transform_filter("datum.x > 1 && !(datum.who === 'nobody')")
        .transform_calculate(label="if(datum.x > 3, upper(datum.who), 'few') + ' ' + format(datum.y, '.2f')"),
        "zoomed": scatter.add_params(alt.selection_interval(bind="scales", encodings=["x"])),
        "histogram": base.mark_bar().encode(x=alt.X("y:Q", bin=True), y="count()"),
        "smooth": base.mark_line().encode(x="x:Q", y="y:Q").transform_loess("x", "y"),
    }


def figure(key: str, chart: Any) -> Figure:
    """One of them with its numbers."""
    rows = tuple(tuple(row) for row in FRAME.itertuples(index=False))
    more = {"seed": 7, "warnings": ("Six datasets are few.",)} if key == "scatter" else {}
    return Figure(
        key,
        f"The {key}",
        f"The {key} of 4 entrants.",
        spec(chart),
        COLUMNS,
        rows,
        "4 entrants",
        "By hand.",
        **more,
    )


def build(loaded: Loaded, tell: Any) -> Result:
    """All kinds, after a note, a heading and a table."""
    table = Table("scores", "Scores", COLUMNS, tuple(tuple(row) for row in FRAME.itertuples(index=False)))
    blocks = (Note("Four entrants.", "warning"), Heading("Figures", "One of every kind."), table)
    figures = tuple(figure(key, chart) for key, chart in charts().items())
    return Result("Every kind is drawn.", (*blocks, *figures), "By hand.", ("Demšar 2006.",), {"names": NAMES})


def _answer(result: Result, given: Any) -> tuple[Note, ...]:
    return (Note(f"{given.get('one')} was chosen."),)


TOOL = Tool(
    "Choose one",
    "Choose",
    lambda result: (Choice("one", "Entrant", tuple((name, name) for name in result.extras["names"])),),
    _answer,
)
SECTION = Section(
    "gallery", "Gallery", "Is every kind drawn?", STANDINGS.load, build, of_phase=True, tools=(TOOL,)
)
