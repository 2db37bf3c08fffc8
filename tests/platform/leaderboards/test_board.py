"""Stored rows: exact after whatever happened, both parts, frozen, with numbers for names, in few queries."""

import random

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from competitions.models import Task
from leaderboards import board
from leaderboards.models import Board, LeaderboardRow, NeutralNumber, RankMoment
from submissions.models import Handover, Run, RunState, Score, Submission
from submissions.transitions import settle
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase():
    return make.phase(make.competition())


def entry(phase, name, *values, part="valid", state="finished", **fields):
    """A submission with one score for each task; None leaves one out. Boards follow as in production."""
    made = make.submission(phase, make.user(name), state=state, **fields)
    for run, value in zip(made.runs.all(), values, strict=True):
        if value is not None:
            make.score(run, value, part=part)
        else:
            Run.objects.filter(pk=run.pk).update(state=RunState.FAILED)
    told(made)
    return made


def told(submission):
    """What storing a score does at the end: settle, and so the signal to the board."""
    with transaction.atomic():
        settle(submission)


def rows(phase, part="valid", is_frozen=False):
    found = LeaderboardRow.objects.filter(board__phase=phase, board__part=part, board__is_frozen=is_frozen)
    return list(found.select_related("entrant", "submission"))


def ranks(phase, part="valid"):
    return {row.entrant.name: row.rank for row in rows(phase, part)}


def is_exact(phase):
    return board.stored(phase) == board.recomputed(phase)


def test_both_parts_are_ranked_each_by_its_own_scores(phase):
    for name, valid, test in (("alice", 0.9, 0.2), ("bob", 0.5, 0.7)):
        made = entry(phase, name, valid, valid)
        for run in made.runs.all():
            make.score(run, test, part="test")
        told(made)
    assert ranks(phase) == {"alice": 1, "bob": 2}
    assert ranks(phase, "test") == {"alice": 2, "bob": 1}
    assert is_exact(phase)


def test_a_part_on_which_nobody_has_a_score_has_no_rows(phase):
    entry(phase, "alice", 0.9, 0.8)
    assert rows(phase, "test") == []
    late = entry(phase, "bob", 0.5, 0.5)
    make.score(late.runs.first(), 0.4, part="test")
    told(late)
    assert ranks(phase, "test") == {"bob": 1, "alice": 2}
    Score.objects.filter(part="test").delete()
    told(late)
    assert rows(phase, "test") == []
    assert is_exact(phase)


def test_the_best_submission_counts_by_mean_rank_then_by_mean_score(phase):
    phase.counts = "best"
    phase.save()
    entry(phase, "alice", 0.9, 0.1)
    middle = entry(phase, "alice", 0.8, 0.3)
    entry(phase, "alice", 0.1, 0.2)
    # Ranks of the three: (1, 3), (2, 1), (3, 2).
    assert [row.submission for row in rows(phase)] == [middle]
    last = entry(phase, "alice", 0.85, 0.3)
    assert [row.submission for row in rows(phase)] == [last]
    assert is_exact(phase)


def test_of_equally_good_ones_the_higher_mean_score_then_the_earlier_counts(phase):
    phase.counts = "best"
    phase.save()
    entry(phase, "alice", 0.9, 0.1)
    balanced = entry(phase, "alice", 0.8, 0.4)
    entry(phase, "alice", 0.8, 0.4)
    assert [row.submission for row in rows(phase)] == [balanced]


def test_others_never_change_which_submission_is_the_best(phase):
    phase.counts = "best"
    phase.save()
    entry(phase, "alice", 0.9, 0.1)
    best = entry(phase, "alice", 0.5, 0.52)
    for index in range(5):
        entry(phase, f"rival{index}", 0.6 + index / 20, 0.05)
    assert next(row for row in rows(phase) if row.entrant.name == "alice").submission == best


def test_the_chosen_submission_counts_where_entrants_choose_else_the_latest(phase):
    phase.counts = "chosen"
    phase.save()
    first = entry(phase, "alice", 0.9, 0.9)
    latest = entry(phase, "alice", 0.5, 0.5)
    assert [row.submission for row in rows(phase)] == [latest]
    first.is_chosen = True
    first.save(update_fields=["is_chosen"])
    told(first)
    assert [row.submission for row in rows(phase)] == [first]
    assert is_exact(phase)


def test_the_lower_median_of_repeats_counts_and_the_spread_is_kept(phase):
    phase.repeats = 3
    phase.save()
    made = make.submission(phase, make.user("alice"), state="finished")
    for run in list(made.runs.all()):
        make.score(run, 0.5)
        for repeat, value in ((1, 0.7), (2, 0.6)):
            make.score(make.run(made, run.task, repeat=repeat, order=run.order), value)
    told(made)
    [row] = rows(phase)
    assert [cell["value"] for cell in row.cells] == [0.6, 0.6]
    assert (row.cells[0]["low"], row.cells[0]["high"], row.cells[0]["repeats"]) == (0.5, 0.7, 3)


