"""A weak but honest line to beat: one linear model, fitted once. It shows the whole model interface."""

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler


class Model:
    """Logistic regression, one for each label where there are several; ridge regression for numbers."""

    def __init__(self, info):
        self.task = info["task"]  # other keys: metric, time_budget, feat_num, target_num, feat_type, ...
        self.columns = int(info["target_num"])

    def fit(self, X, y):
        """X: (n, feat_num), dense or CSR, NaN where missing. y: (n,), or (n, target_num) for multi-label."""
        # Scaling by the largest value keeps zeros, so that sparse data stay sparse.
        self.prepare = make_pipeline(SimpleImputer(strategy="mean"), MaxAbsScaler())
        Z = self.prepare.fit_transform(X)
        if self.task == "regression":
            self.models = [Ridge(alpha=1.0).fit(Z, y)]
        elif y.ndim == 2:
            self.models = [classifier(Z, column) for column in y.T]
        else:
            self.models = [classifier(Z, y)]

    def predict(self, X):
        """Return (n,) for one column, else (n, target_num): numbers, or probabilities."""
        Z = self.prepare.transform(X)
        if self.task == "regression":
            return self.models[0].predict(Z)
        if self.task == "multiclass.classification":
            probabilities = np.zeros((Z.shape[0], self.columns))
            known = self.models[0].classes_.astype(int)
            probabilities[:, known] = self.models[0].predict_proba(Z)
            return probabilities
        return np.column_stack([positive(model, Z) for model in self.models])


def classifier(Z, y):
    """Fit one classifier, or return the one value that there is to learn."""
    if len(np.unique(y)) < 2:
        return float(y[0])
    return LogisticRegression(C=0.1, max_iter=100).fit(Z, y)


def positive(model, Z):
    """Return the probability of the second class (n,)."""
    return np.full(Z.shape[0], model) if isinstance(model, float) else model.predict_proba(Z)[:, 1]
