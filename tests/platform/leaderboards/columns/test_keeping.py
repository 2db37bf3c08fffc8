"""Stored rows of boards of columns: exact after whatever happened, ranked by the column that decides."""

import pytest

from leaderboards import columns
from leaderboards.models import ColumnRow, LeaderboardRow
from tests.platform.leaderboards.columns import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase():
    return making.phase()


def rows(phase, board=None, is_frozen=False):
    found = ColumnRow.objects.filter(phase=phase, is_frozen=is_frozen).select_related("entrant", "board")
    return [row for row in found if board is None or row.board == board]


def ranks(phase, board=None):
    return [(row.entrant.name, row.rank) for row in rows(phase, board)]


def value(row, key):
    task = row.phase.tasks.order_by("order").first()
    return row.values.get(f"t{task.pk}c{row.board.columns.get(key=key).pk}")


def is_exact(phase):
    return columns.stored(phase) == columns.recomputed(phase)


def test_the_greatest_leads_unless_the_column_ascends(phase):
    up = making.board(phase.competition, "accuracy")
    down = making.board(phase.competition, ("error", {"is_ascending": True}))
    making.entry(phase, "alice", {"accuracy": 0.9, "error": 3.0})
    making.entry(phase, "bob", {"accuracy": 0.5, "error": 1.0})
    assert ranks(phase, up) == [("alice", 1), ("bob", 2)]
    assert ranks(phase, down) == [("bob", 1), ("alice", 2)]
    assert is_exact(phase)
    assert not LeaderboardRow.objects.exists()


def test_the_primary_column_decides_then_the_others_in_their_order_then_the_earlier(phase):
    making.board(phase.competition, "first", "second", ("third", {"is_ascending": True}), primary="second")
    making.entry(phase, "alice", {"first": 0.9, "second": 0.5, "third": 1})
    making.entry(phase, "bob", {"first": 0.9, "second": 0.5, "third": 0})
    making.entry(phase, "carol", {"first": 0.1, "second": 0.6, "third": 9})
    making.entry(phase, "dora", {"first": 0.9, "second": 0.5, "third": 0})
    assert ranks(phase) == [("carol", 1), ("bob", 2), ("dora", 3), ("alice", 4)]
    phase.tie_rule = "shared"
    phase.save()
    assert ranks(phase) == [("carol", 1), ("bob", 2), ("dora", 2), ("alice", 4)]
    assert is_exact(phase)


def test_ranks_are_those_of_the_rounded_values(phase):
    making.board(phase.competition, ("score", {"precision": 2}))
    making.entry(phase, "alice", {"score": 0.9012})
    making.entry(phase, "bob", {"score": 0.9049})
    assert ranks(phase) == [("alice", 1), ("bob", 2)]
    assert [value(row, "score") for row in rows(phase)] == [0.9, 0.9]


def test_a_hidden_column_breaks_no_ties(phase):
    making.board(phase.competition, "score", ("secret", {"is_hidden": True}), "later")
    phase.hidden_columns = ["later"]
    phase.save()
    making.entry(phase, "alice", {"score": 1, "secret": 0, "later": 0})
    making.entry(phase, "bob", {"score": 1, "secret": 9, "later": 9})
    assert ranks(phase) == [("alice", 1), ("bob", 2)]


def test_columns_are_computed_of_the_values_before_they_are_rounded(phase):
    making.board(
        phase.competition,
        ("avg", {"computation": "avg", "fields": ["a", "b"], "precision": 3}),
        ("sum", {"computation": "sum", "fields": ["a", "b"], "precision": 3, "weights": [1, 2]}),
        ("min", {"computation": "min", "fields": ["a", "b"]}),
        ("max", {"computation": "max", "fields": ["a", "b"]}),
        ("of_computed", {"computation": "avg", "fields": ["min", "max"]}),
        "a",
        "b",
    )
    making.entry(phase, "alice", {"a": 0.111, "b": 0.222})
    [row] = rows(phase)
    told = {key: value(row, key) for key in ("avg", "sum", "min", "max", "of_computed")}
    assert told == {"avg": 0.167, "sum": 0.555, "min": 0.11, "max": 0.22, "of_computed": 0.17}


def test_a_mean_of_ranks_is_weighted_and_moves_with_the_others(phase):
    making.board(
        phase.competition,
        ("rank", {"computation": "mean_rank", "fields": ["a", "b", "nobody"], "weights": [3, 1, 5]}),
        "a",
        ("b", {"is_ascending": True}),
    )
    making.entry(phase, "alice", {"a": 0.9, "b": 5})
    making.entry(phase, "bob", {"a": 0.8, "b": 1})
    assert [(row.entrant.name, value(row, "rank")) for row in rows(phase)] == [("alice", 1.25), ("bob", 1.75)]
    making.entry(phase, "carol", {"a": 0.95})
    # Carol has no b: one behind the worst.
    assert [(row.entrant.name, value(row, "rank")) for row in rows(phase)] == [
        ("carol", 1.5),
        ("alice", 2.0),
        ("bob", 2.5),
    ]
    assert is_exact(phase)


def test_the_mean_reciprocal_rank_is_best_where_it_is_greatest(phase):
    making.board(phase.competition, ("mrr", {"computation": "mrr", "fields": ["a", "b"]}), "a", "b")
    making.entry(phase, "alice", {"a": 1, "b": 1})
    making.entry(phase, "bob", {"a": 2, "b": 2})
    assert [value(row, "mrr") for row in rows(phase)] == [1.0, 0.5]
    assert ranks(phase)[0] == ("bob", 1)


def test_over_several_tasks_the_mean_of_the_deciding_column_counts_and_a_missing_task_comes_last():
    phase = making.phase(tasks=2)
    making.board(phase.competition, "score")
    making.entry(phase, "alice", {"score": 0.9}, {"score": 0.1})
    making.entry(phase, "bob", {"score": 0.6}, {"score": 0.6})
    making.entry(phase, "carol", {"score": 1.0})
    assert ranks(phase) == [("bob", 1), ("alice", 2), ("carol", 3)]
    last = phase.tasks.order_by("order").last()
    last.quarantined_at = phase.opens_at
    last.save()
    assert ranks(phase) == [("carol", 1), ("alice", 2), ("bob", 3)]
    assert is_exact(phase)
