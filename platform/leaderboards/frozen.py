"""Boards as they were when they were frozen."""

import datetime as dt
from copy import copy

from competitions import clock
from competitions.models import Phase
from leaderboards.entries import board_part
from leaderboards.models import Board, LeaderboardRow


def keep(phase: Phase) -> list[Board]:
    """Take the picture of a board that has been frozen, throw away that of one that is no more.

    Returns the live boards of the phase. It comes before every refresh: what is stored then is what everybody
    saw at the moment of freezing.
    """
    boards = list(Board.objects.filter(phase=phase))
    pictures = [board for board in boards if board.is_frozen]
    live = [board for board in boards if not board.is_frozen]
    if phase.board == Phase.Board.FROZEN and not pictures:
        # A board on which nobody was yet stays empty, so it needs a picture too.
        for board in live or [Board(phase=phase, part=board_part(phase))]:
            _take(board, clock.now(phase.competition))
    elif phase.board != Phase.Board.FROZEN and pictures:
        Board.objects.filter(phase=phase, is_frozen=True).delete()
    return live


def _take(board: Board, now: dt.datetime) -> None:
    picture = copy(board)
    picture.pk, picture.is_frozen, picture.made_at = None, True, now
    picture._state.adding = True
    picture.save()
    rows = list(LeaderboardRow.objects.filter(board=board)) if board.pk else []
    for row in rows:
        row.pk, row.board = None, picture
    LeaderboardRow.objects.bulk_create(rows)
