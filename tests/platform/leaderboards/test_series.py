"""Boards of a round and of the series, and the rise from AutoML to Final."""

import pytest

from leaderboards.series import PhasePlace, combine, up_percent


def place(rank, score=0.5):
    return PhasePlace(rank, float(rank), score)


def test_the_mean_of_the_places_decides_and_the_missing_are_one_behind_the_last():
    first = {1: place(1, 0.8), 2: place(2, 0.6)}
    second = {2: place(1, 0.9), 3: place(2, 0.4)}
    found = combine([first, second])
    assert [(one.entrant_id, one.rank, one.mean_rank) for one in found] == [(2, 1, 1.5), (1, 2, 2.0), (3, 3, 2.5)]
    assert found[0].mean_score == 0.75
    assert found[1].mean_score == 0.4
    assert (found[1].taken, found[1].places[1]) == (1, None)


def test_equal_means_share_a_place_and_the_next_stays_empty():
    found = combine([{1: place(1), 2: place(2), 3: place(3)}, {1: place(2), 2: place(1), 3: place(3)}])
    assert [(one.entrant_id, one.rank) for one in found] == [(1, 1), (2, 1), (3, 3)]


def test_no_phase_and_no_place_give_no_row():
    assert combine([]) == []
    assert combine([{}]) == []


# Rounds of 2015/16: ⟨S⟩ of the winners of AutoML and of Final, and the printed rise (chapter, table of winners).
# The printed 481 of round 3 does not follow from its table, so it is not here.
PRINTED = {
    1: ([0.6401, 0.6226, 0.6456], [0.7479, 0.7324, 0.7158], 15),
    2: ([0.4320, 0.3529, 0.3449], [0.5180, 0.5142, 0.4977], 35),
    4: ([0.3881, 0.3841, 0.3815], [0.5238, 0.4998, 0.4911], 31),
}


@pytest.mark.parametrize("number", PRINTED)
def test_the_rise_is_that_of_the_chapter(number):
    before, after, printed = PRINTED[number]
    assert round(up_percent(before, after)) == printed


@pytest.mark.parametrize(("before", "after"), [([], [0.5]), ([0.5], []), ([0.0], [0.5]), ([-0.1], [0.5])])
def test_there_is_no_rise_from_nothing(before, after):
    assert up_percent(before, after) is None
