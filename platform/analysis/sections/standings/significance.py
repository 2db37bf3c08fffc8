"""Can the datasets tell the entrants apart? Friedman, Nemenyi, the critical-difference diagram."""

import math

import numpy as np

from analysis.charts import standings as charts
from analysis.measures import significance as measures
from analysis.measures.ranks import Floats, ranks
from analysis.measures.significance import Friedman
from analysis.results import Block, Column, Figure, Heading, Note, Table, rows_of
from analysis.sections.standings.view import View, counted, listed

PAIRS = 20  # entrants in the table of Nemenyi's p-values
LARGEST = 30  # entrants in the diagram
FEW = 10  # datasets with which a test is all but mute
METHOD = (
    "Friedman's test on fractional ranks; chi2 = 12 N / (k (k + 1)) (sum R_j^2 - k (k + 1)^2 / 4), corrected "
    "for ties "
    "by 1 - sum (t^3 - t) / (N k (k^2 - 1)); Iman and Davenport's F_F = (N - 1) chi2 / (N (k - 1) - chi2). "
    "Nemenyi's "
    "critical difference CD = q sqrt(k (k + 1) / (6 N)), q of the studentized range at 5 % over root 2 (Demšar "
    "2006, "
    "JMLR 7, 3.2.2). A missing score is the last rank, or as a constant predictor's, 0 (AutoML benchmark)."
)


def blocks(view: View) -> list[Block]:
    """The tests; a sentence where they say nothing."""
    found: list[Block] = [
        Heading("Can the datasets tell?", "Tests over datasets: would these places hold on others of the kind?")
    ]
    if view.count < 2:
        return [*found, Note("One entrant alone: there is nobody to compare with.")]
    if view.tasks < 2:
        return [*found, Note(_one_dataset(view), "warning")]
    fractional = ranks(view.scores, "average")
    if view.count == 2:
        return [*found, Note(_two(view, fractional))]
    test = measures.friedman(fractional)
    verdict = Note(verdict_of(view, test), "info" if test.differs and view.tasks >= FEW else "warning")
    return [*found, verdict, _table(view, test), _diagram(view, test), _pairs(view, test)]


def _one_dataset(view: View) -> str:
    return (
        f"One dataset tells nothing about others: tests over datasets need several, with {view.count} entrants at "
        f"least {needed_to_speak(view.count)}."
    )


def _two(view: View, fractional: Floats) -> str:
    one = measures.sign_test(fractional)
    first, second = view.names[:2]
    verdict = "that is more than chance" if one.p < 0.05 else "that could be chance"
    return (
        f"{first} is ahead of {second} on {one.first} of {counted(view.tasks, 'dataset')}, behind on "
        f"{one.second} and "
        f"equal on {one.equal} (sign test, two-sided p = {said(one.p)}): {verdict}. At least 6 datasets are "
        "needed to "
        "tell two entrants apart."
    )


def needed_to_speak(k: int) -> int:
    """With how many datasets the critical difference is as small as k - 1, the largest gap that there can be."""
    return measures.datasets_needed(k, k - 1) or 1


def said(p: float) -> str:
    """A p-value in words."""
    return "under 0.0001" if p < 1e-4 else f"{p:.4f}" if p < 0.01 else f"{p:.2f}"


def verdict_of(view: View, test: Friedman) -> str:
    """What the tests say of these entrants, and how many datasets would say more."""
    difference = measures.critical_difference(test.k, test.n)
    means = np.sort(test.mean_ranks)
    if not test.differs:
        text = f"The {test.n} datasets do not tell the {test.k} entrants apart (p = {said(test.p_ties)})."
    else:
        apart = int((means - means[0] >= difference).sum())
        text = (
            f"The {test.k} entrants differ over the {test.n} datasets (p = {said(test.p_ties)}); {apart} of "
            f"{test.k - 1} are told apart from the leader, whose ⟨R⟩ must be {difference:.2f} better for that."
        )
    if difference >= test.k - 1:
        text += (
            f" {test.n} datasets are too few for {test.k} entrants: mean ranks would have to lie "
            f"{difference:.2f} apart, "
            f"and they can lie at most {test.k - 1} apart. The test is mute below {needed_to_speak(test.k)} "
            "datasets."
        )
    elif test.n < FEW:
        text += (
            f" {test.n} datasets are few: mean ranks must lie {difference:.2f} apart to be told apart, of at most "
            f"{test.k - 1}, so the test misses all but large differences."
        )
    gap = float(means[1] - means[0])
    wanted = measures.datasets_needed(test.k, gap)
    if wanted is not None and wanted > test.n:
        text += f" A gap as that between the first two ({gap:.2f}) would need {wanted:,} datasets."
    elif wanted is None:
        text += " The first two have the same mean rank, which no number of datasets would tell apart."
    return text


