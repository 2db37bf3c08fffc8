"""One claimed readiness check at a worker: fetch -> run on every trait -> report row by row.

Each row is reported when its run has ended, so that a check which is interrupted goes on where it was. Runs of the
contest come first: when one waits for this worker, the site says so, and the check is given back.
"""

from pathlib import Path
from typing import Any

from ingestion.budget import Budget
from ingestion.dataset_cache import DatasetCache
from ingestion.job import TAIL, Damaged, Job
from ingestion.readiness import ReadinessRequest, Row, check_traits
from ingestion.traits import Trait, trait_named


class CheckJob(Job):
    """One attempt at a readiness check."""

    kind = "check"
    gives_way = False
    trait = ""

    def _run(self, folder: Path, datasets: DatasetCache) -> None:
        request = ReadinessRequest(
            submission=self._archive(folder),
            output=folder / "output",
            budget=Budget.from_json(self.claimed["budget"]).filled(self.capacity),
            sandbox=self.sandbox,
            image=self.claimed["image"] or None,
            seed=self.claimed["seed"],
            owner=self.owner,
            cpus=self.cpus,
            traits=[trait_named(name) for name in self.claimed["traits"]],
        )
        check_traits(request, stop=self.stop, on_start=self._begin, progress=self._keep, on_row=self._tell)
        if not self.lost:
            self._send({"status": self._status()})

    def _status(self) -> str:
        if self.cancelled:
            return "cancelled"
        return "released" if self.released or self.gives_way else "finished"

    def _begin(self, trait: Trait) -> None:
        self.trait, self.progress = trait.name, None

    def _tell(self, row: Row) -> None:
        """Report one row with its log. Raises Damaged where this machine failed: that is no row."""
        if row.reason == "infrastructure":
            raise Damaged(row.sentence)
        log_text = "" if row.log_path is None else row.log_path.read_text(encoding="utf-8", errors="replace")
        said = {
            **row.to_json(),
            "sentence": row.sentence[:4000],
            "log_tail": row.log_tail[-TAIL:],
            "log": log_text,
        }
        self._insist(lambda: self.site.call(f"{self.path}/rows", {**self.credentials, **said}))

    def _said(self) -> dict[str, Any]:
        now = self.progress
        return {"trait": self.trait, "wall_seconds": now.wall_seconds if now else 0.0}

    def _hear(self, answer: dict[str, Any]) -> None:
        super()._hear(answer)
        if answer["give_way"]:
            self.gives_way = True
            self.stop.set()
