"""auto-sklearn as a submission: a quick forest first, then a search, then what was found learned on all rows.

Wants the image podium-sandbox-autosklearn (Python 3.9, auto-sklearn 0.15.0). Whatever becomes of the search, the
forest's predictions are there.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.metrics import balanced_accuracy_score, mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from ingestion.program import BaseModel

MIB = 2**20
LEAST_SEARCH = 30  # seconds; auto-sklearn refuses less
SHARE_OF_SEARCH = 0.8  # of the time that is left; the rest is for learning on all rows
MARGIN = 5.0  # seconds by which a search comes to its end later than it was told
ROWS_TO_JUDGE = 300  # with fewer rows, none are kept back to compare the search with the forest
METRICS = {
    "r2_metric": "r2",
    "a_metric": "mean_absolute_error",
    "bac_metric": "balanced_accuracy",
    "auc_metric": "roc_auc",
    "f1_metric": "f1",
    "pac_metric": "log_loss",
}


class Model(BaseModel):
    """An any-time model for all four kinds of task, dense or sparse, with or without gaps."""

    def __init__(self, info):
        self.task = info["task"]
        self.metric = str(info.get("metric", ""))
        self.columns = int(info["target_num"])
        self.types = list(info.get("feat_type") or [])
        self.seed = int(os.environ.get("PODIUM_SEED", "0") or 0) % 2**31
        self.cores = max(1, int(os.environ.get("OMP_NUM_THREADS", "1") or 1))

    # What the platform calls -------------------------------------------------------------------------

    def fit(self, X, y):
        """Learn from X (n, f), dense or CSR, and y; yields whenever a better answer is ready."""
        self.answer = self._forest().fit(X, y)
        yield
        found = self._search(X, y) if len(y) >= 20 else None
        if found is None:
            return
        self.answer = found
        yield
        # The search learned on two thirds of the rows. If time runs out here, the answer above counts.
        found.refit(X, y)

    def predict(self, X):
        """Return (n,) for one column, else (n, target_num): numbers, or probabilities."""
        return self._predicted(self.answer, X)

    # Answers -----------------------------------------------------------------------------------------

    def _predicted(self, answer, X):
        if self.task == "regression":
            return answer.predict(X)
        probabilities = answer.predict_proba(X)
        if self.task == "multilabel.classification":
            return positive_columns(probabilities, answer)
        known = np.asarray(answer.classes_).astype(int)
        spread = np.zeros((X.shape[0], max(self.columns, 2)))
        spread[:, known] = probabilities
        return spread[:, 1] if self.task == "binary.classification" else spread

    def _forest(self):
        """A small forest that has an answer within seconds."""
        options = {"n_estimators": 50, "min_samples_leaf": 2, "n_jobs": self.cores, "random_state": self.seed}
        if self.task == "regression":
            learner = RandomForestRegressor(**options)
        else:
            weights = "balanced_subsample" if self.metric == "bac_metric" else None
            learner = RandomForestClassifier(class_weight=weights, **options)
        return make_pipeline(SimpleImputer(strategy="median"), learner)

    def _mistakes(self, answer, X, y):
        """How far an answer is from y: squared error, or the share of each class that is mistaken."""
        predicted = self._predicted(answer, X)
        if self.task == "regression":
            return mean_squared_error(y, predicted)
        if self.task == "multilabel.classification":
            labels = range(y.shape[1])
            return 1 - np.mean([balanced_accuracy_score(y[:, i], predicted[:, i] > 0.5) for i in labels])
        chosen = predicted.argmax(axis=1) if predicted.ndim == 2 else predicted > 0.5
        return 1 - balanced_accuracy_score(y, chosen)

    # Searching ---------------------------------------------------------------------------------------

    def _search(self, X, y):
        """Run auto-sklearn for most of the time; None where it found nothing better than the forest."""
        try:
            learn, judge = np.arange(len(y)), None
            if len(y) >= ROWS_TO_JUDGE:
                learn, judge = train_test_split(learn, test_size=0.2, random_state=self.seed)
                rival = self._mistakes(self._forest().fit(X[learn], y[learn]), X[judge], y[judge])
            automl = self._automl()
            if automl is None:
                return None
            options = {} if sparse.issparse(X) else {"feat_type": self._feature_types(X.shape[1])}
            automl.fit(X[learn], y[learn], **options)
            print(automl.sprint_statistics(), flush=True)
            if "Success" not in automl.cv_results_["status"]:
                return None  # its answer would be a constant
            if judge is not None:
                own = self._mistakes(automl, X[judge], y[judge])
                print(f"mistakes on rows kept back: {own:.4f}, of the forest: {rival:.4f}", flush=True)
                return automl if own < rival else None
            return automl
        except Exception as error:
            print(f"auto-sklearn gave up: {type(error).__name__}: {error}", flush=True)
            return None

    def _automl(self):
        """An auto-sklearn that ends in time; None where too little is left. Loading it takes seconds."""
        from autosklearn import metrics
        from autosklearn.classification import AutoSklearnClassifier
        from autosklearn.regression import AutoSklearnRegressor

        seconds = int(SHARE_OF_SEARCH * min(self.time_left(), 86_400.0) - MARGIN)
        if seconds < LEAST_SEARCH:
            return None
        name = METRICS.get(self.metric)
        if self.task == "multilabel.classification":
            name = "f1_macro" if name in ("f1", "balanced_accuracy", "log_loss") else name
        elif self.task == "multiclass.classification":
            name = {"f1": "f1_macro", "roc_auc": "log_loss"}.get(name, name)
        kind = AutoSklearnRegressor if self.task == "regression" else AutoSklearnClassifier
        folder = Path(tempfile.mkdtemp(prefix="autosklearn-")) / "search"
        # Each worker has a limit of its own, and this process and its forest need room too.
        memory = available_memory() * 0.8 / (self.cores + 1)
        return kind(
            time_left_for_this_task=seconds,
            per_run_time_limit=max(15, seconds // 3),
            memory_limit=int(memory / MIB),
            n_jobs=self.cores,
            seed=self.seed % 2**16,
            metric=getattr(metrics, name) if name else None,
            # What won on similar datasets may be slow: in a short time, its plain forest comes first.
            initial_configurations_via_metalearning=0 if seconds < 150 else 25,
            ensemble_kwargs={"ensemble_size": 30},
            tmp_folder=str(folder),
        )

    def _feature_types(self, columns):
        kinds = self.types if len(self.types) == columns else ["Numerical"] * columns
        return ["Categorical" if kind == "Categorical" else "Numerical" for kind in kinds]


def positive_columns(probabilities, answer):
    """Return (n, labels) from an array, or from a list with one (n, 2) for each label, as forests give it."""
    if isinstance(probabilities, np.ndarray):
        return probabilities
    columns = []
    for label, part in enumerate(probabilities):
        only = answer.classes_[label][0] if part.shape[1] == 1 else None
        columns.append(part[:, 1] if only is None else np.full(len(part), float(only)))
    return np.column_stack(columns)


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
