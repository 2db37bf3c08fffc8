"""Ranking by average rank, as the challenge did it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leaderboards.ranking import (
    Entry,
    Table,
    dense_rank,
    dense_ranks,
    distinct_falling,
    mean_score,
    rank_entries,
    rank_table,
)


def entries(*rows, ranked=None):
    ranked = ranked or [True] * len(rows)
    return [
        Entry(entrant_id=number, scores=tuple(row), received=float(number), ranked=is_ranked)
        for number, (row, is_ranked) in enumerate(zip(rows, ranked, strict=True))
    ]


def by_entrant(places):
    return {place.entrant_id: place for place in places}


def test_it_ranks_by_the_mean_of_the_ranks_on_each_dataset():
    places = by_entrant(rank_entries(entries([0.9, 0.1, 0.5], [0.8, 0.9, 0.6], [0.1, 0.5, 0.7])))
    assert places[0].task_ranks == (1, 3, 3)
    assert places[1].task_ranks == (2, 1, 2)
    assert places[2].task_ranks == (3, 2, 1)
    assert places[1].rank == 1
    assert places[2].rank == 2
    assert places[0].rank == 3
    assert places[0].mean_rank == 7 / 3


def test_equal_scores_share_a_dense_rank_and_the_next_rank_follows_at_once():
    places = by_entrant(rank_entries(entries([0.5], [0.5 + 1e-13], [0.4])))
    assert [places[key].task_ranks for key in (0, 1, 2)] == [(1,), (1,), (2,)]


def test_a_missing_score_is_one_behind_the_worst_and_counts_zero_in_the_mean_score():
    places = by_entrant(rank_entries(entries([0.5, None], [0.4, 0.2], [0.3, -0.3])))
    assert places[0].task_ranks == (1, 3)
    assert places[0].mean_score == 0.25


def test_the_earlier_submission_wins_a_tie():
    places = by_entrant(rank_entries(entries([0.5, 0.4], [0.4, 0.5])))
    assert (places[0].rank, places[1].rank) == (1, 2)


def test_a_shared_tie_leaves_the_next_place_empty():
    places = by_entrant(rank_entries(entries([0.5, 0.4], [0.4, 0.5], [0.1, 0.1]), tie_rule="shared"))
    assert [places[key].rank for key in (0, 1, 2)] == [1, 1, 3]


def test_a_baseline_never_shifts_anybody():
    with_it = rank_entries(entries([0.9], [0.5], [0.4], ranked=[False, True, True]))
    places = by_entrant(with_it)
    assert places[0].rank is None
    assert (places[1].rank, places[1].task_ranks) == (1, (1,))
    assert (places[2].rank, places[2].task_ranks) == (2, (2,))


def test_nobody_on_the_board_is_no_error():
    assert rank_entries([]) == []


scores = st.one_of(st.none(), st.floats(-1, 1).map(lambda value: round(value, 2)))


@given(st.integers(1, 4).flatmap(lambda tasks: st.lists(st.tuples(*[scores] * tasks), min_size=1, max_size=8)))
def test_places_are_one_to_n_and_follow_the_mean_rank(rows):
    places = rank_entries(entries(*rows))
    assert sorted(place.rank for place in places) == list(range(1, len(rows) + 1))
    ordered = sorted(places, key=lambda place: place.rank)
    means = [place.mean_rank for place in ordered]
    assert means == sorted(means)


@given(st.lists(scores, min_size=1, max_size=8))
def test_dense_ranks_leave_no_gap_and_never_reward_a_lower_score(values):
    ladder = distinct_falling(values)
    ranks = {value: dense_rank(value, ladder) for value in values}
    assert sorted({rank for value, rank in ranks.items() if value is not None}) == list(range(1, len(ladder) + 1))
    for one in values:
        for other in values:
            if one is not None and (other is None or one > other):
                assert ranks[one] < ranks[other]


def test_the_mean_score_of_nothing_is_zero():
    assert mean_score([]) == 0.0


def test_an_unranked_entry_stands_behind_the_ranked_one_of_its_mean_rank():
    places = rank_entries(entries([0.9], [0.5], [0.5], [0.1], ranked=[True, False, True, True]))
    assert [(place.entrant_id, place.rank, place.rank_above) for place in places] == [
        (0, 1, 0),
        (2, 2, 1),
        (1, None, 2),
        (3, 3, 2),
    ]


def test_an_unranked_entry_between_two_scores_stands_between_their_places():
    places = rank_entries(
        entries([0.9, 0.9], [0.7, 0.9], [0.5, 0.1], [0.1, None], ranked=[True, False, True, False])
    )
    assert [(place.entrant_id, place.rank, place.task_ranks) for place in places] == [
        (0, 1, (1, 1)),
        (1, None, (1.5, 1)),
        (2, 2, (2, 2)),
        (3, None, (2.5, 3)),
    ]


rows_and_flags = st.integers(1, 4).flatmap(
    lambda tasks: st.lists(
        st.tuples(st.tuples(*[scores] * tasks), st.booleans(), st.integers(0, 3)), min_size=1, max_size=12
    )
)


@given(rows_and_flags, st.sampled_from(["earlier", "shared"]))
def test_ranking_in_arrays_gives_the_same_to_the_last_bit(made, tie_rule):
    listed = [
        Entry(number, row, float(received), is_ranked) for number, (row, is_ranked, received) in enumerate(made)
    ]
    table = Table(
        entrants=np.arange(len(made)),
        scores=np.array([[np.nan if value is None else value for value in row] for row, _, _ in made]),
        received=np.array([float(received) for _, _, received in made]),
        ranked=np.array([is_ranked for _, is_ranked, _ in made]),
    )
    quick = rank_table(table, tie_rule=tie_rule).rows()
    for position, place in enumerate(rank_entries(listed, tie_rule=tie_rule), start=1):
        expected = (position, place.rank, place.rank_above, place.mean_rank, place.mean_score, [*place.task_ranks])
        assert quick[place.entrant_id] == expected


def test_scores_a_hair_apart_share_a_rank_in_arrays_too():
    values = np.array([0.5, 0.5 + 1e-13, 0.4, 0.4 - 5e-13, np.nan])
    ranks, between = dense_ranks(values, np.ones(5, dtype=bool))
    assert ranks.tolist() == [1, 1, 2, 2, 3]
    assert not between.any()


def test_a_board_without_entrants_is_no_error_in_arrays():
    empty = Table(np.array([], dtype=int), np.empty((0, 5)), np.array([]), np.array([], dtype=bool))
    assert rank_table(empty).rows() == []
