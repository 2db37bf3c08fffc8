"""Who is in line for which prize."""

from hypothesis import given
from hypothesis import strategies as st

from competitions.prizes import InLine, in_line


def test_places_follow_the_board():
    assert in_line([(7, 1), (8, 2), (9, 3)], {1, 2}, ()) == [InLine(7, 1, (1,)), InLine(8, 2, (2,))]


def test_whoever_is_declined_makes_room_for_those_behind():
    assert in_line([(7, 1), (8, 2), (9, 3)], {1, 2}, {7}) == [InLine(8, 1, (1,)), InLine(9, 2, (2,))]


def test_entrants_who_share_a_place_share_the_prizes_of_all_places_they_take():
    ranks = [(1, 1), (2, 2), (3, 3), (4, 3), (5, 3)]
    assert in_line(ranks, {1, 2, 3}, ())[2:] == [InLine(entrant, 3, (3,), 3) for entrant in (3, 4, 5)]
    assert in_line(ranks, {1, 2, 3, 4}, ())[2].prizes == (3, 4)


@given(st.lists(st.integers(1, 6), max_size=12), st.sets(st.integers(1, 6)), st.sets(st.integers(0, 11)))
def test_every_prize_that_can_be_given_has_somebody_in_line_and_nobody_declined_is(ranks, prizes, declined):
    pairs = list(enumerate(ranks))
    found = in_line(pairs, prizes, declined)
    left = [entrant for entrant, _ in pairs if entrant not in declined]
    assert {line.entrant_id for line in found} <= set(left)
    assert {prize for line in found for prize in line.prizes} == {prize for prize in prizes if prize <= len(left)}
