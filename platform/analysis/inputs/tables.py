"""Boards as arrays, and what a section is made of, with the hash of all of it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Entry:
    """An entrant on a board. `number` is its submission's; `key` is the same in every phase, None where names are
    concealed, because a key that joins phases would tell them.
    """

    key: int | None
    name: str
    is_ranked: bool
    is_baseline: bool
    received: float
    rank: int | None


@dataclass(frozen=True)
class Dataset:
    """A task of a board as the audience may call it."""

    task_id: int
    name: str
    metric: str
    kind: str  # binary.classification and so on; empty while it is concealed
    version_id: int | None  # None while it is concealed
    round: int
    time_budget: float


@dataclass(frozen=True)
class BoardTable:
    """A phase's board by one part: n entries, T datasets.

    `scores` and `stderr` are n x T, rounded as the audience sees them, NaN where one is missing; `submissions` are
    ids (n,), for loaders alone: they go to no page.
    """

    phase_id: int
    number: int
    title: str
    phase_kind: str
    round: int
    round_name: str
    track: str
    part: str
    tie_rule: str
    is_anonymous: bool
    entries: tuple[Entry, ...]
    datasets: tuple[Dataset, ...]
    scores: Floats
    stderr: Floats
    submissions: Ints
    digits: int = 4
    measure: str = ""  # the column of an organizers' scoring program; empty: our scores, 0 guessing and 1 perfect
    sign: int = 1  # -1: its values are negated here, because there the smallest leads

    @property
    def ranked(self) -> NDArray[np.bool_]:
        """Which entries take a place, (n,)."""
        return np.array([entry.is_ranked for entry in self.entries], dtype=bool)

    @property
    def names(self) -> list[str]:
        """Of the entries."""
        return [entry.name for entry in self.entries]

    def only(self, keep: NDArray[np.bool_]) -> "BoardTable":
        """The same with those entries alone."""
        return replace(
            self,
            entries=tuple(entry for entry, kept in zip(self.entries, keep, strict=True) if kept),
            scores=self.scores[keep],
            stderr=self.stderr[keep],
            submissions=self.submissions[keep],
        )


@dataclass(frozen=True)
class Loaded:
    """What goes into a section. `facts` are further inputs, of plain values and arrays; all of it is hashed."""

    boards: tuple[BoardTable, ...]
    facts: dict[str, Any] = field(default_factory=dict)

    def fingerprint(self, *more: object) -> str:
        """SHA-256 of all of it, and of what else decides the result."""
        digest = hashlib.sha256(json.dumps(more, sort_keys=True, default=str).encode())
        for part in (*self.boards, self.facts):
            _hash(digest, part)
        return digest.hexdigest()


def _hash(digest: Any, value: Any) -> None:
    """Feed a value of plain Python, numpy or dataclasses into a digest; equal values feed the same."""
    if isinstance(value, np.ndarray):
        digest.update(f"{value.dtype}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            _hash(digest, getattr(value, name))
    elif isinstance(value, dict):
        for key in sorted(value, key=str):
            digest.update(str(key).encode())
            _hash(digest, value[key])
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        digest.update(f"[{len(value)}".encode())
        for one in value:
            _hash(digest, one)
    else:
        digest.update(f"{type(value).__name__}:{value!r};".encode())
