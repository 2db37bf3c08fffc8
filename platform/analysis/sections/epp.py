"""EPP: how often one entrant beats another, on the datasets of a board and on the test rows of each of them."""

import datetime as dt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from analysis.charts import epp as charts
from analysis.inputs.audience import Audience
from analysis.inputs.boards import BoardTable, Loaded, load_boards
from analysis.inputs.combined import combined, combined_replicates
from analysis.measures.epp import Rating, rate, wins_in_rounds
from analysis.measures.epp_rounds import ByRounds, Z, interval_of
from analysis.measures.ranks import mean_score
from analysis.results import Block, Column, Figure, Heading, Note, Result, Table, distinct, rows_of
from analysis.sections.base import Section, Tell
from analysis.sections.epp_calculator import CALCULATOR
from competitions.models import Competition

DRAWN = 40  # players in a picture; tables have all
POINTS = 1200  # pairs that are drawn one by one; more are drawn as means of equal slices
SLICES = 20
MOST_RATED = 1000  # entrants: the effort grows with the cube of their number
MOST_PER_DATASET = 100  # entrants whose replicates are compared on each dataset
FEW_ROUNDS = 10
LEVEL = 0.05

REFERENCES = (
    "Gosiewska, A., Bakała, M., Woźnica, K., Zwoliński, M., Biecek, P.: EPP: interpretable score of model "
    "predictive power. arXiv:1908.09213, 2019.",
    "Bradley, R. A., Terry, M. E.: Rank analysis of incomplete block designs: I. The method of paired "
    "comparisons. Biometrika 39, 324-345, 1952.",
    "Ford, L. R.: Solution of a ranking problem from binary comparisons. American Mathematical Monthly 64(8), "
    "28-33, 1957.",
    "Liang, K.-Y., Zeger, S. L.: Longitudinal data analysis using generalized linear models. Biometrika 73, "
    "13-22, "
    "1986.",
)
METHOD = (
    "Bradley-Terry model: P(i beats j) = 1 / (1 + exp(-(EPP_i - EPP_j))), fitted by maximum likelihood to the n x "
    "n matrix of wins; each pair meets once in a round, a tie is half a win for both, a missing score loses to "
    "every other. EPP are centred at 0; standard errors come from the inverse of the information matrix, each "
    "match counted once (Gosiewska et al., arXiv:1908.09213)."
)
BY_ROUNDS = (
    "All matches of a round share its scores, so intervals with matches as units (thick) are too narrow where "
    "there "
    "are many entrants; those with rounds as units (thin; Student's t, R - 1 degrees of freedom) come from the "
    "spread of the rounds' own gradients (Liang and Zeger, Biometrika 73, 1986)."
)


def load(competition: Competition, audience: Audience, now: dt.datetime) -> Loaded:
    """The board of the phase and part that were asked for, or those of all phases of a kind."""
    boards = load_boards(competition, audience, now)
    return Loaded(boards if audience.kind else boards[:1])


def build(loaded: Loaded, tell: Tell) -> Result:
    """EPP with datasets as rounds, and with bootstrap replicates of each dataset's test set as rounds."""
    whole = combined(loaded.boards)
    if whole is None:
        return _nothing("There is nobody on the board.")
    kept = _kept(whole)
    board = whole.only(kept)
    if len(board.entries) < 2 or not board.datasets:
        return _nothing("EPP compares entrants pair by pair: it needs two that are ranked, and a dataset.")
    names = distinct(board.names)
    rating = rate(wins_in_rounds(board.scores))
    rounds = ByRounds.of(board.scores, rating.epp, rating.ridge)
    order = np.argsort(-rating.epp, kind="stable")
    names_in_order = [names[index] for index in order]
    tell(0.2, "Compares entrants on every dataset's test rows.")
    blocks: list[Block] = [
        *_left_out(whole, kept),
        *_notes(board, rating),
        _caterpillar(board, rating, rounds, names, order),
    ]
    blocks += [_table(rating, rounds, names, order), _heat_map(board, rating, names, order)]
    blocks += [_against_mean(board, rating, names, order), _fit(board, rating)]
    best = np.flatnonzero(kept)[order[:MOST_PER_DATASET]]
    within, found = _on_replicates(board, combined_replicates(loaded.boards)[best], names_in_order, tell)
    extras = {
        "names": names_in_order,
        "datasets": [dataset.name for dataset in board.datasets],
        "epp": rating.epp[order],
        "ridge": rating.ridge,
        "scores": board.scores[order],
        "on_dataset": found,
    }
    headline = _headline(board, rating, rounds, names, order)
    return Result(headline, tuple(blocks + within), METHOD, REFERENCES, extras)


