"""The card of a dataset: the columns of the chapter's table of datasets, classes, types, gaps and size on disk."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from ingestion.dataset import DatasetFacts, Parsed, check_dataset, public_files
from ingestion.dataset_files import dataset_folder
from ingestion.program.errors import printable
from ingestion.program.info import FEATURE_TYPES, find_name, read_lines


class Shown(StrEnum):
    """How much of a card people may see who are no organizers."""

    NOTHING = "nothing"
    """A blind phase that is not revealed: not even the size."""
    CONCEALED = "concealed"
    """What anybody could compute from the public files, without names of classes."""
    NAMED = "named"
    """The same with the dataset's own name and the names of its classes."""
    ALL = "all"
    """Everything: the hidden part's class balance and the share of probes too."""


@dataclass(frozen=True)
class ClassShare:
    """Training rows of one class, or with one label, and their share of all (labels: of all occurrences)."""

    label: str
    rows: int
    share: float


@dataclass(frozen=True)
class Card:
    """What a dataset is, in numbers. Names in brackets are the chapter's columns.

    `classes` (C) is 0 for regression. `balance` (Cbal) is the entropy of the classes over its largest value, by
    label occurrences for multi-label, of the test solution where it is there; `train_balance` the same of the
    training part; None for regression. `sparse` (Sparse) and `missing` (Miss) are shares of the training values
    that are 0 or missing; `irrelevant` (Irr) is the share of probes among the features, None where nobody said.
    `categorical` (Cat) counts features. `ratio` (Ptr/N) is training rows by features. `file_bytes` are the sizes
    of the public files by their endings. `shares` has the classes in order, none for regression.
    """

    name: str
    task: str
    metric: str
    time_budget: float | None
    classes: int
    balance: float | None
    train_balance: float | None
    sparse: float
    missing: float
    categorical: int
    irrelevant: float | None
    test_rows: int
    valid_rows: int
    train_rows: int
    features: int
    ratio: float
    targets: int
    layout: str
    is_chronological: bool
    types: dict[str, int]
    missing_features: int
    missing_rows: int
    shares: tuple[ClassShare, ...]
    file_bytes: dict[str, int]

    @property
    def public_bytes(self) -> int:
        """Size of all public files on disk, before they are zipped."""
        return sum(self.file_bytes.values())

    def row(self) -> dict[str, Any]:
        """The chapter's columns by their names there."""
        return {
            "C": self.classes,
            "Cbal": self.balance,
            "Sparse": self.sparse,
            "Miss": self.missing,
            "Cat": self.categorical,
            "Irr": self.irrelevant,
            "Pte": self.test_rows,
            "Pva": self.valid_rows,
            "Ptr": self.train_rows,
            "N": self.features,
            "Ptr/N": self.ratio,
        }

    def to_json(self) -> dict[str, Any]:
        """The fields in plain lists, dictionaries, numbers and text."""
        return {**asdict(self), "shares": [asdict(share) for share in self.shares]}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Card":
        """The card that `to_json` wrote; fields of another release are passed over."""
        known = {field.name for field in fields(cls)}
        values = {key: value for key, value in stored.items() if key in known}
        values["shares"] = tuple(ClassShare(**share) for share in values["shares"])
        return cls(**values)


