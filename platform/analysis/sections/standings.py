"""Standings: who is ahead by which rule, and whether the datasets are enough to tell."""

import datetime as dt

import numpy as np

from analysis.inputs.audience import Audience
from analysis.inputs.boards import Loaded, load_boards
from analysis.results import Block, Column, Result, Table, rows_of
from analysis.sections.base import Section, Tell
from competitions.models import Competition


def load(competition: Competition, audience: Audience, now: dt.datetime) -> Loaded:
    """The board of the phase and part that were asked for."""
    return Loaded(load_boards(competition, audience, now)[:1])


def build(loaded: Loaded, tell: Tell) -> Result:
    """The mean scores of a board."""
    blocks: list[Block] = []
    for board in loaded.boards:
        means = np.nan_to_num(board.scores).mean(axis=1) if board.datasets else np.zeros(len(board.entries))
        columns = (Column("entrant", "Entrant"), Column("mean_score", "⟨S⟩", "number"))
        blocks.append(Table("standings", "Standings", columns, rows_of(board.names, means)))
    return Result("Mean scores.", tuple(blocks))


SECTION = Section(
    key="standings",
    label="Standings",
    question="Who is ahead, by which rule, and can the datasets tell?",
    load=load,
    build=build,
    of_phase=True,
)