def _kept(whole: BoardTable) -> NDArray[np.bool_]:
    """Which entries are compared, (n,): the ranked ones, of very many the best by the mean score."""
    kept = whole.ranked.copy()
    if kept.sum() > MOST_RATED:
        means = np.where(kept, np.nan_to_num(_means(whole), nan=-np.inf), -np.inf)
        kept[np.argsort(-means, kind="stable")[MOST_RATED:]] = False
    return kept


def _left_out(whole: BoardTable, kept: NDArray[np.bool_]) -> list[Block]:
    if kept.sum() == whole.ranked.sum():
        return []
    return [Note(f"Of {whole.ranked.sum():,} entrants the {MOST_RATED:,} of the highest mean score are compared.")]


def _nothing(why: str) -> Result:
    return Result(why, (Note(why),), METHOD, REFERENCES)


def _headline(board: BoardTable, rating: Rating, rounds: ByRounds, names: list[str], order: NDArray[Any]) -> str:
    first, second = int(order[0]), int(order[1])
    gap = rating.difference(first, second)
    if gap.gap < 1e-9:
        return f"No entrant is ahead: {names[first]} and {names[second]} have the same EPP."
    low, high = rounds.interval(first, second) if rounds.is_known else interval_of(gap, Z)
    return (
        f"{names[first]} leads: by EPP it beats the next, {names[second]}, in {gap.probability:.0%} of "
        f"{_rounds(board)} (95 % interval {low:.0%} to {high:.0%})."
    )


def _rounds(board: BoardTable) -> str:
    return "datasets" if len(board.datasets) != 1 else "rounds"


def _n(board: BoardTable) -> str:
    return f"{len(board.entries)} ranked entrants on {_many(len(board.datasets), 'dataset')}"


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _notes(board: BoardTable, rating: Rating) -> list[Block]:
    """What to know before trusting it: failures, separation, how well the model fits."""
    notes: list[Block] = []
    missing = int(np.isnan(board.scores).sum())
    if missing:
        text = f"{missing} of {board.scores.size} scores are missing. A missing score loses to every other."
        notes.append(Note(text))
    if rating.is_separated:
        parts = int(rating.components.max()) + 1
        text = (
            f"The entrants fall into {parts} groups of which one always beats the other: without a limit their "
            f"EPP would be infinitely far apart. A ridge ({rating.ridge:g} times the sum of squares) keeps them "
            "finite and pulls all of them towards 0, so differences between groups are at least as large as shown."
        )
        notes.append(Note(text, "warning"))
    notes.append(_badge(board, rating))
    return notes


def _badge(board: BoardTable, rating: Rating) -> Note:
    value = rating.standardised_deviance
    if not np.isfinite(value):
        return Note("Two entrants fit the model always: there is nothing to check it by.")
    outcome = "the model fits"
    if value > 2:
        outcome = "wins are less consistent than one number for each entrant can say"
    elif value < -2:
        outcome = "wins are more regular than chance alone would make them"
    text = (
        f"Goodness of fit: deviance {rating.deviance:.1f} on {rating.freedom} degrees of freedom, standardised "
        f"{value:.2f}: {outcome}."
    )
    if len(board.datasets) < FEW_ROUNDS:
        text += f" With {_many(len(board.datasets), 'round')} for each pair this is a rough guide only."
    return Note(text, "warning" if abs(value) > 2 else "info")


def _few(board: BoardTable) -> tuple[str, ...]:
    if len(board.datasets) >= FEW_ROUNDS:
        return ()
    return (f"Each pair met {_many(len(board.datasets), 'time')} only: the standard errors are large and rough.",)