def test_a_baseline_takes_a_place_only_in_a_replay(phase):
    entry(phase, "alice", 0.5, 0.5)
    made = entry(phase, "baseline", 0.9, 0.9)
    made.entrant.is_baseline = True
    made.entrant.save()
    assert ranks(phase) == {"baseline": None, "alice": 1}
    phase.ranks_baselines = True
    phase.save()
    assert ranks(phase) == {"baseline": 1, "alice": 2}
    assert is_exact(phase)


def test_an_unranked_row_knows_behind_which_place_it_stands(phase):
    entry(phase, "alice", 0.9, 0.9)
    entry(phase, "bob", 0.5, 0.5)
    made = entry(phase, "olga", 0.7, 0.7)
    made.entrant.held_a_role = True
    made.entrant.save()
    assert [(row.entrant.name, row.rank, row.rank_above) for row in rows(phase)] == [
        ("alice", 1, 0),
        ("olga", None, 1),
        ("bob", 2, 1),
    ]


def test_times_are_summed_and_in_a_hidden_phase_rounded_for_all(phase):
    made = entry(phase, "alice", 0.9, 0.9)
    for run, seconds in zip(made.runs.all(), (123.4, 77.7), strict=True):
        Run.objects.filter(pk=run.pk).update(wall_seconds=seconds)
    told(made)
    assert rows(phase)[0].wall_seconds == 201.1
    phase.kind = "final"
    phase.parent = make.phase(phase.competition)
    phase.save()
    assert [row.wall_seconds for row in rows(phase)] == [180.0]


def test_a_frozen_board_keeps_its_rows_while_the_live_one_goes_on(phase):
    entry(phase, "alice", 0.9, 0.9)
    phase.board = "frozen"
    phase.save(update_fields=["board"])
    entry(phase, "bob", 0.95, 0.95)
    assert [row.entrant.name for row in rows(phase, is_frozen=True)] == ["alice"]
    assert ranks(phase) == {"bob": 1, "alice": 2}
    assert [row.entrant.name for row in board.rows(phase, timezone.now())] == ["alice"]
    phase.board = "shown"
    phase.save(update_fields=["board"])
    assert not Board.objects.filter(is_frozen=True).exists()
    assert [row.entrant.name for row in board.rows(phase, timezone.now())] == ["bob", "alice"]


def test_a_board_frozen_by_a_query_is_frozen_as_it_was_then(phase):
    entry(phase, "alice", 0.9, 0.9)
    type(phase).objects.update(board="frozen")
    entry(phase, "bob", 0.95, 0.95)
    assert [row.entrant.name for row in rows(phase, is_frozen=True)] == ["alice"]


def test_a_board_frozen_while_it_was_empty_stays_empty(phase):
    phase.board = "frozen"
    phase.save(update_fields=["board"])
    entry(phase, "alice", 0.9, 0.9)
    assert list(board.rows(phase, timezone.now())) == []


def test_nobody_but_organizers_reads_a_hidden_board(phase):
    entry(phase, "alice", 0.9, 0.9)
    phase.board = "hidden"
    phase.save(update_fields=["board"])
    assert list(board.rows(phase, timezone.now())) == []
    assert ranks(phase) == {"alice": 1}


def test_neutral_numbers_stay_differ_and_do_not_follow_the_order_of_coming(phase):
    people = [f"person{index:02}" for index in range(30)]
    for index, name in enumerate(people):
        entry(phase, name, 0.5 + index / 100, 0.5)
    first = {row.entrant.name: row.neutral_number for row in rows(phase)}
    assert len(set(first.values())) == 30
    assert [first[name] for name in people] != sorted(first.values())
    entry(phase, "late", 0.1, 0.1)
    again = entry(phase, "person03", 0.99, 0.99)
    again.disqualified_at = timezone.now()
    again.save()
    told(again)
    assert {row.entrant.name: row.neutral_number for row in rows(phase) if row.entrant.name != "late"} == first
    assert NeutralNumber.objects.count() == 31


def test_moments_are_kept_for_phases_in_which_people_submit_only(phase):
    entry(phase, "alice", 0.5, 0.5)
    entry(phase, "bob", 0.9, 0.9)
    assert RankMoment.objects.filter(phase=phase).count() == 2
    later = make.phase(phase.competition, kind="final", parent=phase)
    entry(later, "alice", 0.5, 0.5, part="test")
    assert not RankMoment.objects.filter(phase=later).exists()


def test_what_would_change_the_winner_is_kept_with_the_board(phase):
    entry(phase, "alice", 0.9, 0.1)
    entry(phase, "bob", 0.1, 0.95)
    kept = Board.objects.get(phase=phase, part="valid").notes
    assert [(note["kind"], note["keys"]) for note in kept] == [("way", ["mean_score"]), ("dataset", [0])]
    assert {winner["name"] for note in kept for winner in note["winners"]} == {"bob"}


def test_removing_a_task_or_moving_it_makes_every_row_anew(phase):
    entry(phase, "alice", 0.9, 0.2)
    entry(phase, "bob", 0.5, 0.8)
    first = phase.tasks.first()
    first.order = 9
    first.save()
    assert [cell["value"] for cell in rows(phase)[0].cells] == [0.2, 0.9]
    Run.objects.filter(task=first).delete()
    Task.objects.get(pk=first.pk).delete()
    assert ranks(phase) == {"bob": 1, "alice": 2}
    assert is_exact(phase)


