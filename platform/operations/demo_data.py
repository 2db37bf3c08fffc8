"""The demo's datasets, built from real data that scikit-learn carries, and its results-only entries.

Nothing is downloaded. Three datasets are for round 0; those of rounds 1 and 2 ask other questions, so that nobody
has seen them when code meets them blind. Each dataset is split into train, valid and test, the features in an
order of their own, and is written in AutoML format with hidden labels for valid and test. Needs numpy, scipy and
scikit-learn, no Django.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as carried
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from ingestion.dataset import load_dataset, write_dataset

# Another split than that of the starting kit, which holds the targets of the same patients and irises.
SEED = 2016
VALID_SHARE = 0.2
TEST_SHARE = 0.3
NEIGHBOURS = 7
Table = NDArray[np.float64]


@dataclass(frozen=True)
class Source:
    """Real data before the split: features (n, f), targets (n,) or (n, C), and a label to stratify by."""

    features: Table
    targets: NDArray[Any]
    strata: NDArray[Any]
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...] | None = None


@dataclass(frozen=True)
class DemoDataset:
    """What the site says about a demo dataset, and how it is made.

    `description` is one public sentence; `origin` says where the data come from. Seconds for `time_budget`.
    """

    title: str
    description: str
    origin: str
    task: str
    metric: str
    time_budget: float
    load: Callable[[], Source]
    sparse: bool = False


def _tumours() -> Source:
    data = carried.load_breast_cancer()
    return Source(data.data, data.target, data.target, tuple(data.feature_names), tuple(data.target_names))


def _strokes() -> Source:
    data = carried.load_digits()
    names = tuple(f"pixel_{row}_{column}" for row in range(8) for column in range(8))
    return Source(data.data, data.target, data.target, names, tuple(map(str, range(10))))


def _vintage() -> Source:
    data = carried.load_wine()
    return Source(data.data, data.target, data.target, tuple(data.feature_names), tuple(data.target_names))


def _traits() -> Source:
    """The digits again, with what is true of the number drawn instead of the number itself."""
    digits = _strokes()
    number = digits.targets
    truths = {
        "even": number % 2 == 0,
        "has_a_loop": np.isin(number, (0, 6, 8, 9)),
        "prime": np.isin(number, (2, 3, 5, 7)),
        "above_four": number > 4,
    }
    targets = np.column_stack([truth.astype(np.int64) for truth in truths.values()])
    return Source(digits.features, targets, number, digits.feature_names, tuple(truths))


def _progression() -> Source:
    data = carried.load_diabetes(scaled=False)
    fifths = np.digitize(data.target, np.quantile(data.target, (0.2, 0.4, 0.6, 0.8)))
    return Source(data.data, data.target, fifths, tuple(data.feature_names))


DEMO_DATASETS: dict[str, DemoDataset] = {
    "strokes": DemoDataset(
        title="Strokes",
        description="Read handwritten digits from images of 8 x 8 pixels; empty pixels are not stored.",
        origin="Optical Recognition of Handwritten Digits, test set, Alpaydin and Kaynak 1998, UCI repository",
        task="multiclass.classification",
        metric="bac",
        time_budget=12,
        load=_strokes,
        sparse=True,
    ),
    "traits": DemoDataset(
        title="Traits",
        description="Say of a handwritten digit whether it is even, has a loop, is prime and is above four.",
        origin=(
            "Optical Recognition of Handwritten Digits, test set, Alpaydin and Kaynak 1998, UCI repository; "
            "labels derived from the digit"
        ),
        task="multilabel.classification",
        metric="f1",
        time_budget=12,
        load=_traits,
    ),
    "progression": DemoDataset(
        title="Progression",
        description="Predict how far diabetes has gone on after a year, from ten measurements of a patient.",
        origin="Diabetes data of Efron, Hastie, Johnstone and Tibshirani 2004, Least Angle Regression",
        task="regression",
        metric="r2",
        time_budget=10,
        load=_progression,
    ),
}


def _petals() -> Source:
    data = carried.load_iris()
    return Source(data.data, data.target, data.target, tuple(data.feature_names), tuple(data.target_names))


def _alcohol() -> Source:
    """The wines again: one of their thirteen analyses is asked, the other twelve are given."""
    data = carried.load_wine()
    names = tuple(data.feature_names)
    asked = names.index("alcohol")
    target = data.data[:, asked]
    fifths = np.digitize(target, np.quantile(target, (0.2, 0.4, 0.6, 0.8)))
    return Source(np.delete(data.data, asked, axis=1), target, fifths, names[:asked] + names[asked + 1 :])


def _halves() -> Source:
    """The upper halves of the digits, and whether the number was five or more."""
    digits = _strokes()
    upper = digits.features.shape[1] // 2
    large = (digits.targets >= 5).astype(np.int64)
    return Source(
        digits.features[:, :upper], large, digits.targets, digits.feature_names[:upper], ("small", "large")
    )


OF_DIGITS = "Optical Recognition of Handwritten Digits, test set, Alpaydin and Kaynak 1998, UCI repository"

# What code meets without its author: by the number of the round.
BLIND_DATASETS: dict[int, dict[str, DemoDataset]] = {
    1: {
        "petals": DemoDataset(
            title="Petals",
            description="Tell three kinds of iris by the length and width of their leaves.",
            origin="Iris plants, Fisher 1936, UCI repository",
            task="multiclass.classification",
            metric="bac",
            time_budget=10,
            load=_petals,
        ),
        "alcohol": DemoDataset(
            title="Alcohol",
            description="Predict how much alcohol a wine holds, from twelve other results of its analysis.",
            origin="Wine recognition data, Forina and others 1991, UCI repository",
            task="regression",
            metric="r2",
            time_budget=10,
            load=_alcohol,
        ),
        "halves": DemoDataset(
            title="Halves",
            description="Say by the upper half of a handwritten digit whether it is five or more.",
            origin=OF_DIGITS,
            task="binary.classification",
            metric="auc",
            time_budget=10,
            load=_halves,
        ),
    },
    2: {
        "tumours": DemoDataset(
            title="Tumours",
            description="Tell malignant from benign tumours by 30 measurements of cell nuclei in an image.",
            origin="Breast Cancer Wisconsin (Diagnostic), Wolberg, Street and Mangasarian 1995, UCI repository",
            task="binary.classification",
            metric="auc",
            time_budget=10,
            load=_tumours,
        ),
        "vintage": DemoDataset(
            title="Vintage",
            description="Find out which of three growers made a wine, from 13 results of its chemical analysis.",
            origin="Wine recognition data, Forina and others 1991, UCI repository",
            task="multiclass.classification",
            metric="pac",
            time_budget=8,
            load=_vintage,
        ),
    },
}


def build_demo_datasets(
    destination: Path, seed: int = SEED, *, datasets: Mapping[str, DemoDataset] | None = None
) -> list[Path]:
    """Write datasets below `destination`, those of round 0 by default; returns their folders, in their order.

    The same seed gives the same files. Valid and test have their solutions, for the site to hide.
    """
    wanted = DEMO_DATASETS if datasets is None else datasets
    return [_write(destination / name, name, about, seed) for name, about in wanted.items()]


def _write(folder: Path, name: str, about: DemoDataset, seed: int) -> Path:
    source = about.load()
    columns = np.random.default_rng(seed).permutation(source.features.shape[1])
    features = source.features[:, columns]
    train, valid, test = _split(source.strata, seed)
    return write_dataset(
        folder,
        name,
        task=about.task,
        metric=about.metric,
        time_budget=about.time_budget,
        train=(features[train], source.targets[train]),
        valid=(features[valid], source.targets[valid]),
        test=(features[test], source.targets[test]),
        feat_types=["Numerical"] * features.shape[1],
        feature_names=[source.feature_names[column].replace(" ", "_") for column in columns],
        label_names=source.label_names,
        sparse=about.sparse,
        private_info={
            "title": about.title,
            "origin": about.origin,
            "carried_by": "scikit-learn, sklearn.datasets",
            "split": f"stratified, seed {seed}, valid {VALID_SHARE}, test {TEST_SHARE}",
        },
    )


def _split(strata: NDArray[Any], seed: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Row numbers of train, valid and test, with every stratum in each of them by its share."""
    rows = np.arange(len(strata))
    rest, test = train_test_split(rows, test_size=TEST_SHARE, stratify=strata, random_state=seed)
    valid_share = VALID_SHARE / (1 - TEST_SHARE)
    train, valid = train_test_split(rest, test_size=valid_share, stratify=strata[rest], random_state=seed)
    return train, valid, test


