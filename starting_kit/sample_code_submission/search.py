"""Candidates, the rows they are judged on, and the blend that is made of them."""

from __future__ import annotations

import time

import numpy as np
from learners import Boosting, Forest, Linear
from outputs import Finish
from scipy import sparse

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
    held = min(max(5, rows // 5), MOST_HELD_OUT, max(1000, 2_000_000 // goal.Y.shape[1]))
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
    """How to make one kind of learner: which view, how many columns, from what size to what size.

    `cost` is the expected time of one unit (a tree, a round, an iteration), in units of one quick tree.
    """

    def __init__(self, name, make, *, wide=False, columns=None, sizes=(25, 400), cost=1.0):
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

    def __init__(self, recipe, splits, first):
        self.recipe, self.splits, self.first = recipe, splits, first
        self.learners = [recipe.make(seed) for seed in range(len(splits))]
        self.size, self.seconds_per_unit, self.loss, self.done = 0, None, np.inf, False
        self.best_size = 0

    def next_size(self):
        """Return the size to grow to."""
        return min(self.recipe.most, max(self.first, self.size * 2))

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
        for learner, split in zip(self.learners, self.splits, strict=True):
            learner.grow(self.recipe.view(split), split.Y, size)
            if len(split.judge):
                parts.append(learner.estimate(self.recipe.judge_view(split)))
        reached = min(learner.size for learner in self.learners)
        self.seconds_per_unit = (time.monotonic() - began) / max(1, reached - self.size)
        self.done = size >= self.recipe.most or reached < size  # it ran out of its time
        self.size = size = reached
        if not parts:
            self.judged, self.loss, self.best_size = None, 0.0, size
            return
        judged = np.vstack(parts)
        loss = goal.loss(judged_Y, judged)
        if size >= 4 * self.first and loss > self.loss - 1e-3 * abs(self.loss):
            self.done = True
        if loss < self.loss:
            self.best_size = size
        self.judged, self.loss = judged, loss

    def estimate(self, views):
        """Return the mean estimate of the learners of all splits; `views` has one pair for each split."""
        parts = [
            self.recipe.estimate(one, *pair) for one, *pair in zip(self.learners, self.splits, views, strict=True)
        ]
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
        mixed = sum(w * c.judged for w, c in zip(self.weights, candidates, strict=True) if w)
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
        pairs = [(w, c) for w, c in zip(self.weights, self.candidates, strict=True) if w > 0]
        return sorted(pairs, key=lambda pair: -pair[0])

    def description(self):
        """Return the members with their weights and sizes, for the log."""
        return ", ".join(f"{w:.2f} {c.recipe.name} ({c.size})" for w, c in self.members())


def time_of_a_tree(goal, split, seed):
    """Return the seconds that one tree of a quick forest takes on this split, from a trial on a few rows."""
    rows = len(split.narrow)
    kept = np.random.default_rng(seed).choice(rows, min(rows, 3000), replace=False)
    began = time.monotonic()
    Forest(goal, seed=seed).grow(split.narrow[kept], split.Y[kept], 6)
    # Time grows a little faster than the number of rows.
    return (time.monotonic() - began) / 6 * (rows / len(kept)) ** 1.1


def recipes(goal, split, *, tree_seconds, limit_seconds, tree_bytes, seed):
    """Return the recipes to try, the quickest first; those on few columns come after forests named them."""
    rows, columns = split.narrow.shape
    outputs = 1 if goal.kind == "binary" else goal.Y.shape[1]
    node_bytes = 2**25
    each = min(node_bytes, rows * 2 * (64 + 8 * outputs))
    trees = int(np.clip(tree_bytes / each, 10, 800))

    def forest(extra, features="sqrt", leaf=1):
        settings = {"extra": extra, "features": features, "leaf": leaf, "node_bytes": node_bytes}
        return lambda n: Forest(goal, seed=seed + 1000 * n, **settings)

    def boosting(**settings):
        limit = 1.5 * limit_seconds
        return lambda n: Boosting(goal, seed=seed + 1000 * n, seconds=limit, **settings)

    def linear(strength):
        return lambda n: Linear(goal, strength=strength, seconds=limit_seconds)

    def round_cost(used):
        return outputs * (rows * used * 1.5e-8 + used * 6e-5 + 2e-3) / tree_seconds

    def tree_cost(used, features):
        return max(0.3, features * used / np.sqrt(columns))

    few = max(2, min(20, rows // 10))
    strengths = (1e-5, 1e-3) if sparse.issparse(split.wide) else (1e-3, 1e-1)
    cells = split.wide.nnz if sparse.issparse(split.wide) else split.wide.size
    iteration = (cells * 4e-9 + rows * 3e-8 + split.wide.shape[1] * 3e-7) * outputs + 1e-3
    iteration = min(iteration, limit_seconds / 40)
    steps = {"wide": True, "sizes": (40, 320), "cost": iteration / tree_seconds}
    found = [
        Recipe("linear", linear(strengths[0]), **steps),
        Recipe("extra-trees", forest(True), sizes=(25, trees)),
        Recipe("linear, held back", linear(strengths[1]), **steps),
        Recipe("forest", forest(False, leaf=2), sizes=(25, trees), cost=2.5),
        Recipe("boosting", boosting(leaf=few), sizes=(20, 640), cost=round_cost(columns)),
    ]
    if not sparse.issparse(split.wide):
        found[:2] = found[1::-1]  # a forest is the safer first choice where there are few features
    # Where many columns are probes, forests on the columns that matter are far better: look how many.
    narrower = [count for count in (320, 160, 80, 40, 20, 12) if count <= columns * 0.6]
    for count in narrower:
        settings = {"columns": count, "sizes": (25, trees), "cost": tree_cost(count, 0.7)}
        found.append(Recipe(f"extra-trees on {count}", forest(True, 0.7), **settings))
    for count in narrower:
        if count in (80, 20):
            settings = {"columns": count, "sizes": (20, 640), "cost": round_cost(count)}
            found.append(Recipe(f"boosting on {count}", boosting(leaf=few), **settings))
    slow = boosting(rate=0.04, leaves=15, leaf=2 * few)
    found += [
        Recipe("slow boosting", slow, sizes=(40, 1280), cost=0.7 * round_cost(columns)),
        Recipe("large leaves", forest(True, 0.7, leaf=5), sizes=(25, trees), cost=tree_cost(columns, 0.7)),
    ]
    return found