def test_a_renamed_entrant_is_sorted_by_the_new_name_also_on_a_frozen_board(phase):
    made = entry(phase, "alice", 0.9, 0.9)
    phase.board = "frozen"
    phase.save(update_fields=["board"])
    made.entrant.name = "Ärmel"
    made.entrant.save()
    assert set(LeaderboardRow.objects.values_list("name_key", flat=True)) == {"ärmel"}


def any_event(phase, chance):
    """One of the things that happen to submissions, at random."""
    names = ("alice", "bob", "carol", "dave")
    what = chance.choice(
        ["submit", "submit", "rescore", "disqualify", "requalify", "cancel", "delete", "rule", "rerun"]
    )
    some = list(Submission.objects.filter(phase=phase))
    if what == "submit" or not some:
        values = [chance.choice([None, 0.1, 0.2, 0.3, 0.30001]) for _ in range(2)]
        made = entry(phase, chance.choice(names), *values, state=chance.choice(["finished", "active", "failed"]))
        if chance.random() < 0.5:
            make.score(made.runs.first(), chance.random(), part="test")
            told(made)
        return
    one = chance.choice(some)
    if what == "rescore":
        Score.objects.filter(run__submission=one).update(value=chance.random())
    elif what == "disqualify":
        Submission.objects.filter(pk=one.pk).update(disqualified_at=timezone.now())
    elif what == "requalify":
        Submission.objects.filter(pk=one.pk).update(disqualified_at=None)
    elif what == "cancel":
        Submission.objects.filter(pk=one.pk).update(state=Submission.State.CANCELLED)
    elif what == "rerun":
        Submission.objects.filter(pk=one.pk).update(state=Submission.State.ACTIVE, ended_at=timezone.now())
        one.runs.update(state=RunState.QUEUED)
    elif what == "delete":
        one.delete()
        return
    elif what == "rule":
        phase.refresh_from_db()
        phase.counts = chance.choice(["latest", "best", "chosen"])
        phase.tie_rule = chance.choice(["earlier", "shared"])
        phase.score_digits = chance.choice([1, 4])
        phase.save()
        return
    told(Submission.objects.get(pk=one.pk))


@pytest.mark.parametrize("seed", range(6))
def test_after_whatever_happens_each_row_is_its_recomputation(phase, seed):
    chance = random.Random(seed)
    for _ in range(25):
        any_event(phase, chance)
        assert is_exact(phase)


@pytest.mark.parametrize("state", ["queued", "claimed", "running", "collected", "scoring"])
def test_rows_are_exact_at_every_step_of_a_run_whose_old_score_stands_and_of_one_that_has_none(phase, state):
    alice = entry(phase, "alice", 0.5, 0.6)
    bob = make.submission(phase, make.user("bob"))
    make.score(bob.runs.first(), 0.4)
    told(bob)
    Run.objects.filter(pk__in=[alice.runs.first().pk, bob.runs.last().pk]).update(state=state)
    assert is_exact(phase)
    assert [cell["state"] for row in rows(phase) for cell in row.stored_cells] == [*["finished"] * 3, "waiting"]


def test_deleting_an_entrant_moves_up_those_behind(phase):
    entry(phase, "alice", 0.5, 0.5)
    gone = entry(phase, "bob", 0.9, 0.9)
    Handover.objects.all().delete()
    gone.delete()
    gone.entrant.delete()
    assert ranks(phase) == {"alice": 1}
    assert is_exact(phase)


def refreshing(phase, submission):
    with CaptureQueriesContext(connection) as captured, transaction.atomic():
        board.refresh(phase, entrants=[submission.entrant_id])
    return [query["sql"] for query in captured]


def test_a_new_score_costs_the_same_queries_among_many_as_among_few(phase):
    made = entry(phase, "alice", 0.1, 0.1)
    entry(phase, "bob", 0.5, 0.5)
    Score.objects.filter(run__submission=made).update(value=0.7)
    few = refreshing(phase, made)
    for index in range(25):
        entry(phase, f"more{index}", 0.2 + index / 100, 0.2)
    Score.objects.filter(run__submission=made).update(value=0.05)
    many = refreshing(phase, made)
    assert len(many) <= len(few) + 1 <= 20
    assert is_exact(phase)


def test_the_command_finds_a_row_that_differs_and_mends_it(phase, capsys):
    made = entry(phase, "alice", 0.9, 0.9)
    call_command("check_boards")
    assert "Every row is as its scores give it" in capsys.readouterr().out
    LeaderboardRow.objects.filter(entrant=made.entrant).update(rank=7, mean_score=0.1)
    with pytest.raises(SystemExit) as ended:
        call_command("check_boards")
    assert ended.value.code == 3
    assert "other mean_score, rank" in capsys.readouterr().err.replace("rank, mean_score", "mean_score, rank")
    call_command("check_boards", "--mend", "--json")
    assert '"mended": true' in capsys.readouterr().out
    assert is_exact(phase)
