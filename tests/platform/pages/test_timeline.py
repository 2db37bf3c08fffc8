"""Where the timeline draws its bars."""

import datetime as dt

import pytest

from competitions.models import Phase
from pages.timeline import MOST_TICKS, draw

NOW = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)


def phase(opens, closes):
    return Phase(
        title="x",
        opens_at=NOW + dt.timedelta(days=opens),
        closes_at=None if closes is None else NOW + dt.timedelta(days=closes),
    )


def test_bars_share_the_width_by_their_dates():
    drawn = draw([phase(-10, 10), phase(10, 30)], NOW)
    assert [(bar.left, bar.width, bar.state) for bar in drawn.bars] == [(0, 50, "open"), (50, 50, "upcoming")]
    assert drawn.now == 25


def test_a_phase_without_an_end_reaches_the_edge():
    drawn = draw([phase(-10, None)], NOW)
    assert drawn.bars[0].left + drawn.bars[0].width == 100
    assert 0 < drawn.now < 100


def test_now_is_left_out_where_all_is_over():
    assert draw([phase(-30, -10)], NOW).now is None


def test_no_phases_no_picture():
    assert draw([], NOW) is None


@pytest.mark.parametrize("days", [0.02, 1, 20, 59, 60, 200, 800, 4000])
def test_ticks_lie_inside_and_are_few(days):
    drawn = draw([phase(0, days)], NOW)
    assert len(drawn.ticks) <= MOST_TICKS + 1
    assert all(0 <= tick.left <= 100 for tick in drawn.ticks)
    assert len({tick.label for tick in drawn.ticks}) == len(drawn.ticks)