def _caterpillar(
    board: BoardTable, rating: Rating, rounds: ByRounds, names: list[str], order: NDArray[Any]
) -> Figure:
    low, high = rating.epp - Z * rating.stderr, rating.epp + Z * rating.stderr
    wide = rounds.quantile * rounds.stderr
    shown = order[:DRAWN]
    who = [names[index] for index in order]
    first = int(order[0])
    p_value = rounds.p_value if rounds.is_known else lambda one, other: rating.difference(one, other).p_value
    overlap = sum(p_value(first, int(other)) >= LEVEL for other in order[1:])
    sentence = (
        f"EPP reach from {rating.epp.min():.2f} to {rating.epp.max():.2f}; {overlap} of {len(order) - 1} others "
        f"cannot be told from the leader, {who[0]}, at the level of 5 %."
    )
    if rounds.is_known:
        sentence += " Thick intervals take matches as units, thin ones rounds."
    return Figure(
        key="epp",
        title="EPP of every entrant",
        sentence=sentence + _cut(order),
        spec=charts.caterpillar(
            [names[index] for index in shown],
            rating.epp[shown],
            low[shown],
            high[shown],
            wide[shown] if rounds.is_known else None,
            what="entrant",
        ),
        columns=(
            Column("entrant", "Entrant"),
            Column("epp", "EPP", "number"),
            Column("low", "from", "number", title="lower end of the 95 % interval"),
            Column("high", "to", "number", title="upper end of the 95 % interval"),
            Column("by_rounds", "± by rounds", "number", title="half of the interval with rounds as units"),
        ),
        rows=rows_of(who, rating.epp[order], low[order], high[order], wide[order]),
        n=_n(board),
        method=f"{METHOD} {BY_ROUNDS}",
        warnings=_few(board),
    )


def _cut(order: NDArray[Any]) -> str:
    return f" The picture has the best {DRAWN}, the numbers have all." if len(order) > DRAWN else ""


def _table(rating: Rating, rounds: ByRounds, names: list[str], order: NDArray[Any]) -> Table:
    """One row for each entrant, best first."""
    epp, count = rating.epp[order], len(order)
    beats_next = [*expit(epp[:-1] - epp[1:]), float("nan")]
    columns = (
        Column("place", "Rank", "integer"),
        Column("entrant", "Entrant"),
        Column("epp", "EPP", "number"),
        Column("stderr", "SE", "number", title="standard error, matches as units"),
        Column("stderr_by_rounds", "SE by rounds", "number", title="standard error, rounds as units"),
        Column("gap", "Less leader", "number", title="EPP less the leader's"),
        Column("gap_stderr", "its SE", "number", title="standard error of that difference, matches as units"),
        Column("beats_leader", "P(beats leader)", "percent", digits=0),
        Column("beats_next", "P(beats next)", "percent", digits=0),
        Column("wins", "Wins", "number", digits=1, title="ties as halves"),
        Column("matches", "Matches", "integer"),
    )
    rows = rows_of(
        range(1, count + 1),
        [names[index] for index in order],
        epp,
        rating.stderr[order],
        rounds.stderr[order],
        epp - epp[0],
        rating.stderr_against(int(order[0]))[order],
        [float("nan"), *expit(epp[1:] - epp[0])],
        beats_next,
        rating.wins.sum(axis=1)[order],
        [int(met) for met in rating.matches.sum(axis=1)[order]],
    )
    return Table("epp_table", "EPP in numbers", columns, rows)