def build_results_entry(datasets: Sequence[Path], destination: Path) -> Path:
    """Write a zip of prediction files for these datasets to `destination`, and return it.

    Nearest neighbours learn from the training part alone. Seven neighbours of standardised features are an
    honest entry of middling strength.
    """
    destination.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(destination, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder in datasets:
            dataset = load_dataset(folder)
            model = _neighbours(dataset.train.X.shape[0])
            targets = _columns(dataset.train.y, dataset.info)
            model.fit(_dense(dataset.train.X), targets)
            for part, held in (("valid", dataset.valid), ("test", dataset.test)):
                if held is not None:
                    predicted = model.predict(_dense(held.X)).reshape(held.X.shape[0], -1)
                    # The average row counts as one more neighbour: no class is ever impossible.
                    predicted = (NEIGHBOURS * predicted + targets.mean(axis=0)) / (NEIGHBOURS + 1)
                    text = "".join(" ".join(f"{value:.6g}" for value in row) + "\n" for row in predicted)
                    archive.writestr(f"{dataset.name}_{part}.predict", text)
    return destination


def _neighbours(rows: int) -> Pipeline:
    """Means of the neighbours' targets: numbers of a regression, frequencies of classes and labels."""
    nearest = KNeighborsRegressor(n_neighbors=min(NEIGHBOURS, rows))
    return make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), nearest)


def _dense(features: Any) -> Table:
    return np.asarray(features.toarray() if hasattr(features, "toarray") else features, dtype=np.float64)


def _columns(given: Any, info: dict[str, Any]) -> Table:
    """Targets as the columns that a prediction has: one for each class of a multi-class task."""
    targets = np.asarray(given)
    if info["task"] == "multiclass.classification" and targets.ndim == 1:
        return np.eye(int(info["label_num"]))[targets.astype(np.int64)]
    return targets.reshape(len(targets), -1).astype(np.float64)