def _table(view: View, test: Friedman) -> Table:
    rows = [_row("missing scores are the last rank", test)]
    if view.missing and not view.board.measure:
        rows.append(_row("missing scores are 0, a constant predictor's", constant_predictor(view)))
    columns = (
        Column("failures", "Failures"),
        Column("entrants", "k", "integer"),
        Column("datasets", "N", "integer"),
        Column("chi2", "χ²", "number", 3, "Friedman's, without correction for ties."),
        Column("chi2_ties", "χ² ties", "number", 3, "Corrected for ties."),
        Column("p", "p", "number", 4, "Of the corrected one."),
        Column("f", "F_F", "number", 3, "Iman and Davenport's."),
        Column("p_f", "p of F_F", "number", 4),
        Column("cd", "CD", "number", 3, "Nemenyi's critical difference at 5 %."),
    )
    sentence = f"χ² = {test.chi2_ties:.2f} with {test.k - 1} degrees of freedom, p = {said(test.p_ties)}."
    return Table("friedman", "Friedman's test", columns, tuple(rows), sentence)


def constant_predictor(view: View) -> Friedman:
    """The test with missing scores as those of a constant predictor, 0."""
    return measures.friedman(ranks(np.nan_to_num(view.scores), "average"))


def _row(label: str, test: Friedman) -> tuple[str | float | int | None, ...]:
    numbers = [test.chi2, test.chi2_ties, test.p_ties, test.f, test.p_f]
    numbers.append(measures.critical_difference(test.k, test.n))
    plain = [float(value) if math.isfinite(value) else None for value in numbers]
    return (label, test.k, test.n, *plain)


def _diagram(view: View, test: Friedman) -> Figure:
    by_rank = np.argsort(test.mean_ranks, kind="stable")
    means = test.mean_ranks[by_rank]
    difference = measures.critical_difference(test.k, test.n)
    bars = measures.groups(means, difference)
    shown = by_rank[:LARGEST]
    drawn = [(first, min(last, len(shown) - 1)) for first, last in bars if first < len(shown) - 1]
    names = [view.names[row] for row in shown]
    lowest = float(test.k if len(shown) == test.k else math.ceil(max(means[: len(shown)].max(), 1 + difference)))
    columns = (
        Column("entrant", "Entrant"),
        Column("mean_rank", "⟨R⟩ fractional", "number", 3),
        Column("to_best", "Behind the best", "number", 3),
        Column("is_apart", "Told apart from the best"),
    )
    gaps = means - means[0]
    rows = rows_of([view.names[row] for row in by_rank], means, gaps, gaps >= difference)
    alike = [view.names[row] for row, gap in zip(by_rank, gaps, strict=True) if gap < difference]
    sentence = (
        f"Mean ranks {difference:.2f} apart or more are told apart; not told apart from the best, {alike[0]}, "
        f"{_are(len(alike) - 1)}{': ' + listed(alike[1:]) if len(alike) > 1 else ''}."
    )
    return Figure(
        key="critical_difference",
        title="Critical-difference diagram",
        sentence=sentence,
        spec=charts.critical_difference(names, means[: len(shown)].tolist(), drawn, difference, lowest),
        columns=columns,
        rows=rows,
        n=view.sample + (f"; the picture has the first {len(shown)}" if len(shown) < test.k else ""),
        method=METHOD + " A bar joins entrants whose mean ranks lie less than CD apart.",
        warnings=_warnings(test, difference),
    )


def _are(others: int) -> str:
    return f"{'is' if others == 1 else 'are'} {counted(others, 'other')}" if others else "is nobody"


def _warnings(test: Friedman, difference: float) -> tuple[str, ...]:
    if difference >= test.k - 1:
        return (f"{test.n} datasets cannot tell {test.k} entrants apart, whatever they do.",)
    if not test.differs:
        return ("Friedman's test finds no difference, so nothing should be read from the pairs.",)
    return ()


def _pairs(view: View, test: Friedman) -> Table:
    by_rank = np.argsort(test.mean_ranks, kind="stable")[:PAIRS]
    values = measures.nemenyi(test.mean_ranks[by_rank], test.k, test.n)
    names = [view.names[row] for row in by_rank]
    rows = [
        (names[i], names[j], float(test.mean_ranks[by_rank[j]] - test.mean_ranks[by_rank[i]]), float(values[i, j]))
        for i in range(len(names))
        for j in range(i + 1, len(names))
    ]
    columns = (
        Column("better", "Entrant"),
        Column("worse", "ahead of"),
        Column("gap", "by ⟨R⟩", "number", 3),
        Column("p", "p (Nemenyi)", "number", 4),
    )
    told = sum(row[3] < 0.05 for row in rows)
    sentence = f"{told} of {counted(len(rows), 'pair')} are told apart at 5 %."
    if test.k > PAIRS:
        sentence += f" The first {PAIRS} of {test.k} entrants are listed."
    return Table("nemenyi", "Pairs by Nemenyi's test", columns, tuple(rows), sentence)
