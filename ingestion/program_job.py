"""One claimed run of a competition with its own programs: fetch -> predict -> upload -> report.

What scores it never comes here: no reference data, no scoring program.
"""

import hashlib
from pathlib import Path
from typing import Any

from ingestion import programs
from ingestion.budget import Budget
from ingestion.dataset_cache import DatasetCache
from ingestion.job import TAIL, Damaged, Job
from ingestion.programs.requests import PredictRequest, PredictResult

MOST_NOTES = 20
LONGEST_NOTE = 500


class ProgramJob(Job):
    """One attempt at a programmed run."""

    def _run(self, folder: Path, datasets: DatasetCache) -> None:
        request = self._predict_request(folder)
        result = programs.predict(request, stop=self.stop, progress=self._keep)
        if result.status == "failed" and not self.stop.is_set():
            self._refuse_damage(folder)
        if not self.lost:
            self._report_programs(result)

    def _predict_request(self, folder: Path) -> PredictRequest:
        wanted = self.claimed["programs"]
        return PredictRequest(
            submission=self._archive(folder),
            output=folder / "output",
            budget=Budget.from_json(self.claimed["budget"]).filled(self.capacity),
            sandbox=self.sandbox,
            ingestion=self._fetched(wanted["ingestion"], folder / "ingestion.zip"),
            ingestion_command=wanted["ingestion"]["command"] if wanted["ingestion"] else "",
            ingestion_name=wanted["ingestion"]["name"] if wanted["ingestion"] else "",
            input_data=self._fetched(wanted["input_data"], folder / "input_data.zip"),
            image=self.claimed["image"] or None,
            owner=self.owner,
            cpus=self.cpus,
            layout=wanted["layout"],
            seed=self.claimed["seed"],
        )

    def _fetched(self, wanted: dict[str, Any] | None, target: Path) -> Path | None:
        if wanted is None:
            return None
        return self._insist(lambda: self.site.download(wanted["url"], target, sha256=wanted["sha256"]))

    def _refuse_damage(self, folder: Path) -> None:
        """Look again at the inputs of a run that failed. Raises Damaged where they are not what was fetched."""
        wanted = self.claimed["programs"]
        for name, of in (
            ("archive.zip", self.claimed["archive"]),
            ("ingestion.zip", wanted["ingestion"]),
            ("input_data.zip", wanted["input_data"]),
        ):
            if of is not None and _sha256(folder / name) != of["sha256"]:
                raise Damaged(f"{name} was damaged at the worker.")

    def _report_programs(self, result: PredictResult) -> None:
        usage = _usage(result)
        if self.released or self.cancelled:
            self._send({"status": "released"} if self.released else {"status": "cancelled", **usage})
            return
        body: dict[str, Any] = {
            "status": result.status,
            "reason": result.reason,
            "sentence": result.sentence[:4000],
            "exits": result.metadata,
            "ingestion_lines": result.ingestion_lines[-TAIL // 2 :],
            "notes": [note[:LONGEST_NOTE] for note in result.notes[:MOST_NOTES]],
            **usage,
        }
        for key, name, path in (
            ("log", "log.txt", result.log_path),
            ("ingestion_log", "ingestion_log.txt", result.ingestion_log_path),
            ("output", "predictions.zip", result.predictions),
        ):
            if path is not None and path.exists():
                self._upload(path, name)
                body[key] = {"name": name, "sha256": _sha256(path), "size": path.stat().st_size}
        self._send(body)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _usage(result: PredictResult) -> dict[str, Any]:
    return {
        "wall_seconds": result.wall_seconds,
        "cpu_seconds": result.cpu_seconds,
        "peak_memory_bytes": int(result.peak_memory_bytes),
        "output_bytes": result.output_bytes,
        "prediction_bytes": result.predictions.stat().st_size if result.predictions else 0,
        "error_lines": result.error_lines[-TAIL // 2 :],
        "log_tail": result.log_tail[-TAIL:],
    }
