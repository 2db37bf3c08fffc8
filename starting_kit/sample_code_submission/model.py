"""The sample of the starting kit: an ensemble that has an answer within seconds and grows until time is up.

It tries linear models, forests and boosted trees on rows held out, blends the best of them for the metric of
the dataset, learns the blend again on all rows, and then grows it. Every `yield` asks for a prediction now.
"""

from __future__ import annotations

import os

# Threads that wait politely: on a busy machine a spinning thread costs more than it wins.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import contextlib
import gc
import time
from pathlib import Path

import numpy as np
from learners import Forest, Linear
from outputs import Finish, Goal
from scipy import sparse
from search import Blend, Candidate, Split, recipes, rows_to_judge, time_of_a_tree
from tables import DenseTable, SparseTable, category_flags

from ingestion.program import BaseModel

SHARE_TO_EXPLORE = 0.5
DENSE_COLUMNS = 1000  # a sparse table with fewer columns is treated as a dense one


class Model(BaseModel):
    """An any-time ensemble for all four kinds of task, dense or sparse, with or without gaps."""

    def __init__(self, info):
        self.info = dict(info)
        self.seed = int(os.environ.get("PODIUM_SEED", "0") or 0) % 2**31
        self.began = time.monotonic()
        self.budget = min(self.time_left(), 86_400.0)
        if not np.isfinite(self.time_left()):
            self.budget = float(self.info.get("time_budget") or 60)
        self.cost_of_answer = 0.3
        self.last_answer = 0.0

    # What the platform calls -------------------------------------------------------------------------

    def fit(self, X, y):
        """Learn from X (n, f) and y; yields whenever a better prediction is ready."""
        self.goal = Goal(self.info, y)
        self.answer = Constant(self.goal)
        X = self._prepared(X)
        if X.shape[0] < 2 or not np.ptp(self.goal.Y, axis=0).any():
            return
        if self._bytes(X) > 2**28:
            yield from self._ask()
        first = Quick(self.goal, self._new_table(X), X, self.seed)
        self.answer = first
        yield from self._ask()
        yield from self._explore(X)
        if self.candidates:
            yield from self._learn_again(X)

    def predict(self, X):
        """Return predictions (n, c), or (n,) for one column, for the metric of the dataset."""
        X = self._dense_if_small(X)
        parts = []
        for start in range(0, max(1, X.shape[0]), 20_000):
            parts.append(self.answer.predict(X[start : start + 20_000]))
        values = np.vstack(parts)
        return values[:, 0] if values.shape[1] == 1 else values

    # Time and memory ---------------------------------------------------------------------------------

    def _seconds(self):
        """Seconds that learning may still take: what is left, less the time to predict and write twice."""
        left = min(self.time_left(), self.budget - (time.monotonic() - self.began))
        return left - 0.5 - 0.02 * self.budget - 2.0 * self.cost_of_answer

    def _ask(self):
        """Yield once, and note how long predicting and writing took."""
        began = time.monotonic()
        yield
        self.last_answer = time.monotonic()
        self.cost_of_answer = max(0.5 * self.cost_of_answer, self.last_answer - began)

    def _say(self, text):
        print(f"{time.monotonic() - self.began:7.1f} s  {text}", flush=True)

    def _is_due(self):
        """Whether the pause since the last prediction is long enough, in view of what one costs."""
        pause = time.monotonic() - self.last_answer
        return pause > max(0.5, 8 * self.cost_of_answer, 0.08 * (time.monotonic() - self.began))

    @staticmethod
    def _bytes(X):
        return X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes

    # Data --------------------------------------------------------------------------------------------

    def _prepared(self, X):
        """Return X as it is used from here on; drops rows where memory would not hold the copies."""
        self.is_dense = not sparse.issparse(X) or X.shape[1] <= DENSE_COLUMNS
        X = self._dense_if_small(X)
        memory = available_memory()
        most_rows = int(0.15 * memory / max(1, self._bytes(X) / max(1, X.shape[0])))
        if X.shape[0] > most_rows:
            kept = np.arange(X.shape[0] - most_rows, X.shape[0])
            if not self._chronological():
                kept = np.sort(np.random.default_rng(self.seed).choice(X.shape[0], most_rows, replace=False))
            X = X[kept]
            self.goal.keep(kept)
        self.memory = memory
        return X

    def _dense_if_small(self, X):
        if sparse.issparse(X):
            return X.toarray() if self.is_dense else sparse.csr_matrix(X)
        return np.asarray(X, dtype=np.float64)

    def _chronological(self):
        return str(self.info.get("is_chronological_order", 0)).lower() in ("1", "1.0", "true", "yes")

    def _new_table(self, X):
        if not self.is_dense:
            most = max(1000, int(min(0.05 * self.memory / 64, 3e6) / self.goal.Y.shape[1]))
            return lambda: SparseTable(most, narrow_bytes=min(2**28, 0.05 * self.memory))
        flags = category_flags(self.info.get("feat_type"), X.shape[1])
        return lambda: DenseTable(flags, self._chronological(), self.seed)

    # Learning ----------------------------------------------------------------------------------------

    def _explore(self, X):
        """Try the recipes on held-out rows, keep the best blend as the answer; yields as it gets better."""
        goal, rows = self.goal, X.shape[0]
        self.blend = None
        cells = X.nnz if sparse.issparse(X) else X.size
        several = 5 if cells <= 100_000 and rows <= 2000 else 3 if cells <= 1_000_000 and self.budget > 120 else 1
        halves = rows_to_judge(goal, rows, self._chronological(), several, self.seed)
        new_table = self._new_table(X)
        self.splits = [Split(new_table, X, goal.Y, *half) for half in halves]
        self.judged_Y = goal.Y[np.concatenate([split.judge for split in self.splits])]
        pace = time_of_a_tree(goal, self.splits[0], self.seed)
        waiting = recipes(
            goal,
            self.splits[0],
            tree_seconds=pace,
            limit_seconds=max(0.5, 0.08 * self.budget / len(self.splits)),
            tree_bytes=0.03 * self.memory / len(self.splits),
            seed=self.seed,
        )
        pace *= len(self.splits)
        # The hold-out models are copied by learning again, which takes about as long as exploring did.
        explore_until = time.monotonic() + max(0.0, self._seconds()) * SHARE_TO_EXPLORE
        self.candidates = []
        while True:
            candidate, is_new = self._next(waiting, pace, explore_until - time.monotonic())
            if candidate is None:
                return
            try:
                candidate.grow(goal, self.judged_Y)
            except MemoryError:
                self.candidates = [c for c in self.candidates if c is not candidate]
                gc.collect()
                continue
            self._say(f"{candidate.recipe.name} to size {candidate.size}: loss {candidate.loss:.4f}")
            if is_new:
                self.candidates.append(candidate)
            if is_new and candidate.recipe.columns is None and isinstance(candidate.learners[0], Forest):
                for learner, split in zip(candidate.learners, self.splits, strict=True):
                    split.use += learner.importances()
            # One recipe alone may be worse than the first answer was.
            is_enough = len(self.candidates) > 1
            if is_enough and self._is_due() and self._seconds() > 0 and self._blend_now():
                yield from self._ask()

    def _next(self, waiting, pace, left):
        """Return (candidate, whether it is new): the next recipe that fits the time, else the best to grow.

        `pace` is the time of one quick tree on all splits; a recipe may start at a smaller size to fit.
        """
        while waiting:
            recipe = waiting.pop(0)
            first = int(min(recipe.first, 0.15 * left / (pace * recipe.cost)))
            if first >= min(5, recipe.first):
                return Candidate(recipe, self.splits, first), True
        growing = [c for c in self.candidates if not c.done and c.seconds_needed() < left]
        if not growing:
            return None, False
        best = min(c.loss for c in self.candidates)
        spread = np.median([c.loss for c in self.candidates]) - best
        growing = [c for c in growing if c.loss <= best + max(spread, 1e-9)]
        if not growing:
            return None, False
        return min(growing, key=lambda c: (c.size / c.first, c.loss)), False

    def _blend_now(self):
        """Make the best blend so far the answer; return whether it differs from the one before."""
        before = self.blend
        self.blend = Blend(self.goal, self.candidates, self.judged_Y, chronological=self._chronological())
        self.answer = Judged(self.goal, self.blend, self.splits)
        if before is not None and before.description() == self.blend.description():
            return False
        self._say(f"blend of {self.blend.description()}: loss {self.blend.loss:.4f}")
        return True

    def _learn_again(self, X):
        """Learn the blend's members on all rows, the weightiest first, then go on growing them."""
        if self._blend_now():
            yield from self._ask()
        if len(self.splits[0].judge) == 0 or self._seconds() <= 0:
            return
        whole = Split(self._new_table(X), X, self.goal.Y, np.arange(X.shape[0]), np.arange(0))
        whole.use = sum(split.use for split in self.splits)
        final = Whole(self.goal, self.blend, whole, self.splits)
        # More rows than a split has, but one table instead of several.
        ratio = 1.3 * X.shape[0] / max(1, len(self.splits[0].learn)) / len(self.splits)
        turn, grew = 0, True
        while grew:
            turn, grew = turn + 1, False
            for _, candidate in self.blend.members():
                size, grown = final.next_size(candidate, turn)
                if grown == 0 or ratio * candidate.seconds_per_unit * grown > 0.8 * self._seconds():
                    continue
                try:
                    seconds_per_row = final.add(candidate, size, self.seed + 7919 * turn, 0.9 * self._seconds())
                except MemoryError:
                    gc.collect()
                    return
                grew = True
                self.answer = final
                self.cost_of_answer += seconds_per_row * self._rows_to_predict()
                self._say(f"{candidate.recipe.name} learned on all rows, size {size}")
                if self._is_due() and self._seconds() > 0:
                    yield from self._ask()

    def _rows_to_predict(self):
        counts = [float(self.info.get(f"{part}_num") or 0) for part in ("valid", "test")]
        return sum(counts) or 1000.0


