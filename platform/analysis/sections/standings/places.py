"""Places by the challenge's rule and by others, with intervals and groups of who is not told apart."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.charts import standings as charts
from analysis.measures.bootstrap import centred_interval, interval, wins
from analysis.measures.ranks import (
    Floats,
    mean_rank,
    mean_reciprocal_rank,
    mean_score,
    order,
    ranks,
)
from analysis.results import Block, Column, Figure, Note, Table, rows_of
from analysis.sections.standings.view import SEED, View, counted, listed
from competitions.models import Phase

FOLLOWED = 6  # entrants in the picture of rules
RULE_KEYS = ("dense", "minimum", "fractional", "weighted", "reciprocal", "score")
RANKS = (
    "⟨R⟩ is the mean over the datasets of the dense rank: scores within 1e-12 share a rank and leave no gap, a "
    "missing score is the last rank + 1 (chapter, section 10.3). ⟨S⟩ is the mean score, a missing one counts 0."
)
PAIRED = (
    " Intervals are percentiles (2.5 and 97.5) over bootstrap replicates of the test rows, drawn alike for all "
    "entrants; those of ⟨R⟩ are centred on it, because in draws equal scores drift apart and ranks grow. A group "
    "holds whoever is not told apart from its first: the paired interval of the difference of their ⟨R⟩ covers 0 "
    "(Efron and Tibshirani 1993)."
)


def blocks(view: View) -> list[Block]:
    """Of the places."""
    found: list[Block] = [_table(view)]
    if view.moves and view.count > 1:
        found.append(_figure(view))
    if view.count > 1:
        found.append(_rules_figure(view))
    return found


def leaders(view: View) -> list[str]:
    """Who has the first place."""
    return [name for name, place in zip(view.names, view.places, strict=True) if place == 1]


def _table(view: View) -> Table:
    columns = [
        Column("place", "Place", "integer", title="By ⟨R⟩, then by the phase's rule for ties."),
        Column("entrant", "Entrant"),
        Column("mean_rank", "⟨R⟩", "number", 2, "Mean of dense ranks."),
        Column("mean_score", "⟨S⟩", "number", view.board.digits, "Mean score, a missing one counted 0."),
        Column("mean_rank_min", "⟨R⟩ minimum", "number", 2, "Equal scores share the best of their places."),
        Column(
            "mean_rank_fractional", "⟨R⟩ fractional", "number", 2, "Equal scores share the mean of their places."
        ),
        Column(
            "mean_rank_weighted", "⟨R⟩ weighted", "number", 2, "Datasets weighted by how much they tell apart."
        ),
        Column("mean_reciprocal_rank", "1/rank", "number", 3, "Mean of 1/dense rank; higher is better."),
        Column("missing", "Missing", "integer", title="Datasets without a score."),
    ]
    cells = [
        view.places,
        view.names,
        view.means,
        view.mean_scores,
        mean_rank(ranks(view.scores, "min")),
        mean_rank(ranks(view.scores, "average")),
        view.weighted,
        mean_reciprocal_rank(view.ranks),
        np.isnan(view.scores).sum(axis=1),
    ]
    if view.moves and view.count > 1:
        more, values = _of_draws(view)
        columns, cells = columns + more, cells + values
    sentence = f"{listed(leaders(view))} {'leads' if len(leaders(view)) == 1 else 'lead'} {view.sample}."
    return Table("standings", "Places", tuple(columns), rows_of(*cells), sentence)


def _of_draws(view: View) -> tuple[list[Column], list[Sequence[float]]]:
    rank_draws, score_draws = view.draws
    low, high = centred_interval(rank_draws, view.means)
    score_low, score_high = interval(view.board.sign * score_draws)
    columns = [
        Column("mean_rank_low", "⟨R⟩ from", "number", 2, "95 % interval by test rows."),
        Column("mean_rank_high", "to", "number", 2),
        Column("mean_score_low", "⟨S⟩ from", "number", view.board.digits, "95 % interval by test rows."),
        Column("mean_score_high", "to", "number", view.board.digits),
        Column("tie_group", "Group", "integer", title="Not told apart from the first of the group."),
        Column("first_by_rows", "P(1st) rows", "percent", 1, "Share of draws of test rows in which it leads."),
        Column(
            "first_by_datasets",
            "P(1st) datasets",
            "percent",
            1,
            "Share of draws of datasets, then rows, with it ahead.",
        ),
    ]
    values = [low, high, score_low, score_high, view.groups, wins(rank_draws), wins(view.dataset_draws)]
    return columns, [list(value) for value in values]


def _figure(view: View) -> Figure:
    low, high = centred_interval(view.draws[0], view.means)
    shown = slice(view.shown)
    columns = (
        Column("place", "Place", "integer"),
        Column("entrant", "Entrant"),
        Column("mean_rank", "⟨R⟩", "number", 3),
        Column("low", "From", "number", 3),
        Column("high", "To", "number", 3),
        Column("group", "Tie group", "integer"),
    )
    rows = rows_of(view.places, view.names, view.means, low, high, view.groups)
    frame = pd.DataFrame(list(rows[shown]), columns=[column.key for column in columns])
    return Figure(
        key="places",
        title="Places and who is not told apart",
        sentence=_groups_sentence(view),
        spec=charts.places(frame),
        columns=columns,
        rows=rows,
        n=f"{view.sample}, {counted(view.draws[0].shape[1], 'draw')} of test rows" + cut(view),
        method=RANKS + PAIRED,
        seed=seed_of(view),
        warnings=warnings_of(view),
    )


def _groups_sentence(view: View) -> str:
    first = [name for name, group in zip(view.names, view.groups, strict=True) if group == 1]
    number = int(view.groups.max())
    if len(first) == 1:
        return (
            f"{first[0]} is told apart from everybody behind; the {counted(view.count, 'entrant')} form "
            f"{counted(number, 'group')} by the rows of the test sets."
        )
    verb = "is" if len(first) == 2 else "are"
    return (
        f"By the rows of the test sets {listed(first[1:])} {verb} not told apart from {view.names[0]}, who leads; "
        "the "
        f"{counted(view.count, 'entrant')} form {counted(number, 'group')}."
    )


def cut(view: View) -> str:
    """What to say where a picture has not all."""
    return f"; the picture has the first {view.shown}" if view.shown < view.count else ""


def seed_of(view: View) -> int | None:
    """The seed, where anything was drawn by it here: replicates of rows were drawn when scores were made."""
    return SEED if view.drawn.normal else None


def warnings_of(view: View) -> tuple[str, ...]:
    """Why not to trust intervals."""
    found, drawn = [], view.drawn
    if drawn.normal:
        found.append(
            f"{counted(drawn.normal, 'score')} of {drawn.present:,} have no replicates: values were drawn around "
            "them by their standard errors, each by itself, which makes differences look less sure than they are."
        )
    if drawn.fixed:
        found.append(
            f"{counted(drawn.fixed, 'score')} of {drawn.present:,} have no error bar and stay as they are."
        )
    return tuple(found)


def _rules(view: View) -> dict[str, Floats]:
    """A number for each entrant by each rule; the smallest leads."""
    found = {
        "⟨R⟩ dense": view.means,
        "⟨R⟩ minimum": mean_rank(ranks(view.scores, "min")),
        "⟨R⟩ fractional": mean_rank(ranks(view.scores, "average")),
        "⟨R⟩ weighted": view.weighted,
        "1/rank": -mean_reciprocal_rank(view.ranks),
    }
    return {**found, "⟨S⟩": -mean_score(view.from_zero)}


def _rules_figure(view: View) -> Figure:
    rules = _rules(view)
    places = {}
    for rule, values in rules.items():
        place = np.empty(view.count, dtype=np.int64)
        place[order(values, view.received)] = np.arange(1, view.count + 1)
        places[rule] = place
    followed = sorted(range(view.count), key=lambda row: (min(own[row] for own in places.values()), row))
    chosen = set(followed[:FOLLOWED])
    frame = pd.DataFrame(
        [
            (view.names[row], rule, number, int(own[row]), row)
            for row in sorted(chosen)
            for number, (rule, own) in enumerate(places.items())
        ],
        columns=["entrant", "rule", "order", "place", "start"],
    )
    columns = (
        Column("entrant", "Entrant"),
        *(Column(key, rule, "integer") for key, rule in zip(RULE_KEYS, places, strict=True)),
    )
    return Figure(
        key="rules",
        title="Places by six rules",
        sentence=_rules_sentence(view, {rule: int(np.argmin(own)) for rule, own in places.items()}),
        spec=charts.rules(frame),
        columns=columns,
        rows=rows_of(view.names, *places.values()),
        n=view.sample
        + (f"; the picture has {len(chosen)} who come first soonest" if len(chosen) < view.count else ""),
        method=RANKS
        + " Minimum ranks give equal scores the best of their places, fractional ranks the mean of them. The "
        "weighted mean weighs a dataset by the share of pairs of entrants that lie more than 1.96 standard "
        "errors of "
        "their difference apart on it. 1/rank is the mean of reciprocals of dense ranks. Ties go to who submitted "
        "first.",
    )


def _rules_sentence(view: View, winners: dict[str, int]) -> str:
    first = view.names[0]
    others = {rule: view.names[row] for rule, row in winners.items() if row != 0}
    if not others:
        return f"{first} leads by all six rules."
    said = "; ".join(f"{name} by {rule}" for rule, name in others.items())
    return f"{first} leads by {len(winners) - len(others)} of six rules; elsewhere others do: {said}."


def note(view: View) -> Note:
    """What went in."""
    said = f"{view.board.title}: {view.sample}."
    if view.board.part == Phase.Part.VALID:
        said += " These are validation scores: what is called test rows here are the rows of the validation part."
    if view.board.measure:
        said += (
            f" Ranks are those of the column {view.board.measure}; the phase gives its places by the mean of it."
        )
    if view.missing:
        verb, they = ("is", "it stays") if view.missing == 1 else ("are", "they stay")
        zero = "" if view.board.measure else " and as a score of 0"
        said += (
            f" {counted(view.missing, 'score')} of {view.count * view.tasks:,} {verb} missing, because a run "
            f"failed or there was none; {they} in as the last rank{zero}."
        )
    if view.left_out:
        said += f" {counted(view.left_out, 'entry', 'entries')} without a place (baselines, "
        said += "organizers) are left out and shift nobody's rank."
    return Note(said)
