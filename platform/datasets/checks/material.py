"""What every check looks at: the facts of a dataset and its parsed parts, under the names of its files."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from ingestion.dataset import DatasetFacts, Parsed
from ingestion.dataset_files import dataset_folder, expanded_solution
from ingestion.program.info import read_lines

HIDDEN_PARTS = ("valid", "test")


def filled_counts(csr: Any) -> np.ndarray:
    """(columns,) how many values of each column of a CSR matrix are not 0."""
    indices = csr.indices if csr.data.all() else csr.indices[csr.data != 0]
    return np.bincount(indices, minlength=csr.shape[1])


@dataclass(frozen=True)
class Material:
    """One dataset before its checks. `name` is the prefix of its files."""

    name: str
    folder: Path
    facts: DatasetFacts
    parsed: Parsed

    def data(self, part: str) -> str:
        """The name of the file of a part's features."""
        return f"{self.name}_{part}.data"

    def solution(self, part: str) -> str:
        """The name of the file of a part's targets."""
        return f"{self.name}_{part}.solution"

    @property
    def is_sparse(self) -> bool:
        """Whether the features are CSR matrices."""
        return bool(scipy.sparse.issparse(self.parsed.features["train"]))

    @property
    def is_regression(self) -> bool:
        """Whether the targets are numbers."""
        return self.facts.task == "regression"

    @cached_property
    def feature_names(self) -> list[str]:
        """The names that the dataset gives its features, or none."""
        return self._names("_feat.name", self.facts.feat_num)

    @cached_property
    def label_names(self) -> list[str]:
        """The names that the dataset gives its classes or labels, or none."""
        return self._names("_label.name", self.facts.label_num)

    def _names(self, suffix: str, count: int) -> list[str]:
        path = dataset_folder(self.folder) / f"{self.name}{suffix}"
        names = read_lines(path) if path.is_file() else []
        return names if len(names) == count else []

    def feature(self, column: int) -> str:
        """What to call a feature: its number from 1, and its name where it has one."""
        name = f" ({self.feature_names[column]})" if self.feature_names else ""
        return f"feature {column + 1}{name}"

    def label(self, index: int) -> str:
        """What to call a class or label: its number from 0, and its name where it has one."""
        name = f" ({self.label_names[index]})" if self.label_names else ""
        return f"{index}{name}"

    def scored(self, part: str) -> Any:
        """The solution (n, columns) as predictions are scored against it: one-hot for multi-class tasks."""
        return expanded_solution(
            self.parsed.solutions[part], self.parsed.targets[part], self.facts.task, self.facts.label_num
        )

    def counts(self, part: str) -> Any:
        """Rows of each class, or for multi-label positive rows of each label, in one part of a classification."""
        targets = self.parsed.targets[part]
        if targets.ndim == 2:
            return targets.sum(axis=0)
        return np.bincount(targets, minlength=self.facts.label_num)
