"""Names: one spelling, nothing invisible, nobody else's in disguise."""

import pytest

from accounts.refusals import Refused
from competitions import names, teams
from competitions.actions import entrant_of
from tests.platform import factories as make


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  The   Team\t", "The Team"),
        ("Ｔｅａｍ", "Team"),
        ("Te\u200bam\u00ad", "Team"),
        ("\u202emaeT\u202c", "maeT"),
        ("Team\u3164", "Team"),
        ("a\x00b\x1b[31m", "ab[31m"),
        ("<b>Team</b>", "<b>Team</b>"),
        ("Café", "Café"),
        ("Cafe\u0301", "Café"),
    ],
)
def test_a_name_has_one_spelling(typed, kept):
    assert names.checked(typed, taken=[]) == kept


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("", "at least one letter"),
        ("\u200b\u2060\u3164", "at least one letter"),
        ("!!! ...", "at least one letter"),
        ("\N{PARTY POPPER}" * 20 + " Team", "pictures"),
        ("Z" + "\u0301\u0316\u0322\u0489\u0352\u0353", "marks"),
        ("x" * 61, "at most 60"),
        ("x" * 100_000, "at most 60"),
    ],
)
def test_a_name_that_cannot_be_read_is_refused(typed, why):
    with pytest.raises(Refused, match=why):
        names.checked(typed, taken=[])


@pytest.mark.parametrize(
    "alike",
    [
        "alice",
        "ALICE",
        "аlice",
        "al1ce",
        "AlIce",
        "a l i c e",
        "alíce",
        "alice.",
        "ａlice",
        "a|ice",
        "αlice",
        "аӏісе",
    ],
)
def test_a_name_that_looks_like_anothers_is_refused(alike):
    with pytest.raises(Refused, match="is taken, or looks like 'Alice'"):
        names.checked(alike, taken=["Alice"])


@pytest.mark.parametrize(
    ("one", "other"), [("team 2", "team 3"), ("Анна", "Инна"), ("कि", "की"), ("北京", "東京"), ("ab", "ba")]
)
def test_names_that_differ_are_both_there(one, other):
    assert names.checked(one, taken=[other]) == one


@pytest.mark.django_db
def test_two_people_whose_names_look_alike_are_told_apart():
    contest = make.competition(max_team_size=3)
    first, second = make.user("alice"), make.user("аlice")
    assert entrant_of(contest, first).name == "alice"
    assert entrant_of(contest, second).name == "аlice (2)"
    other = make.competition()
    assert entrant_of(other, second).name == "аlice"


@pytest.mark.django_db
def test_a_team_does_not_pass_for_another_entrant_and_may_bear_its_captains_name():
    contest = make.competition(max_team_size=3)
    alice, bob = make.user("alice"), make.user("bob")
    for person in (alice, bob):
        make.participant(contest, person)
        entrant_of(contest, person)
    with pytest.raises(Refused, match="looks like"):
        teams.create(contest, bob, "Аlice")
    assert teams.create(contest, alice, "Alice").entrant.name == "Alice"
