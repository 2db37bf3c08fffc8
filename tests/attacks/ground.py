"""What attacks are run against: a small dataset with recognisable labels, and an honest submission."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from pathlib import Path

from ingestion.budget import MIB, Budget
from ingestion.runner import RunRequest, run
from ingestion.sandbox import Sandbox
from ingestion.verdict import RunResult
from scoring import BadPredictionError, score
from scoring.reading import read_table
from tests.attacks.cases import Case
from tests.attacks.inside import ROWS

# Numbers that stand nowhere else on a disk: whoever finds one has found a hidden label.
HIDDEN = {"valid": 31337.1875, "test": 31337.8125}
SECRET = "a-description-for-the-organizer-alone"
DEFAULT_BUDGET: dict[str, float] = {
    "wall_seconds": 30.0,
    "cores": 1,
    "memory_bytes": 256 * MIB,
    "processes": 64,
    "output_bytes": 8 * MIB,
    "output_files": 200,
    "log_bytes": 64 * 1024,
}
HONEST = """
    import numpy as np
    class Model:
        def __init__(self, info):
            self.rows = info["train_num"]
        def fit(self, X, y):
            self.weights, *_ = np.linalg.lstsq(np.c_[X, np.ones(len(X))], y, rcond=None)
        def predict(self, X):
            return np.c_[X, np.ones(len(X))] @ self.weights
"""


def write_dataset(folder: Path) -> Path:
    """A regression of 6, 3 and 4 rows with all of its labels."""
    folder.mkdir(parents=True)
    for part, rows in (("train", 6), *ROWS.items()):
        base = HIDDEN.get(part, 1.0)
        (folder / f"tiny_{part}.data").write_text("".join(f"{row} {row % 2}\n" for row in range(rows)))
        (folder / f"tiny_{part}.solution").write_text("".join(f"{base + row}\n" for row in range(rows)))
    (folder / "tiny_public.info").write_text(
        "name = 'tiny'\ntask = 'regression'\nmetric = 'r2_metric'\ntime_budget = 30\n"
        "feat_num = 2\ntarget_num = 1\nlabel_num = 0\ntrain_num = 6\nvalid_num = 3\ntest_num = 4\n"
    )
    (folder / "tiny_private.info").write_text(f"title = '{SECRET}'\n")
    return folder


@dataclass
class Ground:
    """Runs attacks and honest submissions in one sandbox, all under one owner's name."""

    sandbox: Sandbox
    folder: Path
    owner: str
    runs: int = 0
    honest_prints: list[tuple[str, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.dataset = write_dataset(self.folder / "tiny")

    @property
    def seed(self) -> int:
        """The seed of the latest run, which marks its processes: no other run on this machine has it."""
        return abs(hash((self.owner, self.runs))) % 10**12 + 10**12

    def run(self, submission: Path, budget: dict[str, float], **options: object) -> RunResult:
        """One run with the default budget, changed by `budget`."""
        self.runs += 1
        values = {**DEFAULT_BUDGET, **budget}
        request = RunRequest(
            dataset=self.dataset,
            submission=submission,
            output=self.folder / f"output-{self.runs}",
            budget=Budget.from_json(values),
            sandbox=self.sandbox,
            owner=self.owner,
            seed=self.seed,
            **options,  # type: ignore[arg-type]
        )
        return run(request)

    def attack(self, case: Case) -> RunResult:
        """The result of an attack."""
        return self.run(case.write(self.folder / f"attack-{self.runs}"), case.budget, **case.options)

    def honest(self) -> tuple[str, ...]:
        """Fingerprints of what the honest submission predicts now. Raises AssertionError where it fails."""
        folder = self.folder / "honest"
        if not folder.exists():
            folder.mkdir()
            (folder / "model.py").write_text(textwrap.dedent(HONEST))
        result = self.run(folder, {"memory_bytes": 512 * MIB, "wall_seconds": 120.0})
        assert result.status == "ok" and result.reason is None, result
        return tuple(sorted(f"{file.name} {file.sha256}" for file in result.predictions))

    def scorer_says(self, result: RunResult) -> str:
        """`refused: ...` for the first file that the scorer refuses, else the value of the last."""
        told = "nothing to score"
        for file in result.predictions:
            solution = read_table(self.dataset / f"tiny_{file.part}.solution", what="solution")
            try:
                prediction = read_table(file.path, shape=solution.shape)
                told = str(score(solution, prediction, task="regression", metric="R2").value)
            except BadPredictionError as error:
                return f"refused: {error}"
        return told