def _heat_map(board: BoardTable, rating: Rating, names: list[str], order: NDArray[Any]) -> Figure:
    shown = [int(index) for index in order[:DRAWN]]
    matches = rating.matches
    pairs = [
        (row, column, rating.probability(i, j), float(rating.wins[i, j]), float(matches[i, j]))
        for row, i in enumerate(shown)
        for column, j in enumerate(shown)
        if i != j
    ]
    drawn = [names[index] for index in shown]
    last = shown[-1]
    sentence = (
        f"{drawn[0]} beats {drawn[-1]} with a chance of {rating.probability(shown[0], last):.0%} by the model; it "
        f"won {rating.wins[shown[0], last]:g} of {matches[shown[0], last]:g} matches."
    )
    return Figure(
        key="who_beats_whom",
        title="Who beats whom",
        sentence=sentence + (f" Shown are the best {DRAWN}." if len(order) > DRAWN else ""),
        spec=charts.heat_map(drawn, pairs, what="entrant"),
        columns=(
            Column("entrant", "Entrant"),
            Column("other", "Beats"),
            Column("chance", "Chance", "percent"),
            Column("wins", "Wins", "number", digits=1),
            Column("matches", "Matches", "integer"),
        ),
        rows=tuple((drawn[i], drawn[j], chance, wins, int(met)) for i, j, chance, wins, met in pairs),
        n=_n(board),
        method=METHOD,
    )


def _against_mean(board: BoardTable, rating: Rating, names: list[str], order: NDArray[Any]) -> Figure:
    means = _means(board)
    swapped = int(np.triu((means[order][:, None] < means[order][None, :]), 1).sum())
    pairs = len(order) * (len(order) - 1) // 2
    who = [names[index] for index in order]
    return Figure(
        key="epp_and_mean",
        title="EPP and mean score",
        sentence=f"EPP and the mean score disagree on the order of {swapped} of {_many(pairs, 'pair')}.",
        spec=charts.against_mean(
            who, rating.epp[order], board.sign * means[order], what="entrant", score=f"mean {_score(board)} ⟨S⟩"
        ),
        columns=(
            Column("entrant", "Entrant"),
            Column("mean_score", "⟨S⟩", "number"),
            Column("epp", "EPP", "number"),
        ),
        rows=rows_of(who, board.sign * means[order], rating.epp[order]),
        n=_n(board),
        method=f"{METHOD} Mean score: a missing score counts as 0; where organizers' columns count, it leaves no "
        "mean.",
    )


def _score(board: BoardTable) -> str:
    return board.measure or "score"


def _means(board: BoardTable) -> NDArray[Any]:
    """Mean scores (n,), higher is better. A missing score of ours is 0, guessing; a column knows no such value."""
    if board.measure:
        found: NDArray[Any] = board.scores.mean(axis=1)
        return found
    return mean_score(board.scores)


def _fit(board: BoardTable, rating: Rating) -> Figure:
    """Observed against predicted shares of wins of pairs, the better of each pair first."""
    predicted, observed, pairs = fit_points(rating)
    worst = float(np.abs(predicted - observed).max())
    how = "pair" if pairs.max() == 1 else f"slice of {pairs.max()} pairs"
    return Figure(
        key="fit",
        title="Observed and predicted wins",
        sentence=f"The observed share of wins is at most {worst:.0%} away from the predicted one, for each {how}.",
        spec=charts.fit(predicted.tolist(), observed.tolist(), pairs.tolist()),
        columns=(
            Column("predicted", "Predicted", "percent", digits=1),
            Column("observed", "Observed", "percent", digits=1),
            Column("pairs", "Pairs", "integer"),
        ),
        rows=rows_of(predicted, observed, pairs),
        n=f"{_many(int(pairs.sum()), 'pair')} of {_n(board)}",
        method="Observed: wins / matches of a pair, ties as halves. Predicted: by the model. Many pairs are drawn "
        f"as means of {SLICES} slices of equal size, in the order of the prediction.",
    )


