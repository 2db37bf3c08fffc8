"""The chapter's table of the 30 datasets of 2015/2016, as the shared pages have it."""

from dataclasses import dataclass

import pytest

from datasets.card import Card
from tests.shared import SHARED

TASKS = {
    "binary": "binary.classification",
    "multiclass": "multiclass.classification",
    "multilabel": "multilabel.classification",
    "regression": "regression",
}


@dataclass(frozen=True)
class Row:
    """One dataset of the table; `printed` has the cells as text."""

    round: int
    name: str
    printed: dict[str, str]

    def card(self) -> Card:
        """The card that the printed numbers make."""
        told = self.printed
        return Card(
            name=self.name,
            task=TASKS[told["Task"]],
            metric=told["Metric"],
            time_budget=1200.0,
            classes=int(told["C"]),
            balance=float(told["Cbal"]) if told["Cbal"] else None,
            train_balance=float(told["Cbal"]) if told["Cbal"] else None,
            sparse=float(told["Sparse [recall]"]),
            missing=float(told["Miss"]),
            categorical=int(told["#Cat cols"]),
            irrelevant=None,
            test_rows=int(told["Pte"]),
            valid_rows=int(told["Pva"]),
            train_rows=int(told["Ptr"]),
            features=int(told["N"]),
            ratio=float(told["Ptr/N"]),
            targets=1,
            layout="sparse" if float(told["Sparse [recall]"]) >= 0.9 else "dense",
            is_chronological=False,
            types={},
            missing_features=0,
            missing_rows=0,
            shares=(),
            file_bytes={},
        )


def rows() -> list[Row]:
    """The 30 rows; skips the calling test where the shared pages are absent."""
    if SHARED is None:
        pytest.skip("the folder of shared cases is not beside the checkout (PODIUM_SHARED names another place)")
    head: list[str] = []
    found = []
    for line in (SHARED / "chapter.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells[:2] == ["Round", "Dataset"]:
            head = cells
        elif head and len(cells) == len(head) and cells[0].isdigit():
            found.append(Row(int(cells[0]), cells[1].lower(), dict(zip(head, cells, strict=True))))
        elif head and not line.startswith("|"):
            break
    assert len(found) == 30
    return found
