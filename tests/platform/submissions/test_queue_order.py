"""The order in which queued runs are given out."""

from collections import Counter

from submissions.dispatch import Waiting, fair_order


def waiting(*rows):
    return [
        Waiting(run_id=number, entrant_id=entrant, task_order=task, submission_id=submission, is_rerun=rerun)
        for number, (entrant, submission, task, rerun) in enumerate(rows)
    ]


def order(rows, active=None):
    return [item.run_id for item in fair_order(rows, Counter(active or {}))]


def test_entrants_take_turns_although_one_was_there_first():
    rows = waiting((1, 10, 0, False), (1, 10, 1, False), (1, 10, 2, False), (2, 11, 0, False), (2, 11, 1, False))
    assert order(rows) == [0, 3, 1, 4, 2]


def test_the_first_task_of_each_submission_comes_before_the_other_tasks():
    rows = waiting((1, 10, 0, False), (1, 10, 1, False), (1, 11, 0, False), (1, 11, 1, False))
    assert order(rows) == [0, 2, 1, 3]


def test_live_runs_go_before_reruns():
    rows = waiting((1, 10, 0, True), (2, 20, 0, False), (2, 20, 1, False))
    assert order(rows) == [1, 2, 0]


def test_whoever_has_runs_at_workers_already_waits_longer():
    rows = waiting((1, 10, 1, False), (2, 20, 0, False))
    assert order(rows, active={1: 1}) == [1, 0]
    assert order(rows, active={2: 1}) == [0, 1]


def test_hundred_submissions_of_one_do_not_delay_the_one_of_another():
    rows = waiting(*[(1, 10 + number, 0, False) for number in range(100)], (2, 999, 0, False))
    assert order(rows).index(100) == 1