def fit_points(rating: Rating) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Predicted share of wins, observed share, and how many pairs each point stands for."""
    order = np.argsort(-rating.epp, kind="stable")
    first, second = (order[index] for index in np.triu_indices(len(order), 1))
    predicted = expit(rating.epp[first] - rating.epp[second])
    observed = rating.wins[first, second] / np.maximum(rating.matches[first, second], 1.0)
    if len(predicted) <= POINTS:
        return predicted, observed, np.ones(len(predicted), dtype=int)
    slices = np.array_split(np.argsort(predicted, kind="stable"), SLICES)
    return (
        np.array([predicted[one].mean() for one in slices]),
        np.array([observed[one].mean() for one in slices]),
        np.array([len(one) for one in slices]),
    )


def _on_replicates(
    board: BoardTable, drawn: NDArray[np.float32], names: list[str], tell: Tell
) -> tuple[list[Block], dict[str, dict[str, object]]]:
    """EPP within each dataset, rounds being bootstrap replicates of its test set; and what the calculator needs.

    `drawn` is n x T x B, of the best entrants in the order of the names, best first.
    """
    gaps = np.full(drawn.shape[:2], np.nan)
    found: dict[str, dict[str, object]] = {}
    separated = 0
    for column, dataset in enumerate(board.datasets):
        tell(0.2 + 0.7 * column / len(board.datasets), f"Compares entrants on {dataset.name}.")
        values = drawn[:, column]
        rounds = int(np.isfinite(values).sum(axis=1).max(initial=0))
        values = values[:, :rounds]
        has = np.asarray(np.isfinite(values).all(axis=1))
        if not rounds or has.sum() < 2:
            continue
        rating = rate(wins_in_rounds(values[has]))
        separated += rating.is_separated
        reference = rating.epp[0] if has[0] else rating.epp.max()
        gaps[has, column] = rating.epp - reference
        found[str(column)] = {"players": np.flatnonzero(has), "epp": rating.epp, "rounds": rounds}
    heading = Heading("Within each dataset", "The same with bootstrap replicates of the test rows as rounds.")
    if not found:
        why = "No dataset has bootstrap replicates of two entrants' scores, so there is no EPP within datasets."
        return [heading, Note(why)], found
    return [heading, *_within(board, names[: len(drawn)], gaps, drawn.shape[2], separated)], found


def _within(board: BoardTable, who: list[str], gaps: NDArray[Any], rounds: int, separated: int) -> list[Block]:
    sets = [dataset.name for dataset in board.datasets]
    has = np.isfinite(gaps)
    above = [name for name, column in zip(sets, gaps.T, strict=True) if np.nanmax(np.append(column, 0.0)) > 0]
    warnings = [
        f"The {rounds} replicates come from one test set: they say how sure the test rows make an order, not what "
        "another training set or another dataset would say. Standard errors would fall with their number alone, "
        "so none are shown."
    ]
    if separated:
        warnings.append(
            f"On {separated} of {int(has.any(axis=0).sum())} datasets some entrants beat others in every "
            "replicate; a ridge of 0.5 keeps their differences finite, and these are at least as large as shown."
        )
    cells = [(i, j, float(gaps[i, j])) for i, j in zip(*np.nonzero(has[:DRAWN]), strict=True)]
    figure = Figure(
        key="epp_within",
        title="Differences to the leader on every dataset",
        sentence=f"{who[0]}, who leads overall, is beaten by somebody on {len(above)} of "
        f"{_many(len(sets), 'dataset')}" + (f": {', '.join(above)}." if 0 < len(above) <= 5 else "."),
        spec=charts.by_dataset(who[:DRAWN], sets, cells),
        columns=(
            Column("entrant", "Entrant"),
            Column("dataset", "Dataset"),
            Column("gap", "Difference", "number"),
        ),
        rows=tuple((who[i], sets[j], round(gap, 6)) for i, j, gap in cells),
        n=f"{_many(len(who), 'entrant')}, {_many(len(sets), 'dataset')}, {rounds} replicates each",
        method="EPP of each dataset by itself, rounds being bootstrap replicates of its test set, the same rows "
        "for every entrant; shown is EPP less that of the overall leader (of the dataset's best where the leader "
        "has no score), because only differences can be compared across datasets.",
        warnings=tuple(warnings),
    )
    columns = (
        Column("entrant", "Entrant"),
        *(Column(f"d{j + 1}", name, "number", digits=2) for j, name in enumerate(sets)),
    )
    table = Table("epp_within_table", "Differences to the leader", columns, rows_of(who, *np.round(gaps, 4).T))
    return [figure, table]


SECTION = Section(
    key="epp",
    label="Who beats whom (EPP)",
    question="How often does one entrant beat another, and how sure is that?",
    load=load,
    build=build,
    of_phase=True,
    tools=(CALCULATOR,),
)
