"""EPP of configurations: how often one beats another over splits or datasets."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from analysis.benchmarks.grid import Grid
from analysis.benchmarks.views.base import (
    ALL,
    MEMENTO,
    View,
    Wish,
    algorithm_field,
    chosen,
    dataset_field,
    many,
    nothing,
)
from analysis.charts import epp as charts
from analysis.measures.epp import Rating, rate, wins_in_rounds
from analysis.measures.epp_rounds import ByRounds, Z
from analysis.results import Block, Column, Figure, Note, Result, Table, rows_of
from analysis.sections.base import Choice
from analysis.sections.epp import BY_ROUNDS, METHOD, REFERENCES

Places = NDArray[np.intp]

MOST = 400  # players; of more the best by mean score are rated
DRAWN = 40
MISFIT = 3.0  # standardised deviance from which on strengths alone do not explain who wins


def fields(grid: Grid, wish: Wish) -> tuple[Choice, ...]:
    """Whose configurations, and where they meet."""
    return algorithm_field(grid, with_all=True), dataset_field(grid, all_label="all, a round for each dataset")


def build(grid: Grid, wish: Wish) -> Result:
    """The rating of all configurations that have a score."""
    labels, scores, defaults = _players(grid, wish)
    rounds = "split" if wish.get("dataset", ALL) != ALL else "dataset"
    has = np.isfinite(scores).any(axis=1)
    kept = np.flatnonzero(has)
    if len(kept) < 2:
        return nothing("EPP compares configurations pair by pair: it needs two with scores.")
    total = len(kept)
    if total > MOST:
        means = np.nanmean(scores[kept], axis=1)
        kept = np.sort(kept[np.argsort(-means, kind="stable")[:MOST]])
    rating = rate(wins_in_rounds(scores[kept]))
    order = np.argsort(-rating.epp, kind="stable")
    names = [labels[place] for place in kept[order]]
    wide = ByRounds.of(scores[kept], rating.epp, rating.ridge)
    blocks = [*_notes(rating, total, len(kept)), *_shown(rating, wide, order, names, rounds)]
    sentence = f"{names[0]} has the highest EPP of {many(len(names), 'configuration')}"
    placed = [(place, name) for place, name in enumerate(names, start=1) if name in defaults]
    if placed:
        told = ", ".join(f"{name} has place {place}" for place, name in placed[:3])
        sentence += f"; of the packages' defaults, {told}"
    return Result(f"{sentence}.", tuple(blocks), METHOD, (MEMENTO, *REFERENCES))


def _players(grid: Grid, wish: Wish) -> tuple[list[str], NDArray[np.float64], set[str]]:
    """Names, scores (players x rounds), and which names are packages' defaults."""
    labels: list[str] = []
    scores = []
    defaults = set()
    dataset = wish.get("dataset", ALL)
    for algorithm in chosen(grid, wish):
        labels += [grid.label(algorithm, at) for at in range(len(algorithm.index))]
        if dataset in grid.datasets:
            scores.append(grid.values(algorithm, "auc")[grid.datasets.index(dataset)])
        else:
            scores.append(grid.means(algorithm).T)
        if algorithm.default is not None:
            defaults.add(grid.label(algorithm, algorithm.default))
    return labels, np.concatenate(scores), defaults


def _notes(rating: Rating, total: int, kept: int) -> list[Block]:
    notes: list[Block] = []
    if kept < total:
        notes.append(Note(f"Of {total:,} configurations the {kept:,} of the highest mean AUC are rated."))
    if rating.is_separated:
        text = (
            f"The configurations fall into {int(rating.components.max()) + 1} groups of which one always beats "
            "the "
            f"other. A ridge ({rating.ridge:g} times the sum of squares) keeps their EPP finite: differences "
            "between "
            "groups are at least as large as shown."
        )
        notes.append(Note(text, "warning"))
    fit = rating.standardised_deviance
    if np.isfinite(fit):
        text = (
            f"Goodness of fit: deviance {rating.deviance:.0f} on {rating.freedom:,} degrees of freedom, "
            f"standardised {fit:.2f}."
        )
        if fit > MISFIT:
            text += " One strength for each does not explain all of it: who wins depends on the round."
        notes.append(Note(text))
    return notes


def _shown(rating: Rating, by_rounds: ByRounds, order: Places, names: list[str], what: str) -> list[Block]:
    epp, stderr = rating.epp[order], rating.stderr[order]
    low, high = epp - Z * stderr, epp + Z * stderr
    wide = (by_rounds.quantile * by_rounds.stderr)[order]
    n = f"{many(len(names), 'configuration')} in {many(by_rounds.rounds, 'round')}, each a {what}"
    columns = (
        Column("place", "Rank", "integer"),
        Column("configuration", "Configuration"),
        Column("epp", "EPP", "number"),
        Column("stderr", "SE", "number"),
        Column("beats_leader", "P(beats leader)", "percent", digits=0),
        Column("wins", "Wins", "number", digits=1, title="ties as halves"),
        Column("matches", "Matches", "integer"),
    )
    rows = rows_of(
        range(1, len(names) + 1),
        names,
        epp,
        stderr,
        [None, *expit(epp[1:] - epp[0])],
        rating.wins.sum(axis=1)[order],
        [int(met) for met in rating.matches.sum(axis=1)[order]],
    )
    figure = Figure(
        key="epp",
        title="EPP of configurations",
        sentence=f"EPP reach from {epp[-1]:.2f} to {epp[0]:.2f}."
        + (f" The picture has the best {DRAWN}, the numbers have all." if len(names) > DRAWN else ""),
        spec=charts.caterpillar(
            names[:DRAWN],
            epp[:DRAWN],
            low[:DRAWN],
            high[:DRAWN],
            wide[:DRAWN] if by_rounds.is_known else None,
            what="configuration",
        ),
        columns=(
            Column("configuration", "Configuration"),
            Column("epp", "EPP", "number"),
            Column("low", "from", "number"),
            Column("high", "to", "number"),
            Column("by_rounds", "± by rounds", "number", title="half of the interval with rounds as units"),
        ),
        rows=rows_of(names, epp, low, high, wide),
        n=n,
        method=f"{METHOD} {BY_ROUNDS}",
    )
    return [figure, Table("epp_table", "EPP in numbers", columns, rows)]


VIEW = View("epp", "EPP", "How often does one configuration beat another?", fields, build)
