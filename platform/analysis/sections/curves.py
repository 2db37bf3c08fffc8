"""Learning curves: who is ahead at any time, who in the end, and what more time would have brought."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.charts.curves import curve_rows, curves_chart, gains_chart, mean_chart, ranks_chart
from analysis.inputs.audience import Audience
from analysis.inputs.boards import BoardTable, Floats, Loaded, load_boards
from analysis.inputs.combined import combined
from analysis.inputs.curves import Trace, combined_traces, marks
from analysis.measures.agreement import spearman
from analysis.measures.curves import VARIANTS, Beyond, areas, beyond, score_at
from analysis.references import CHAPTER
from analysis.results import Block, Column, Figure, Heading, Note, Result, Table, rows_of
from analysis.sections.base import Choice, Section, Tell, Tool
from competitions.models import Competition
from leaderboards.ranking import dense_ranks

DRAWN = 8  # entrants of a picture: more lines cannot be told apart
KEPT = 20  # of a dataset, for the form that draws others
DATASETS_DRAWN = 6
MOST_GAINS = 40
LINEAR_SHARES = 4.0  # budgets on a linear axis, at the most
FEW = 4  # entrants from which on a correlation is told in words
MAIN = VARIANTS[0].key
SHARES = np.geomspace(1e-3, 1.0, 61)
LITTLE = 0.2  # of a gain that the chapter calls small
ALC = (
    "ALC = sum of score x share of the time for which it stood, time scaled by log(1 + t/t0) / log(1 + T/t0), "
    "t0 = 60 s, from the score 0 at the start, the last score held to T; predictions after T are ignored."
)
AUTODL = (
    "Liu, Z., et al.: Winning solutions and post-challenge analyses of the ChaLearn AutoDL challenge 2019. "
    "IEEE TPAMI 43(9), 3108-3125, 2021."
)


def load(competition: Competition, audience: Audience, now: dt.datetime) -> Loaded:
    """The board that was asked for, or those of all phases of a kind, and marks of the curves behind them."""
    boards = load_boards(competition, audience, now)
    boards = boards if audience.kind else boards[:1]
    return Loaded(boards, {"curves": marks(boards)})


@dataclass(frozen=True)
class Drawn:
    """Curves of a board: `areas` by variant and `final` are n x T, NaN where an entry has no curve."""

    board: BoardTable
    traces: tuple[Trace, ...]
    budgets: Floats
    areas: Mapping[str, Floats]
    final: Floats

    @property
    def compared(self) -> NDArray[np.bool_]:
        """Which entries take a place and have a curve, (n,)."""
        return np.asarray(self.board.ranked & np.isfinite(self.areas[MAIN]).any(axis=1))

    @property
    def columns(self) -> NDArray[np.intp]:
        """The datasets with a curve."""
        return np.flatnonzero(np.isfinite(self.areas[MAIN]).any(axis=0))

    def mean_ranks(self, scores: Floats) -> Floats:
        """Mean dense ranks of the compared entries over the datasets with curves; missing is worst + 1."""
        own = scores[self.compared][:, self.columns]
        everybody = np.ones(len(own), dtype=bool)
        ranks = [dense_ranks(own[:, column], everybody)[0] for column in range(own.shape[1])]
        return np.mean(ranks, axis=0) if ranks else np.zeros(len(own))


def drawn(loaded: Loaded) -> Drawn | None:
    """The curves of the boards with their areas; None where the boards cannot be put together."""
    board = combined(loaded.boards)
    if board is None:
        return None
    budgets = np.array([one.time_budget for one in board.datasets])
    found = tuple(combined_traces(loaded.boards, board))
    shape = board.scores.shape
    by_variant = {one.key: np.full(shape, np.nan) for one in VARIANTS}
    final = np.full(shape, np.nan)
    for trace in found:
        at, budget = (trace.entry, trace.dataset), budgets[trace.dataset]
        if not len(trace.seconds):
            continue
        for key, value in areas(trace.seconds, trace.scores, budget).items():
            by_variant[key][at] = value
        final[at] = score_at(trace.seconds, trace.scores, budget)
    return Drawn(board, found, budgets, by_variant, final)


def build(loaded: Loaded, tell: Tell) -> Result:
    """Curves, areas under them, ranks by both, and what came after the budget."""
    tell(0.1, "Curves are read.")
    made = drawn(loaded)
    if made is None or not made.compared.any():
        why = CONCEALED if any(board.is_anonymous for board in loaded.boards) else NO_CURVES
        return Result("There are no learning curves.", (*(_counts(made) if made else ()), Note(why)))
    tell(0.5, "Areas are compared.")
    blocks: list[Block] = [*_counts(made), *_means(made)]
    ranks, headline = _ranks(made)
    blocks += [*ranks, *_by_dataset(made), *_gains(made)]
    extras = {"datasets": [_kept(made, int(column)) for column in made.columns]}
    return Result(headline, tuple(blocks), METHODS, (AUTODL, CHAPTER), extras)


NO_CURVES = (
    "No run left predictions whose time and score are known. Curves come of code that saves predictions on its "
    "way; they are scored within minutes after a phase is over."
)
CONCEALED = "Names are not shown on this board, and the moments of predictions would tell whose they are."
METHODS = (
    "Learning curves are the scores of the predictions that a run had complete, each stamped from outside when it "
    "was; up to 20 of a run are kept, at times chosen by the platform. " + ALC
)


def _counts(made: Drawn) -> list[Block]:
    """What is missing, never silently."""
    blocks: list[Block] = []
    waiting = sum(trace.waiting for trace in made.traces)
    unscored = sum(trace.unscored for trace in made.traces)
    without = int((made.board.ranked & ~np.isfinite(made.areas[MAIN]).any(axis=1)).sum())
    concealed = sum(one.time_budget <= 0 for one in made.board.datasets)
    if waiting:
        blocks.append(Note(f"{waiting} predictions still wait for their score.", "warning"))
    if unscored:
        blocks.append(Note(f"{unscored} predictions cannot be scored and are left out; the score before stands."))
    if without and without < int(made.board.ranked.sum()):
        blocks.append(Note(f"{without} ranked entrants have no curve (results only, or no prediction in time)."))
    if concealed:
        blocks.append(Note(f"{concealed} datasets are not known yet; their curves are not shown."))
    return blocks


def _best(made: Drawn, scores: Floats, count: int) -> list[int]:
    """The rows of the compared entries that are ahead by mean rank, the best first."""
    rows = np.flatnonzero(made.compared)
    order = np.argsort(made.mean_ranks(scores), kind="stable")
    return [int(row) for row in rows[order][:count]]


def _means(made: Drawn) -> list[Block]:
    """The mean curves of those who are ahead, with both time axes."""
    best = _best(made, made.areas[MAIN], DRAWN)
    last = max((float(_end(trace) / made.budgets[trace.dataset]) for trace in made.traces), default=1.0)
    shares = np.append(SHARES, np.geomspace(1, last, 40)[1:]) if last > 1 else SHARES
    rows = [row for entry in best for row in _mean_rows(made, entry, shares)]
    names = ", ".join(made.board.entries[entry].name for entry in best[:3])
    n = f"{len(best)} of {int(made.compared.sum())} entrants with curves, {len(made.columns)} datasets"
    sentence = f"Ahead by the area under the curve are, in this order, {names}."
    columns = (Column("entrant", "Entrant"), Column("share", "Share of the budget", "number"),
               Column("score", "Mean score", "number", 4))  # fmt: skip
    method = "Mean over the datasets of the score that stood at each share of the budget; 0 before the first."
    data = tuple((row["entrant"], row["share"], row["score"]) for row in rows)
    figures: list[Block] = [Heading("Curves")]
    for key, label, is_log in (("mean_log", "logarithmic", True), ("mean_linear", "linear", False)):
        # On a linear axis what came long after the budget would leave no room for it.
        drawn_rows = rows if is_log else [row for row in rows if row["share"] <= LINEAR_SHARES]
        chart = mean_chart(drawn_rows, is_log=is_log)
        figures.append(Figure(key, f"Mean curves, {label} time", sentence, chart, columns, data, n, method))
    return figures


def _end(trace: Trace) -> float:
    seconds, _ = trace.whole()
    return float(seconds.max()) if len(seconds) else 0.0


def _mean_rows(made: Drawn, entry: int, shares: Floats) -> list[dict[str, Any]]:
    total = np.zeros(len(shares))
    for trace in made.traces:
        if trace.entry == entry:
            seconds, scores = trace.whole()
            moments = shares * made.budgets[trace.dataset]
            before = np.searchsorted(seconds, moments, side="right")
            total += np.concatenate(([0.0], scores))[before]
    means = total / len(made.columns)
    name = made.board.entries[entry].name
    return [
        {"entrant": name, "share": round(float(share), 5), "score": round(float(mean), 5)}
        for share, mean in zip(shares, means, strict=True)
    ]


def _ranks(made: Drawn) -> tuple[list[Block], str]:
    """The places by area beside those by the final score, and the sentence that compares them."""
    chosen = np.flatnonzero(made.compared)
    any_time, final = made.mean_ranks(made.areas[MAIN]), made.mean_ranks(made.final)
    places, last_places = _places(any_time), _places(final)
    order = np.lexsort((final, any_time))
    names = [made.board.entries[row].name for row in chosen]
    first, winner = names[int(order[0])], names[int(np.lexsort((any_time, final))[0])]
    rho = spearman(any_time, final)
    moved = int((places != last_places).sum())
    same = (
        ", and by the score at the end of the budget"
        if first == winner
        else f". {winner} leads at the end of the budget"
    )
    headline = f"{first} leads by the area under the learning curve{same}."
    sentence = f"{headline} {moved} of {len(chosen)} entrants have another place by one than by the other" + (
        f" (Spearman {rho:.2f})." if np.isfinite(rho) and len(chosen) >= FEW else "."
    )
    rows = [{"entrant": names[i], "final": float(final[i]), "any_time": float(any_time[i])} for i in order]
    n = f"{len(chosen)} entrants, {len(made.columns)} datasets"
    method = f"{ALC} Dense ranks on each dataset, a missing curve worst + 1; mean over the datasets. {AUTODL}"
    table = _area_table(made, chosen, order, (any_time, final, places, last_places))
    blocks: list[Block] = [
        Heading("Any time against fixed time", "The area rewards who is good early."),
        Figure(
            "ranks", "Rank by area against rank by final score", sentence, ranks_chart(rows),
            (Column("entrant", "Entrant"), Column("final", "⟨R⟩ final", "number", 2),
             Column("any_time", "⟨R⟩ by area", "number", 2)),
            tuple((row["entrant"], row["final"], row["any_time"]) for row in rows), n, method,
        ),
        table,
    ]  # fmt: skip
    return blocks, headline


def _places(means: Floats) -> NDArray[np.int64]:
    """Places by mean rank, equal ones shared."""
    return np.array([1 + int((means < mean - 1e-12).sum()) for mean in means], dtype=np.int64)


def _area_table(
    made: Drawn, chosen: NDArray[np.intp], order: NDArray[np.intp], ranks: tuple[Any, Any, Any, Any]
) -> Table:
    any_time, final, places, last_places = ranks
    rows = chosen[order]
    means = {key: np.nan_to_num(values[rows][:, made.columns]).mean(axis=1) for key, values in made.areas.items()}
    columns = (
        Column("place", "Place by area", "integer"),
        Column("entrant", "Entrant"),
        Column("rank_area", "⟨R⟩ by area", "number", 2),
        Column("place_final", "Place in the end", "integer"),
        Column("rank_final", "⟨R⟩ in the end", "number", 2),
        Column("score_final", "⟨S⟩ in the end", "number", 4, "The score that stood at the end of the budget."),
        *(Column(one.key, f"ALC, {one.label}", "number", 4) for one in VARIANTS),
        Column("datasets", "Curves", "integer"),
    )
    data = rows_of(
        places[order],
        [made.board.entries[row].name for row in rows],
        any_time[order],
        last_places[order],
        final[order],
        np.nan_to_num(made.final[rows][:, made.columns]).mean(axis=1),
        *(means[one.key] for one in VARIANTS),
        np.isfinite(made.areas[MAIN][rows]).sum(axis=1),
    )
    return Table(
        "areas", "Areas under the curves", columns, data, "Means over the datasets; a missing curve counts 0."
    )


def _by_dataset(made: Drawn) -> list[Block]:
    """Which datasets have curves, and the first of them as pictures."""
    rows: list[tuple[Any, ...]] = []
    pictures: list[Figure] = []
    for column in made.columns:
        area, final = made.areas[MAIN][:, column], made.final[:, column]
        area, final = (np.where(made.compared, values, np.nan) for values in (area, final))
        dataset = made.board.datasets[column]
        ahead = _name_of_best(made, area), _name_of_best(made, final)
        count, budget = int(np.isfinite(area).sum()), float(made.budgets[column])
        rows.append((dataset.name, budget, count, *ahead, spearman(area, final)))
        if len(pictures) < DATASETS_DRAWN and count:
            pictures.append(_picture(_kept(made, int(column)), is_log=True))
    columns = (
        Column("dataset", "Dataset"),
        Column("budget", "Budget (s)", "number", 0),
        Column("curves", "Curves", "integer"),
        Column("ahead_area", "Ahead by area"),
        Column("ahead_final", "Ahead in the end"),
        Column("spearman", "Spearman of both", "number", 2),
    )
    table = Table("datasets", "Curves by dataset", columns, rows_of(*zip(*rows, strict=True)) if rows else ())
    return [Heading("Each dataset"), table, *pictures]


def _name_of_best(made: Drawn, values: Floats) -> str | None:
    return made.board.entries[int(np.nanargmax(values))].name if np.isfinite(values).any() else None


def _kept(made: Drawn, column: int) -> dict[str, Any]:
    """The curves of a dataset as they are kept for pictures: those ahead by area."""
    area = np.where(made.compared, made.areas[MAIN][:, column], np.nan)
    own = [trace for trace in made.traces if trace.dataset == column and np.isfinite(area[trace.entry])]
    own.sort(key=lambda trace: -area[trace.entry])
    budget = float(made.budgets[column])
    found = []
    for trace in own[:KEPT]:
        early = trace.seconds <= budget
        seconds, scores = trace.whole()
        late = seconds > budget
        found.append(
            {
                "name": made.board.entries[trace.entry].name,
                "area": float(area[trace.entry]),
                "seconds": trace.seconds[early].round(2).tolist(),
                "scores": trace.scores[early].tolist(),
                "late_seconds": seconds[late].round(2).tolist(),
                "late_scores": scores[late].tolist(),
            }
        )
    return {"key": column + 1, "name": made.board.datasets[column].name, "budget": budget, "n": len(own),
            "curves": found}  # fmt: skip


def _picture(kept: Mapping[str, Any], *, is_log: bool) -> Figure:
    """The curves of one dataset."""
    shown = kept["curves"][:DRAWN]
    best = shown[0]
    last = max(shown, key=lambda one: one["scores"][-1] if one["scores"] else -np.inf)
    other = "and the best score" if last is best else f"{last['name']} the best score"
    sentence = (
        f"On {kept['name']} {best['name']} has the largest area ({best['area']:.3f}), {other} by the end of the "
        f"budget of {kept['budget']:g} s."
    )
    rows = curve_rows(shown)
    columns = (
        Column("entrant", "Entrant"),
        Column("seconds", "Seconds", "number", 1),
        Column("score", "Score", "number", 4),
        Column("time", "Time"),
    )
    axis = "logarithmic" if is_log else "linear"
    return Figure(
        f"curves_{kept['key']}_{'log' if is_log else 'linear'}",
        f"{kept['name']}, {axis} time",
        sentence,
        curves_chart(shown, kept["budget"], is_log=is_log),
        columns,
        tuple((row["entrant"], row["seconds"], row["score"], row["time"]) for row in rows),
        f"{len(shown)} of {kept['n']} curves, those with the largest area",
        f"Steps: a score stands until the next prediction is complete. {ALC}",
    )


def _gains(made: Drawn) -> list[Block]:
    """What came after the budget: of runs that went on, or of predictions that came late."""
    found: list[tuple[Trace, Beyond]] = []
    for trace in made.traces:
        after = beyond(*trace.whole(), float(made.budgets[trace.dataset]))
        if after is not None and made.board.ranked[trace.entry]:
            found.append((trace, after))
    quiet_ones = _stopped_by_themselves(made)
    if not found:
        return quiet_ones
    gains = np.array([after.gain for _, after in found])
    known = np.isfinite(gains)
    little, doubled = int((gains[known] <= LITTLE).sum()), int((gains[known] > 1).sum())
    nothing = int((~known).sum())
    sentence = (
        f"Of {len(found)} curves that went on after the budget, {little} gained at most {LITTLE:.0%} more, "
        f"{doubled} more than doubled their score"
        + (f", and {nothing} had no score above 0 to compare with." if nothing else ".")
    )
    found.sort(key=lambda one: -_sortable(one[1].gain))
    data = [_gain_row(made, trace, after) for trace, after in found]
    keys = ("dataset", "entrant", "at_budget", "at_end", "gain", "end", "doubled_at", "factor")
    rows = [dict(zip(keys, row, strict=True)) for row in data[:MOST_GAINS]]
    for row in rows:
        row["label"] = f"{row['dataset']}, {row['entrant']}"
    columns = (
        Column("dataset", "Dataset"),
        Column("entrant", "Entrant"),
        Column("at_budget", "Score at the end of the budget", "number", 4),
        Column("at_end", "Score in the end", "number", 4),
        Column("gain", "Gain", "percent", 0),
        Column("end", "Last prediction (budgets)", "number", 1),
        Column("doubled_at", "Doubled after (budgets)", "number", 1),
        Column("factor", "Went on for (budgets)", "number", 1, "Where organizers let it go on; 0: it came late."),
    )
    n = f"{len(found)} curves" + (f", the {MOST_GAINS} largest gains are drawn" if len(found) > MOST_GAINS else "")
    method = (
        "Gain = last score / score at the end of the budget - 1. A run that went on had the same seed and was "
        f"told the same budget. {CHAPTER}"
    )
    figure = Figure(
        "beyond", "After the budget", sentence, gains_chart(rows), columns, tuple(data),
        n, method,
        warnings=("A program that plans with the budget it is told may not use the time after it.",),
    )  # fmt: skip
    return [Heading("Beyond the budget"), figure, *quiet_ones]


def _stopped_by_themselves(made: Drawn) -> list[Block]:
    """How many runs could go on and did not."""
    longer = [trace for trace in made.traces if trace.factor]
    silent = sum(not len(trace.beyond_seconds) for trace in longer)
    if not silent:
        return []
    return [
        Note(
            f"{silent} of {len(longer)} runs that could go on left no prediction after the budget: their programs "
            "end when the time is over that they are told."
        )
    ]


def _sortable(gain: float) -> float:
    return gain if np.isfinite(gain) else np.inf


def _gain_row(made: Drawn, trace: Trace, after: Beyond) -> tuple[Any, ...]:
    budget = float(made.budgets[trace.dataset])
    gain, doubled = (None if not np.isfinite(one) else float(one) for one in (after.gain, after.doubled_at))
    names = made.board.datasets[trace.dataset].name, made.board.entries[trace.entry].name
    return (*names, after.at_budget, after.at_end, gain, after.end_seconds / budget, doubled, trace.factor)


def _choices(result: Result) -> tuple[Choice, ...]:
    datasets = tuple((str(one["key"]), str(one["name"])) for one in result.extras.get("datasets", ()))
    return (
        Choice("dataset", "Dataset", datasets),
        Choice("axis", "Time", (("log", "logarithmic"), ("linear", "linear"))),
    )


def _answer(result: Result, asked: Mapping[str, str]) -> tuple[Block, ...]:
    wish = asked.get("dataset", "")
    kept = next((one for one in result.extras.get("datasets", ()) if str(one["key"]) == wish), None)
    if kept is None or not kept["curves"]:
        return ()
    return (_picture(kept, is_log=asked.get("axis") != "linear"),)


SECTION = Section(
    key="curves",
    label="Learning curves",
    question="Who is ahead at any time, who in the end, and what would more time have brought?",
    load=load,
    build=build,
    of_phase=True,
    tools=(Tool("Draw the curves of a dataset", "Draw", _choices, _answer),),
)