def make_card(
    folder: Path, facts: DatasetFacts, *, parsed: Parsed | None = None, irrelevant: float | None = None
) -> Card:
    """The card of a dataset whose format is in order.

    parsed: what `check_dataset` read, so that the text is not read again. irrelevant: the share of probes among
    the features, where whoever made the dataset knows it.
    """
    folder = dataset_folder(folder)
    parsed = parsed or check_dataset(folder).parsed
    if parsed is None:
        raise ValueError(f"{folder.name} cannot be read; check its format first")
    name = find_name(folder)
    train = parsed.features["train"]
    missing_features, missing_rows = _gaps(train)
    hidden = parsed.targets.get("test", parsed.targets["train"])
    return Card(
        name=name,
        task=facts.task,
        metric=facts.metric,
        time_budget=facts.time_budget,
        classes=facts.label_num,
        balance=class_balance(hidden, facts.task, facts.label_num),
        train_balance=class_balance(parsed.targets["train"], facts.task, facts.label_num),
        sparse=facts.sparsity,
        missing=facts.missing_fraction,
        categorical=facts.categorical_count,
        irrelevant=irrelevant,
        test_rows=facts.test_num,
        valid_rows=facts.valid_num,
        train_rows=facts.train_num,
        features=facts.feat_num,
        ratio=facts.ratio,
        targets=facts.target_num,
        layout=facts.layout,
        is_chronological=facts.is_chronological,
        types={kind: parsed.types.count(kind) for kind in FEATURE_TYPES},
        missing_features=missing_features,
        missing_rows=missing_rows,
        shares=_shares(parsed.targets["train"], facts, _label_names(folder, name, facts.label_num)),
        file_bytes={path.name.removeprefix(name): path.stat().st_size for path in public_files(folder)},
    )


def public_card(card: Card, *, shown: Shown, name: str = "") -> Card | None:
    """The card as people see it who are no organizers; None where they may see nothing.

    name: what they know the dataset by, where it is concealed. The class balance is then that of the training
    part, and the share of probes is left out, because neither can be computed from what they have.
    """
    if shown == Shown.NOTHING:
        return None
    if shown == Shown.ALL:
        return card
    seen = replace(card, balance=card.train_balance, irrelevant=None)
    if shown == Shown.NAMED:
        return seen
    shares = tuple(replace(share, label=str(index)) for index, share in enumerate(card.shares))
    files = {ending: size for ending, size in card.file_bytes.items() if not ending.endswith(".name")}
    return replace(seen, name=name or "concealed", shares=shares, file_bytes=files)


def class_balance(targets: Any, task: str, classes: int) -> float | None:
    """Cbal: the entropy of the classes over its largest value, from 0 to 1; None for regression.

    targets: as a model gets them. Multi-label by occurrences of labels, as the chapter's table has it.
    """
    if task == "regression":
        return None
    counts = _class_counts(targets, classes).astype(np.float64)
    if counts.size < 2 or not counts.sum():
        return 0.0
    shares = counts[counts > 0] / counts.sum()
    return max(0.0, float(-(shares * np.log(shares)).sum() / math.log(counts.size)))


def _class_counts(targets: Any, classes: int) -> np.ndarray:
    if targets.ndim == 2:
        return np.asarray(targets.sum(axis=0))
    return np.bincount(targets, minlength=classes)


def _shares(targets: Any, facts: DatasetFacts, names: list[str]) -> tuple[ClassShare, ...]:
    if facts.task == "regression":
        return ()
    counts = _class_counts(targets, facts.label_num).tolist()
    total = max(1, sum(counts))
    labels = names or [str(index) for index in range(len(counts))]
    return tuple(ClassShare(label, int(rows), rows / total) for label, rows in zip(labels, counts, strict=True))


def _label_names(folder: Path, name: str, count: int) -> list[str]:
    path = folder / f"{name}_label.name"
    # Not as they are: a zero byte is no text for PostgreSQL.
    names = [printable(line) for line in read_lines(path)] if path.is_file() else []
    return names if len(names) == count else []


def _gaps(features: Any) -> tuple[int, int]:
    """Features and rows that have a missing value."""
    if not scipy.sparse.issparse(features):
        gaps = np.isnan(features)
        return int(gaps.any(axis=0).sum()), int(gaps.any(axis=1).sum())
    gaps = np.isnan(features.data)
    if not gaps.any():
        return 0, 0
    rows = np.repeat(np.arange(features.shape[0]), np.diff(features.indptr))
    return int(np.unique(features.indices[gaps]).size), int(np.unique(rows[gaps]).size)