class Constant:
    """The answer before anything was learned."""

    def __init__(self, goal):
        self.values, self.finish = goal.constant(), Finish(goal)

    def predict(self, X):
        """Return the same prediction for every row."""
        return self.finish.apply(np.tile(self.values, (X.shape[0], 1)))


class Quick:
    """The first answer: a small forest (dense) or a few steps of a linear model (sparse) on a few rows."""

    def __init__(self, goal, new_table, X, seed):
        cells = X.nnz / X.shape[0] if sparse.issparse(X) else X.shape[1]
        outputs = goal.Y.shape[1]
        rows = min(X.shape[0], max(500, 10 * outputs, int(1e6 / max(1.0, cells + 5 * outputs))))
        kept = np.sort(np.random.default_rng(seed).choice(X.shape[0], rows, replace=False))
        Y = goal.Y[kept]
        self.table = new_table().fit(X[kept], Y)
        self.finish = Finish(goal)
        wide, narrow = self.table.learning_view(X[kept])
        self.is_sparse = sparse.issparse(wide)
        self.learner = Linear(goal, strength=1e-4, seconds=2.0) if self.is_sparse else Forest(goal, leaf=2)
        self.learner.grow(wide if self.is_sparse else narrow, Y, 15)

    def predict(self, X):
        """Return predictions (n, c)."""
        wide, narrow = self.table.view(X)
        return self.finish.apply(self.learner.estimate(wide if self.is_sparse else narrow))


