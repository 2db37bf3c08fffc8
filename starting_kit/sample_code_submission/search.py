"""Candidates, the rows they are judged on, and the blend that is made of them."""

from __future__ import annotations

import time

import numpy as np
from learners import Boosting, Forest, Linear
from outputs import Finish

BLEND_CELLS = 200_000  # rows x columns that the choice of a blend looks at
MOST_HELD_OUT = 20_000


class Split:
    """Rows to learn from and rows to be judged on, encoded by a table that saw the former only."""

    def __init__(self, new_table, X, Y, learn, judge):
        self.learn, self.judge = learn, judge
        self.Y = Y[learn]
        self.table = new_table().fit(X[learn], self.Y)
        self.wide, self.narrow = self.table.learning_view(X[learn])
        if len(judge):
            self.judge_wide, self.judge_narrow = self.table.view(X[judge])
        self.use = np.zeros(self.narrow.shape[1])

    def columns(self, count):
        """Return the `count` narrow columns that forests used most."""
        if count is None or count >= len(self.use) or not self.use.any():
            return slice(None)
        return np.sort(np.argsort(-self.use, kind="stable")[:count])


def rows_to_judge(goal, rows, chronological, several, seed):
    """Return [(learn, judge)] row numbers: cross-validation, one hold-out, or (all, none) for a few rows.

    In chronological data the last fifth is held out, as the test part lies in the future too.
    """
    everything = np.arange(rows)
    if rows < 25:
        return [(everything, everything[:0])]
    held = min(max(5, rows // 5), MOST_HELD_OUT)
    if chronological:
        return [(everything[: rows - held], everything[rows - held :])]
    order = np.random.default_rng(seed).permutation(rows)
    if goal.kind in ("binary", "multiclass"):
        # Rows of a class lie one after the other, so that every fifth row is a stratified fifth.
        label = goal.Y.argmax(axis=1) if goal.kind == "multiclass" else goal.Y[:, 0]
        order = order[np.argsort(label[order], kind="stable")]
    share = max(2, rows // held)
    folds = np.arange(rows) % share
    chosen = range(several) if several > 1 else range(1)
    return [(np.sort(order[folds != fold]), np.sort(order[folds == fold])) for fold in chosen]


class Recipe:
    """How to make one kind of learner: which view, how many columns, from what size to what size."""

    def __init__(self, name, make, *, wide=False, columns=None, sizes=(20, 400), cost=1.0):
        self.name, self.make, self.wide, self.columns = name, make, wide, columns
        self.first, self.most = sizes
        self.cost = cost

    def view(self, split):
        """Return the table to learn from."""
        return split.wide if self.wide else split.narrow[:, split.columns(self.columns)]

    def judge_view(self, split):
        """Return the table to be judged on."""
        return split.judge_wide if self.wide else split.judge_narrow[:, split.columns(self.columns)]

    def estimate(self, learner, split, views):
        """Return the learner's estimates for new rows, given their (wide, narrow) views."""
        wide, narrow = views
        return learner.estimate(wide if self.wide else narrow[:, split.columns(self.columns)])


class Candidate:
    """One recipe, learned on every split, with its estimates for all rows held out."""

    def __init__(self, recipe, splits):
        self.recipe, self.splits = recipe, splits
        self.learners = [recipe.make(seed) for seed in range(len(splits))]
        self.size, self.seconds_per_unit, self.loss, self.done = 0, None, np.inf, False
        self.best_size = 0

    def next_size(self):
        """Return the size to grow to."""
        return min(self.recipe.most, max(self.recipe.first, self.size * 2))

    def seconds_needed(self):
        """Return the expected seconds of the next growth, or None before the first."""
        if self.seconds_per_unit is None:
            return None
        grown = self.next_size() - self.size
        # Boosting goes through its data again when it is resumed, so some cost does not shrink with size.
        return self.seconds_per_unit * (grown + 0.1 * self.size)

    def grow(self, goal, judged_Y):
        """Grow once on every split; note the time it took, the estimates and whether it still gets better."""
        began, size = time.monotonic(), self.next_size()
        parts = []
        for learner, split in zip(self.learners, self.splits):
            learner.grow(self.recipe.view(split), split.Y, size)
            if len(split.judge):
                parts.append(learner.estimate(self.recipe.judge_view(split)))
        self.seconds_per_unit = (time.monotonic() - began) / max(1, size - self.size)
        self.size = size
        self.done = size >= self.recipe.most
        if not parts:
            self.judged, self.loss, self.best_size = None, 0.0, size
            return
        judged = np.vstack(parts)
        loss = goal.loss(judged_Y, judged)
        if size >= 4 * self.recipe.first and loss > self.loss - 1e-3 * abs(self.loss):
            self.done = True
        if loss < self.loss:
            self.best_size = size
        self.judged, self.loss = judged, loss

    def estimate(self, views):
        """Return the mean estimate of the learners of all splits; `views` has one pair for each split."""
        parts = [self.recipe.estimate(one, *pair) for one, *pair in zip(self.learners, self.splits, views)]
        return np.mean(parts, axis=0)


class Blend:
    """Weights of candidates, chosen greedily with replacement, and the last step tuned on the blend."""

    def __init__(self, goal, candidates, judged_Y, *, chronological=False, rounds=20):
        self.candidates, self.weights = list(candidates), np.ones(len(candidates)) / len(candidates)
        self.finish = Finish(goal)
        self.loss = np.inf
        if judged_Y is None or not len(judged_Y):
            return
        step = max(1, int(np.ceil(judged_Y.size / BLEND_CELLS)))
        Y = judged_Y[::step]
        estimates = [candidate.judged[::step] for candidate in candidates]
        counts, total, losses = np.zeros(len(candidates)), np.zeros_like(estimates[0]), []
        history = []
        for chosen in range(1, rounds + 1):
            losses = [goal.loss(Y, (total + estimate) / chosen) for estimate in estimates]
            best = int(np.argmin(losses))
            counts[best] += 1
            total = total + estimates[best]
            history.append((losses[best], counts / chosen))
        self.loss, self.weights = min(history, key=lambda pair: pair[0])
        if chronological:
            self.weights = (self.weights + self._best_of_each_kind()) / 2
        mixed = sum(w * c.judged for w, c in zip(self.weights, candidates) if w)
        self.finish = Finish(goal, judged_Y, mixed)

    def _best_of_each_kind(self):
        """Return equal weights for the best linear model, forest and boosting.

        In chronological data the future differs from the rows held out; a mixture of kinds loses less by it.
        """
        best = {}
        for place, candidate in enumerate(self.candidates):
            kind = type(candidate.learners[0])
            if kind not in best or candidate.loss < self.candidates[best[kind]].loss:
                best[kind] = place
        weights = np.zeros(len(self.candidates))
        weights[list(best.values())] = 1 / len(best)
        return weights

    def members(self):
        """Return [(weight, candidate)] of those that count, the weightiest first."""
        pairs = [(w, c) for w, c in zip(self.weights, self.candidates) if w > 0]
        return sorted(pairs, key=lambda pair: -pair[0])

    def description(self):
        """Return the members with their weights and sizes, for the log."""
        return ", ".join(f"{w:.2f} {c.recipe.name} ({c.size})" for w, c in self.members())


def recipes(goal, split, wide_is_sparse, rows, seed):
    """Return the recipes to try, the quickest first; those on few columns come after forests named them."""
    seconds = None

    def forest(extra, features="sqrt", leaf=1):
        return lambda n: Forest(goal, extra=extra, features=features, leaf=leaf, seed=seed + 1000 * n)

    def boosting(**settings):
        return lambda n: Boosting(goal, seed=seed + 1000 * n, **settings)

    def linear(strength):
        return lambda n: Linear(goal, strength=strength, seconds=seconds)

    columns = split.narrow.shape[1]
    outputs = 1 if goal.kind == "binary" else goal.Y.shape[1]
    slow = 4.0 * outputs
    few = max(2, min(20, rows // 10))
    strengths = (1e-5, 1e-3) if wide_is_sparse else (1e-3, 1e-1)
    found = [
        Recipe("linear", linear(strengths[0]), wide=True, sizes=(40, 320), cost=1.0),
        Recipe("extra-trees", forest(True), sizes=(25, 800)),
        Recipe("linear, held back", linear(strengths[1]), wide=True, sizes=(40, 320), cost=1.0),
        Recipe("forest", forest(False, leaf=2), sizes=(25, 400), cost=1.0),
        Recipe("boosting", boosting(leaf=few), sizes=(20, 640), cost=slow),
    ]
    narrower = [count for count in (320, 160, 80, 40, 20, 12) if count <= columns * 0.6]
    # The quickest learner scans for the number of columns that matters; boosting then uses the two middles.
    found += [Recipe(f"extra-trees on {n}", forest(True, 0.7), columns=n, sizes=(25, 800)) for n in narrower]
    found += [
        Recipe(f"boosting on {n}", boosting(leaf=few), columns=n, sizes=(20, 640), cost=slow)
        for n in narrower
        if n in (80, 20)
    ]
    found += [
        Recipe("slow boosting", boosting(rate=0.04, leaves=15, leaf=2 * few), sizes=(40, 1280), cost=slow),
        Recipe("large leaves", forest(True, 0.7, leaf=5), sizes=(25, 400)),
    ]
    return found
