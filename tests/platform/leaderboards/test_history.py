"""Places over time: kept at every change, thinned, and drawn."""

import datetime as dt
import itertools

import numpy as np
import pytest
from django.utils import timezone

from leaderboards import history
from leaderboards.history import paths_of, record, unpack
from leaderboards.models import RankMoment
from pages import rank_plot
from tests.platform import factories as make

START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def at(hours):
    return START + dt.timedelta(hours=hours)


@pytest.fixture
def phase(db):
    return make.phase(make.competition())


def kept(phase):
    return [dict(unpack(bytes(moment.places)).tolist()) for moment in RankMoment.objects.filter(phase=phase)]


def test_a_moment_is_kept_when_the_places_change_and_only_then(phase):
    record(phase, {}, at(0))
    record(phase, {7: 1}, at(1))
    record(phase, {7: 1}, at(2))
    record(phase, {7: 2, 9: 1}, at(3))
    record(phase, {}, at(4))
    assert kept(phase) == [{7: 1}, {7: 2, 9: 1}, {}]


def test_of_very_many_moments_the_first_and_last_stay_and_the_gaps_stay_even(phase, monkeypatch):
    monkeypatch.setattr(history, "MOST_MOMENTS", 10)
    for hour in range(40):
        record(phase, {1: hour + 1}, at(hour))
    times = list(RankMoment.objects.filter(phase=phase).values_list("at", flat=True))
    assert len(times) == 10
    assert (times[0], times[-1]) == (at(0), at(39))
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert max(gaps) <= dt.timedelta(hours=10)


def moments(*tables):
    return [(at(hour), np.array(sorted(table.items())).reshape(-1, 2)) for hour, table in enumerate(tables)]


def test_those_who_lead_now_are_shown_and_ones_own():
    found = paths_of(moments({1: 1, 2: 2, 3: 3}, {2: 1, 1: 2, 3: 3}), own=[3], top=2)
    assert [(path.entrant_id, path.ranks) for path in found.paths] == [(2, (2, 1)), (1, (1, 2)), (3, (3, 3))]
    assert found.worst == 3


def test_a_path_tells_its_best_place_its_last_and_how_often_it_changed():
    [path] = paths_of(moments({1: 3}, {1: 1}, {}, {1: 2})).paths
    assert (path.ranks, path.now, path.best, path.changes) == ((3, 1, None, 2), 2, 1, 3)


def test_nothing_kept_is_an_empty_history():
    assert paths_of([]).paths == ()
    assert rank_plot.context(paths_of([]), {}, [], timezone.now()) == {}


def test_lines_step_at_each_change_and_break_where_an_entrant_was_away():
    shown = rank_plot.context(paths_of(moments({1: 1, 2: 2}, {1: 1}, {2: 1, 1: 2})), {1: "a", 2: "b"}, [2], at(4))
    by_name = {line.name: line for line in shown["lines"]}
    assert by_name["b"].points.count("M") == 2
    assert by_name["a"].points.count("M") == 1
    assert "own" in by_name["b"].css
    assert [row.ranks for row in shown["table"]] == [[2, None, 1], [1, 1, 2]]


def test_whoever_has_no_name_to_be_told_is_left_out():
    shown = rank_plot.context(paths_of(moments({1: 1, 2: 2})), {2: "b"}, [], at(1))
    assert [line.name for line in shown["lines"]] == ["b"]


def test_a_place_far_behind_leaves_the_first_places_their_room():
    tops = {number: number for number in range(1, 11)}
    shown = rank_plot.context(
        paths_of(moments({**tops, 99: 900}), own=[99]), {**{one: str(one) for one in tops}, 99: "me"}, [99], at(1)
    )
    ends = [line.label_y for line in shown["lines"]]
    assert all(later - earlier >= rank_plot.LABEL_GAP for earlier, later in itertools.pairwise(ends))
    assert max(ends) <= rank_plot.HEIGHT