class Judged:
    """The blend, as learned on the splits."""

    def __init__(self, goal, blend, splits):
        self.goal, self.blend, self.splits = goal, blend, splits

    def predict(self, X):
        """Return predictions (n, c)."""
        views = [split.table.view(X) for split in self.splits]
        total = sum(weight * candidate.estimate(views) for weight, candidate in self.blend.members())
        return self.blend.finish.apply(total)


class Whole:
    """The blend, learned again on all rows; members not learned again yet stand as they were judged."""

    def __init__(self, goal, blend, whole, splits):
        self.goal, self.blend, self.whole, self.splits = goal, blend, whole, splits
        self.learned = {}

    def next_size(self, candidate, turn):
        """Return (size, units that are new) of a member's next growth; (size, 0) where more would not help.

        A forest gets more trees, up to four times the size that was judged best; boosting gets companions
        from other seeds; a linear model is the same from every seed.
        """
        kind, best = type(candidate.learners[0]), candidate.best_size
        if kind is Forest:
            had = self.learned[id(candidate)][0].size if id(candidate) in self.learned else 0
            size = max(had, min(max(best, 25) * 2 ** (turn - 1), max(500, 2 * best)))
            return size, size - had
        companions = 1 if kind is Linear else 8
        return best, best if turn <= companions else 0

    def add(self, candidate, size, seed, seconds):
        """Learn or grow one learner of this member on all rows; return the seconds it adds to a row's answer."""
        learners = self.learned.setdefault(id(candidate), [])
        old = learners[0] if learners and isinstance(learners[0], Forest) else None
        learner = old or candidate.recipe.make(seed)
        share = 1.0 if old is None else 1.0 - old.size / size
        if not isinstance(learner, Forest):
            learner.seconds = seconds
        table = candidate.recipe.view(self.whole)
        learner.grow(table, self.whole.Y, size)
        if old is None:
            learners.append(learner)
        sample = table[:1000]
        began = time.monotonic()
        learner.estimate(sample)
        return share * (time.monotonic() - began) / sample.shape[0]

    def predict(self, X):
        """Return predictions (n, c)."""
        new = self.whole.table.view(X)
        judged = None
        total = 0.0
        for weight, candidate in self.blend.members():
            learners = self.learned.get(id(candidate))
            if learners:
                parts = [candidate.recipe.estimate(one, self.whole, new) for one in learners]
                total = total + weight * np.mean(parts, axis=0)
            else:
                judged = judged or [split.table.view(X) for split in self.splits]
                total = total + weight * candidate.estimate(judged)
        return self.blend.finish.apply(total)


def available_memory():
    """Return the bytes this process may still take: the smallest of what the system says."""
    limits = [8 * 2**30]
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            limits.append(int(Path(path).read_text()))
    try:
        known = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        limits.append(int(known["MemAvailable"].split()[0]) * 1024)
    except (OSError, KeyError, ValueError):
        pass
    return min(limits)
