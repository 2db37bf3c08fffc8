"""Boards of columns stay exact through whatever happens, at a cost that does not grow with every entrant."""

import random

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from competitions.models import Column, Entrant
from leaderboards import columns, prizes
from leaderboards.columns import choosing
from leaderboards.models import ColumnRow
from submissions.models import ColumnScore, Submission
from tests.platform.leaderboards.columns import making

pytestmark = pytest.mark.django_db


def boards(contest, rule):
    making.board(
        contest,
        ("rank", {"computation": "mean_rank", "fields": ["a", "b", "avg"], "weights": [1, 2, 1]}),
        ("a", {"precision": 1}),
        ("b", {"is_ascending": True}),
        ("avg", {"computation": "avg", "fields": ["a", "b"]}),
        rule=rule,
    )
    making.board(contest, "b", ("twice", {"computation": "sum", "fields": ["rank_b", "rank_b2"]}), rule=rule)


@pytest.mark.parametrize(
    "rule",
    ["Add_And_Delete", "Add_And_Delete_Multiple", "Force_Last", "Force_Latest_Multiple", "Force_Best"],
)
def test_rows_stay_exact_through_whatever_happens(rule):
    chance = random.Random(rule)
    phase = making.phase(tasks=2)
    boards(phase.competition, rule)
    made = []
    for _ in range(15):
        what = chance.randrange(8) if made else 0
        one = chance.choice(made) if made else None
        if what <= 3:
            values = [{key: chance.random() for key in "ab" if chance.random() < 0.8} for _ in range(2)]
            made.append(making.entry(phase, f"entrant{chance.randrange(6)}", *values))
        elif what == 4:
            ColumnScore.objects.filter(run__submission=one, key="a").update(value=chance.random())
            making.told(one)
        elif what == 5:
            Submission.objects.filter(pk=one.pk).update(disqualified_at=chance.choice([None, timezone.now()]))
            making.told(one)
        elif what == 6 and "Add" in rule and choosing.may_stand(one):
            choosing.add(one, by=one.user)
        else:
            one.entrant.refresh_from_db()
            one.entrant.is_baseline = not one.entrant.is_baseline
            one.entrant.save()
        assert columns.stored(phase) == columns.recomputed(phase)
    column = Column.objects.get(board__competition=phase.competition, key="a")
    column.precision = 3
    column.save()
    assert columns.stored(phase) == columns.recomputed(phase)


def test_a_score_costs_as_many_queries_on_a_crowded_board():
    phase = making.phase()
    boards(phase.competition, "Force_Last")

    def cost(name):
        made = making.entry(phase, name, {"a": 0.5, "b": 0.5})
        with CaptureQueriesContext(connection) as captured:
            making.told(made)
        return len(captured)

    few = cost("alice")
    for number in range(8):
        making.entry(phase, f"more{number}", {"a": number / 8, "b": 0.1})
    assert cost("bob") == few <= 25


def test_the_command_finds_a_row_that_is_not_as_its_scores_give_it_and_mends_it(capsys):
    phase = making.phase()
    boards(phase.competition, "Force_Last")
    making.entry(phase, "alice", {"a": 0.5, "b": 0.5})
    call_command("check_boards", competition=phase.competition.slug)
    row = ColumnRow.objects.first()
    ColumnRow.objects.filter(pk=row.pk).update(rank=7)
    with pytest.raises(SystemExit):
        call_command("check_boards", competition=phase.competition.slug)
    call_command("check_boards", competition=phase.competition.slug, mend=True)
    assert columns.stored(phase) == columns.recomputed(phase)


def test_a_new_name_is_sorted_and_searched_at_once():
    phase = making.phase()
    boards(phase.competition, "Force_Last")
    making.entry(phase, "alice", {"a": 0.5, "b": 0.5})
    entrant = Entrant.objects.get(name="alice")
    entrant.name = "Ärger"
    entrant.save()
    assert set(ColumnRow.objects.values_list("name_key", flat=True)) == {"ärger"}


def test_prizes_go_to_each_entrant_once_however_many_rows_they_have():
    phase = making.phase(release="by_hand", released_at=timezone.now())
    making.board(phase.competition, "score", rule="Force_Latest_Multiple")
    for name, value in (("alice", 0.9), ("alice", 0.8), ("bob", 0.7), ("carol", 0.6)):
        making.entry(phase, name, {"score": value})
    for place in (1, 2):
        phase.prizes.create(place=place, title=f"Prize {place}")
    found = prizes.winners(phase, timezone.now())
    assert [(winner.entrant.name, winner.titles) for winner in found] == [
        ("alice", ["Prize 1"]),
        ("bob", ["Prize 2"]),
    ]
