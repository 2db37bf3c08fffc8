"""The model that the platform calls: a method with its defaults, or the best that a search finds in time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ingestion.program import BaseModel

from .goal import Goal
from .methods import METHODS, Learner, Parameters, Setting
from .tables import as_table

HELD_OUT = 0.25  # of the rows, by which a search judges
MOST_JUDGED = 20_000  # rows
ROWS_OF_ONE_SPLIT = 1_000  # with fewer rows, a search judges by several splits
SPLITS = 3
MOST_TRIALS = 100
RESERVE = 0.15  # of the budget, which a search leaves for predicting and writing


class BasicModel(BaseModel):
    """One of the basic methods. Subclasses say which, and whether its hyper-parameters are searched.

    A tuned one answers first with the defaults; the search then draws at random until its time is over, judges on
    rows held out of the training part by the dataset's metric, and learns what was best again on all rows.
    """

    method: ClassVar[str]
    is_tuned: ClassVar[bool] = False

    def __init__(self, info: dict[str, Any]) -> None:
        self.goal = Goal(info)
        seed = int(os.environ.get("PODIUM_SEED", "0") or 0) % 2**31
        cores = max(1, int(os.environ.get("OMP_NUM_THREADS", "1") or 1))
        self.setting = Setting(self.goal, seed, cores, self._left)
        told = float(info.get("time_budget") or 60)
        self.until = time.monotonic() + min(self.time_left(), told)
        self.budget = self._left()

    def _left(self) -> float:
        return self.until - time.monotonic()

    def fit(self, X: Any, y: Any) -> Iterator[None]:
        """Learn from X (n, f), dense or CSR, and y; yields once between the defaults and a search."""
        X, y = as_table(X), self.goal.targets(y)
        began = time.monotonic()
        self.answer = self._learner({}).fit(X, y)
        if self.is_tuned and len(y) > 1:
            yield
            self._tune(X, y, time.monotonic() - began)

    def predict(self, X: Any) -> Any:
        """Return (n,) for one column, else (n, columns): numbers, or probabilities."""
        return self.goal.finished(self.answer.predict(as_table(X)))

    def _learner(self, parameters: Parameters) -> Learner:
        return Learner(METHODS[self.method], self.setting, parameters)

    def _tune(self, X: Any, y: Any, slowest: float) -> None:
        """Search, and learn what was best again on all rows; `slowest` are the seconds of the defaults."""
        rng = np.random.default_rng(self.setting.seed)
        splits = self._splits(len(y), rng)
        best: Parameters = {}
        best_quality, trial = -np.inf, 0
        while trial < MOST_TRIALS and self._left() > RESERVE * self.budget + 2.5 * slowest:
            parameters = METHODS[self.method].draw(rng, X, self.goal) if trial else {}
            began = time.monotonic()
            quality = self._judged(X, y, splits, parameters)
            slowest = max(slowest, time.monotonic() - began)
            print(f"{quality:.4f} with {parameters or 'defaults'}", flush=True)
            if quality > best_quality:
                best, best_quality = parameters, quality
            trial += 1
        if best:
            self.answer = self._learner(best).fit(X, y)

    def _judged(self, X: Any, y: Any, splits: Any, parameters: Parameters) -> float:
        """The mean quality on rows held out; minus infinity where a method cannot learn with these."""
        try:
            found = [
                self.goal.quality(y[judge], self._learner(parameters).fit(X[learn], y[learn]).predict(X[judge]))
                for learn, judge in splits
            ]
        except (ValueError, MemoryError, FloatingPointError) as error:
            print(f"{parameters}: {type(error).__name__}: {error}", flush=True)
            return -np.inf
        return float(np.mean(found)) if np.isfinite(found).all() else -np.inf

    @staticmethod
    def _splits(rows: int, rng: np.random.Generator) -> list[tuple[Any, Any]]:
        """Rows to learn from and rows to judge by: one split, several where there are few rows."""
        held_out = min(MOST_JUDGED, max(1, int(HELD_OUT * rows)))
        found = []
        for _ in range(1 if rows >= ROWS_OF_ONE_SPLIT else SPLITS):
            mixed = rng.permutation(rows)
            found.append((np.sort(mixed[held_out:]), np.sort(mixed[:held_out])))
        return found
