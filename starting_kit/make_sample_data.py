"""Writes sample_data/ from data that scikit-learn carries. An example of how to write a dataset of your own.

    python make_sample_data.py [DESTINATION]

`iris` is Fisher's iris data. `patients` is the diabetes data of Efron and others (2004), in which sex and decade
of age are given as categories and one blood value in twelve was removed on purpose, so that a submission meets
missing and categorical values at home.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE if (HERE / "ingestion").is_dir() else HERE.parent))

import numpy as np  # noqa: E402
from sklearn.datasets import load_diabetes, load_iris  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402

from ingestion.dataset import write_dataset  # noqa: E402

SEED = 2015
TIME_BUDGET = 10
MISSING_SHARE = 1 / 12


def main(destination: Path) -> None:
    """Write both datasets below `destination`; the same bytes every time."""
    write_iris(destination / "iris")
    write_patients(destination / "patients")


def write_iris(folder: Path) -> None:
    """Multi-class, BAC, four numerical features."""
    data = load_iris()
    train, valid, test = split(data.target)
    write_dataset(
        folder,
        "iris",
        task="multiclass.classification",
        metric="bac",
        time_budget=TIME_BUDGET,
        train=(data.data[train], data.target[train]),
        valid=(data.data[valid], data.target[valid]),
        test=(data.data[test], data.target[test]),
        feature_names=[name.replace(" (cm)", "").replace(" ", "_") for name in data.feature_names],
        label_names=list(data.target_names),
    )


def write_patients(folder: Path) -> None:
    """Regression, ABS, two categories and eight numbers with gaps."""
    data = load_diabetes(scaled=False)
    features = data.data.copy()
    names = list(data.feature_names)
    features[:, names.index("age")] //= 10
    blood = [column for column, name in enumerate(names) if name.startswith("s") and name != "sex"]
    gaps = np.random.default_rng(SEED).random((len(features), len(blood))) < MISSING_SHARE
    features[:, blood] = np.where(gaps, np.nan, features[:, blood])
    names[names.index("age")] = "decade"
    kinds = ["Categorical" if name in ("decade", "sex") else "Numerical" for name in names]
    fifths = np.digitize(data.target, np.quantile(data.target, (0.2, 0.4, 0.6, 0.8)))
    train, valid, test = split(fifths)
    write_dataset(
        folder,
        "patients",
        task="regression",
        metric="abs",
        time_budget=TIME_BUDGET,
        train=(features[train], data.target[train]),
        valid=(features[valid], data.target[valid]),
        test=(features[test], data.target[test]),
        feat_types=kinds,
        feature_names=names,
    )


def split(strata: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row numbers of train (half), valid (a fifth) and test, each with its share of every stratum."""
    rest, test = train_test_split(np.arange(len(strata)), test_size=0.3, stratify=strata, random_state=SEED)
    train, valid = train_test_split(rest, test_size=2 / 7, stratify=strata[rest], random_state=SEED)
    return train, valid, test


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "sample_data")
