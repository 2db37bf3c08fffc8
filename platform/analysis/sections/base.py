"""What a section of the analyses is: how its inputs are loaded, and the result that follows from them."""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from analysis.inputs.audience import Audience
from analysis.inputs.boards import Loaded
from analysis.results import Block, Result
from competitions.models import Competition

Load = Callable[[Competition, Audience, dt.datetime], Loaded]
# Called with how much of the work is done, 0 to 1, and what is done now.
Tell = Callable[[float, str], None]
Build = Callable[[Loaded, Tell], Result]
# Blocks that follow from a result and from what the page's address asks, such as a pair of entrants.
Ask = Callable[[Result, Mapping[str, str]], tuple[Block, ...]]


@dataclass(frozen=True)
class Choice:
    """A field of a form on the page: pairs of value and label."""

    name: str
    label: str
    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Tool:
    """A small form on a section's page that computes further from its result, at once and for everybody alike."""

    title: str
    button: str
    choices: Callable[[Result], tuple[Choice, ...]]
    answer: Ask


@dataclass(frozen=True)
class Section:
    """One page of the analysis. `of_phase`: it is about one phase and part, which the page lets one choose.

    `load` is cheap, because every look at the page calls it to know whether the result is still that of its
    inputs; what is expensive to load (`inputs.boards.replicates`) is loaded by `build`, and follows from what is
    hashed.
    """

    key: str
    label: str
    question: str  # that it answers, for the list of sections
    load: Load
    build: Build
    of_phase: bool = False
    both_parts: bool = False  # it compares validation with test scores
    version: str = "1"  # of its own definitions
    tools: tuple[Tool, ...] = ()
    runs_basic_methods: bool = False  # organizers go from its page to where the platform runs them
    waits: str = "Nothing can be analysed before a phase is over and its scores are released."


def nothing(loaded: Loaded) -> bool:
    """Whether there is nothing to analyse."""
    return not any(len(board.entries) for board in loaded.boards)


def quiet(share: float, what: str) -> None:
    """Tell nobody."""
