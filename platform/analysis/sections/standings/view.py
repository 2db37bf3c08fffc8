"""What all parts of the standings are made of: the board of those who compete, its ranks and its draws."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from analysis.inputs.combined import combined, combined_replicates
from analysis.inputs.tables import BoardTable
from analysis.measures import bootstrap
from analysis.measures.ranks import Floats, agreement_weights, mean_rank, mean_score, order, ranks
from analysis.results import distinct

SEED = 1
SHOWN = 40  # entrants in pictures; tables have all


@dataclass(frozen=True)
class View:
    """The ranked entries of a board, n, on T datasets, in the order of the board: by ⟨R⟩, then by receipt.

    `left_out` counts the entries without a place.
    """

    board: BoardTable
    left_out: int
    replicates: NDArray[np.float32]

    @property
    def count(self) -> int:
        """How many entrants compete."""
        return len(self.board.entries)

    @property
    def tasks(self) -> int:
        """On how many datasets."""
        return len(self.board.datasets)

    @property
    def scores(self) -> Floats:
        """n x T."""
        return self.board.scores

    @property
    def missing(self) -> int:
        """How many scores are missing."""
        return int(np.isnan(self.scores).sum())

    @property
    def shown(self) -> int:
        """How many entrants pictures have."""
        return min(self.count, SHOWN)

    @cached_property
    def names(self) -> list[str]:
        """Of the entrants, each once."""
        return distinct(self.board.names)

    @property
    def datasets(self) -> list[str]:
        """The names of the datasets, each once."""
        return distinct([dataset.name for dataset in self.board.datasets])

    @cached_property
    def ranks(self) -> Floats:
        """Dense ranks, n x T."""
        return ranks(self.scores)

    @cached_property
    def means(self) -> Floats:
        """⟨R⟩, (n,)."""
        return mean_rank(self.ranks)

    @cached_property
    def weighted(self) -> Floats:
        """The mean of the ranks, each dataset weighted by how much it tells entrants apart; (n,)."""
        return mean_rank(self.ranks, agreement_weights(self.scores, self.board.stderr))

    @cached_property
    def mean_scores(self) -> Floats:
        """⟨S⟩, (n,), as the board has it: where the smallest leads it is small.

        A missing score of ours counts 0, which is guessing. A program's column knows no such value: NaN there.
        """
        found = self.scores.mean(axis=1) if self.board.measure else mean_score(self.scores)
        return np.asarray(self.board.sign * found)

    @cached_property
    def from_zero(self) -> Floats:
        """Scores that may be averaged with 0 for missing ones: a column's begin at the worst of each dataset."""
        if not self.board.measure:
            return self.scores
        known = ~np.isnan(self.scores)
        worst = np.where(known, self.scores, np.inf).min(axis=0)
        return np.asarray(self.scores - np.where(np.isfinite(worst), worst, 0.0))

    @cached_property
    def received(self) -> Floats:
        """When what counts was received, (n,)."""
        return np.array([entry.received for entry in self.board.entries])

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """From 1, (n,): equal mean ranks share a place where the phase says so."""
        found = np.arange(1, self.count + 1)
        if self.board.tie_rule == "shared":
            for row in range(1, self.count):
                if self.means[row] - self.means[row - 1] <= 1e-12:
                    found[row] = found[row - 1]
        return found

    @cached_property
    def drawn(self) -> bootstrap.Drawn:
        """The scores as they could have come out."""
        board = self.board
        return bootstrap.drawn_scores(board.scores, board.stderr, self.replicates, seed=SEED, digits=board.digits)

    @property
    def moves(self) -> bool:
        """Whether there is any error bar, so that something can be said of chance."""
        return self.drawn.paired + self.drawn.normal > 0

    @cached_property
    def draws(self) -> tuple[Floats, Floats]:
        """Mean ranks and mean scores in every draw of rows, n x B each."""
        return bootstrap.by_rows(self.drawn.values)

    @cached_property
    def dataset_draws(self) -> Floats:
        """Mean ranks in every draw of datasets and rows, n x draws."""
        return bootstrap.by_datasets_then_rows(self.drawn.values, seed=SEED)

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """Which entrants are not told apart from the first of their group, (n,), from 1."""
        return bootstrap.tie_groups(self.draws[0], np.arange(self.count))

    @property
    def sample(self) -> str:
        """Of how many of what it is made."""
        return f"{counted(self.count, 'entrant')} on {counted(self.tasks, 'dataset')}"


def view_of(boards: Sequence[BoardTable]) -> View | None:
    """The view of one board or of several together; None where nobody competes or there is no dataset."""
    board = combined(boards)
    if board is None or not board.datasets or not board.ranked.any():
        return None
    keep = board.ranked
    drawn = combined_replicates(boards)[keep]
    kept = board.only(keep)
    received = np.array([entry.received for entry in kept.entries])
    by_place = order(mean_rank(ranks(kept.scores)), received)
    return View(sorted_by(kept, by_place), int((~keep).sum()), drawn[by_place])


def sorted_by(board: BoardTable, rows: NDArray[np.int64]) -> BoardTable:
    """The board with its entries in this order."""
    return replace(
        board,
        entries=tuple(board.entries[row] for row in rows),
        scores=board.scores[rows],
        stderr=board.stderr[rows],
        submissions=board.submissions[rows],
    )


def counted(number: int, what: str, several: str = "") -> str:
    """A number with its noun."""
    return f"{number:,} {what if number == 1 else several or what + 's'}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names in a sentence."""
    shown = list(names[:most])
    rest = len(names) - len(shown)
    if rest > 0:
        return f"{', '.join(shown)} and {rest} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1]))) if shown else "nobody"
