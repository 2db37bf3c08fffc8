"""The calculator of EPP: how often one entrant beats another."""

from collections.abc import Mapping

import numpy as np
from scipy.special import expit

from analysis.measures.epp import covariance_of, difference, wins_in_rounds
from analysis.measures.epp_rounds import ByRounds, Z, interval_of
from analysis.results import Block, Note, Result
from analysis.sections.base import Choice, Tool

ALL = "all"  # the choice of all datasets


def _choices(result: Result) -> tuple[Choice, ...]:
    """Two entrants, and where they meet."""
    names = result.extras.get("names", [])
    people = tuple((str(index), name) for index, name in enumerate(names))
    on = result.extras.get("on_dataset", {})
    sets = tuple((key, f"test rows of {result.extras['datasets'][int(key)]}") for key in on)
    if not people:
        return ()
    return (
        Choice("first", "Entrant", people),
        Choice("second", "against", (*people[1:], people[0])),
        Choice("where", "on", ((ALL, "all datasets"), *sets)),
    )


def _answer(result: Result, query: Mapping[str, str]) -> tuple[Block, ...]:
    """How often the first beats the second; nothing where none were asked for."""
    names = result.extras.get("names", [])
    wish = [query.get("first", ""), query.get("second", "")]
    if not all(one.isdecimal() and int(one[:9]) < len(names) for one in wish):
        return ()
    first, second = (int(one) for one in wish)
    if first == second:
        return (Note("These are one and the same: choose two entrants."),)
    where = query.get("where", ALL)
    if where != ALL and where in result.extras["on_dataset"]:
        return (_answer_within(result, first, second, where),)
    return (_answer_overall(result, first, second),)


def _answer_overall(result: Result, first: int, second: int) -> Note:
    names, scores = result.extras["names"], np.array(result.extras["scores"], dtype=float)
    wins = wins_in_rounds(scores[[first, second]])
    rounds = scores.shape[1]
    epp = np.array(result.extras["epp"], dtype=float)
    ridge = result.extras["ridge"]
    gap = difference(epp, covariance_of(epp, rounds * (1.0 - np.eye(len(epp))), ridge), first, second)
    low, high = interval_of(gap, Z)
    by_rounds = ByRounds.of(scores, epp, ridge)
    text = (
        f"{names[first]} beats {names[second]} in {gap.probability:.0%} of rounds (95 % interval {low:.0%} to "
        f"{high:.0%}; odds {gap.odds:.2f} to 1; Wald test p = {gap.p_value:.2g}). On these datasets it won "
        f"{wins[0, 1]:g} of {rounds}, a tie being half a win."
    )
    if by_rounds.is_known:
        low, high = by_rounds.interval(first, second)
        p_value = by_rounds.p_value(first, second)
        text += f" With datasets rather than matches as units: {low:.0%} to {high:.0%}, p = {p_value:.2g}."
    return Note(text)


def _answer_within(result: Result, first: int, second: int, where: str) -> Note:
    names, found = result.extras["names"], result.extras["on_dataset"][where]
    dataset = result.extras["datasets"][int(where)]
    epp = dict(zip(found["players"], found["epp"], strict=True))
    if first not in epp or second not in epp:
        return Note(f"One of the two has no bootstrap replicates on {dataset}.")
    chance = float(expit(epp[first] - epp[second]))
    return Note(
        f"{names[first]} beats {names[second]} in {chance:.0%} of {found['rounds']} bootstrap replicates of the "
        f"test rows of {dataset}, by the model."
    )


CALCULATOR = Tool("Calculator", "Compare", _choices, _answer)
