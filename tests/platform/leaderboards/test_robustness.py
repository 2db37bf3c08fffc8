"""What would change the winner: the fast way against leaving out and ranking again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboards.ranking import Entry, Table, rank_entries, rank_table
from leaderboards.robustness import DATASET, ENTRANT, WAY, Change, average_ranks, winner_changes


def table(*rows, received=None, ranked=None):
    scores = np.array([[np.nan if value is None else value for value in row] for row in rows], dtype=float)
    count = len(rows)
    return Table(
        entrants=np.arange(count),
        scores=scores.reshape(count, -1),
        received=np.array(received or range(count), dtype=float),
        ranked=np.array(ranked or [True] * count),
    )


def changes(of, tie_rule="earlier"):
    return winner_changes(of, rank_table(of, tie_rule=tie_rule).task_ranks, tie_rule=tie_rule)


def test_a_clear_winner_wins_in_every_way():
    assert changes(table([0.9, 0.9], [0.5, 0.4], [0.1, 0.3])) == []


def test_it_says_which_way_of_ranking_gives_another_winner():
    found = changes(table([0.51, 0.51, 0.1], [0.5, 0.5, 0.9], [0.1, 0.2, 0.05]))
    assert Change(WAY, "mean_score", (1,)) in found
    assert not [change for change in found if change.key == "median_rank"]


def test_it_says_without_which_dataset_another_would_win():
    found = changes(table([0.9, 0.9, 0.1], [0.8, 0.5, 0.9], [0.1, 0.6, 0.8]))
    assert Change(DATASET, 1, (1,)) in found


def test_it_says_without_whom_another_would_win():
    # On the second task 2 stands between 0 and 1, which costs 1 a rank; without it the two are equal.
    found = changes(table([0.5, 0.9], [0.6, 0.5], [0.1, 0.7], received=[2.0, 1.0, 3.0]))
    assert found[-1] == Change(ENTRANT, 2, (1,))


def test_whoever_takes_no_place_is_no_reason_and_no_winner():
    found = changes(table([0.5, 0.5], [0.4, 0.4], [0.9, 0.9], ranked=[True, True, False]))
    assert found == []


def test_winners_who_share_the_first_place_are_told_together():
    found = changes(table([0.9, 0.1], [0.1, 0.9], [0.05, 0.05]), "shared")
    assert Change(DATASET, 1, (0,)) in found
    assert Change(DATASET, 0, (1,)) in found


@pytest.mark.parametrize("rows", [[[0.5, 0.4]], [[], []]])
def test_without_a_contest_there_is_nothing_to_say(rows):
    assert changes(table(*rows)) == []


def test_average_ranks_share_the_mean_of_their_places():
    scores = np.array([0.5, 0.9, 0.5, np.nan, np.nan])
    assert average_ranks(scores).tolist() == [2.5, 1.0, 2.5, 4.5, 4.5]


values = st.one_of(st.none(), st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.5]))
tables = st.integers(1, 4).flatmap(
    lambda tasks: st.lists(st.tuples(*[values] * tasks), min_size=2, max_size=7).map(
        lambda rows: table(*rows, received=[(7 * index) % 5 for index in range(len(rows))])
    )
)


def entries_of(of, keep_rows, keep_tasks):
    return [
        Entry(
            int(of.entrants[row]),
            tuple(None if np.isnan(of.scores[row, task]) else float(of.scores[row, task]) for task in keep_tasks),
            float(of.received[row]),
        )
        for row in keep_rows
    ]


def winners(entries, tie_rule):
    return tuple(sorted(place.entrant_id for place in rank_entries(entries, tie_rule=tie_rule) if place.rank == 1))


@given(tables, st.sampled_from(["earlier", "shared"]))
def test_leaving_out_is_what_ranking_again_without_it_gives(of, tie_rule):
    rows, tasks = range(len(of.entrants)), range(of.scores.shape[1])
    actual = winners(entries_of(of, rows, tasks), tie_rule)
    found = {(change.kind, change.key): change.winners for change in changes(of, tie_rule)}
    for task in tasks:
        if len(tasks) > 1:
            new = winners(entries_of(of, rows, [one for one in tasks if one != task]), tie_rule)
            assert found.get((DATASET, task), actual) == new
    for row in rows:
        if row not in actual:
            new = winners(entries_of(of, [one for one in rows if one != row], tasks), tie_rule)
            assert found.get((ENTRANT, row), actual) == new
        else:
            assert (ENTRANT, row) not in found
