"""One claimed run at a worker: fetch -> run -> upload -> report, with a heartbeat beside it."""

import contextlib
import hashlib
import logging
import shutil
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingestion import runner
from ingestion.budget import Budget, Capacity
from ingestion.dataset import prepare_input
from ingestion.program.data import CACHE_FOLDER
from ingestion.runner import Progress, RunRequest, RunResult
from ingestion.sandbox import Sandbox
from ingestion.site import Gone, Site, SiteError

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 3.0
REPORT_TRIES = 5
TAIL = 8_000


@dataclass(frozen=True)
class Fetched:
    """The inputs of a run on this machine."""

    dataset: Path
    archive: Path


class Job:
    """One attempt, from the claim to the report."""

    def __init__(
        self, claimed: dict[str, Any], *, site: Site, sandbox: Sandbox, capacity: Capacity, owner: str
    ) -> None:
        self.claimed, self.site, self.sandbox, self.capacity = claimed, site, sandbox, capacity
        self.owner = owner
        self.path = f"runs/{claimed['run']}"
        self.credentials = {"attempt": claimed["attempt"], "secret": claimed["secret"]}
        self.stop = threading.Event()
        self.released = False
        self.cancelled = False
        self.lost = False
        self.progress: Progress | None = None

    def release(self) -> None:
        """Stop, because the worker stops; the site gives the run to another."""
        self.released = True
        self.stop.set()

    def do(self, folder: Path, datasets: Path) -> None:
        """Do the whole job; whatever goes wrong here is our fault and is reported as such."""
        with self._heartbeats():
            try:
                fetched = self._fetch(folder, datasets)
                result = runner.run(self._request(fetched, folder), stop=self.stop, progress=self._keep)
                if not self.lost:
                    self._report(result, folder)
            except (Gone, SiteError) as problem:
                log.warning("run %s: %s", self.claimed["run"], problem)
                self._report_failure(str(problem))
            except Exception:
                log.exception("run %s failed at this worker", self.claimed["run"])
                self._report_failure("The worker failed while it handled the run.")

    def _keep(self, progress: Progress) -> None:
        self.progress = progress

    @contextlib.contextmanager
    def _heartbeats(self) -> Iterator[None]:
        ended = threading.Event()
        thread = threading.Thread(target=self._beat, args=(ended,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join(timeout=30)

    def _beat(self, ended: threading.Event) -> None:
        while not ended.wait(HEARTBEAT_SECONDS if self.progress else 0.5):
            now = self.progress
            body: dict[str, Any] = dict(self.credentials)
            if now is not None:
                body |= {
                    "started": True,
                    "wall_seconds": now.wall_seconds,
                    "cpu_seconds": now.cpu_seconds,
                    "memory_bytes": int(now.memory_bytes),
                    "log_tail": now.log_tail[-TAIL:],
                }
            try:
                if self.site.call(f"{self.path}/heartbeat", body)["cancel"]:
                    self.cancelled = True
                    self.stop.set()
            except Gone:
                # The site gave the run to somebody else: whatever we have is late.
                self.lost = True
                self.stop.set()
                return
            except SiteError as problem:
                log.warning("heartbeat of run %s: %s", self.claimed["run"], problem)

    def _fetch(self, folder: Path, datasets: Path) -> Fetched:
        archive = self.site.download(
            self.claimed["archive"]["url"], folder / "archive.zip", sha256=self.claimed["archive"]["sha256"]
        )
        return Fetched(self._dataset(datasets), archive)

    def _dataset(self, datasets: Path) -> Path:
        """The unpacked public files of the dataset, kept between runs by the hash of their zip."""
        wanted = self.claimed["dataset"]
        kept = datasets / str(wanted["sha256"])
        if not kept.exists():
            zipped = self.site.download(
                wanted["url"], datasets / f"{wanted['sha256']}.zip", sha256=wanted["sha256"]
            )
            scratch = datasets / f"{wanted['sha256']}.new"
            for leftover in (scratch, datasets / f"{wanted['sha256']}.laid"):
                shutil.rmtree(leftover, ignore_errors=True)
            with zipfile.ZipFile(zipped) as archive:
                archive.extractall(scratch)
            zipped.unlink()
            # The text is parsed here once; every later run of this dataset starts from the binary cache.
            laid = prepare_input(scratch / wanted["name"], datasets / f"{wanted['sha256']}.laid")
            (laid / CACHE_FOLDER).rename(scratch / wanted["name"] / CACHE_FOLDER)
            shutil.rmtree(laid)
            scratch.rename(kept)
        return kept / str(wanted["name"])

    def _request(self, fetched: Fetched, folder: Path) -> RunRequest:
        wanted = self.claimed["dataset"]
        return RunRequest(
            dataset=fetched.dataset,
            submission=fetched.archive,
            output=folder / "output",
            budget=Budget.from_json(self.claimed["budget"]).filled(self.capacity),
            sandbox=self.sandbox,
            image=self.claimed["image"] or None,
            any_time=self.claimed["any_time"],
            seed=self.claimed["seed"],
            alias=wanted["alias"] if wanted["alias"] != wanted["name"] else None,
            metric=wanted["metric"],
            load_models=self.claimed["load_models"],
            owner=self.owner,
        )

    def _report(self, result: RunResult, folder: Path) -> None:
        if self.released:
            self._send({"status": "released"})
            return
        if self.cancelled:
            self._send({"status": "cancelled", **_usage(result)})
            return
        predictions = []
        for found in result.predictions if result.status == "ok" else []:
            self._upload(found.path, found.name)
            predictions.append(
                {
                    "name": found.name,
                    "part": found.part,
                    "number": found.number,
                    "seconds": found.seconds,
                    "sha256": found.sha256,
                    "size": found.bytes,
                }
            )
        body: dict[str, Any] = {
            "status": result.status,
            "reason": result.reason,
            "sentence": result.sentence[:4000],
            "predictions": predictions,
            **_usage(result),
        }
        if result.log_path is not None and result.log_path.exists():
            self._upload(result.log_path, "log.txt")
            body["log"] = {
                "name": "log.txt",
                "sha256": hashlib.sha256(result.log_path.read_bytes()).hexdigest(),
                "size": result.log_path.stat().st_size,
            }
        self._send(body)

    def _report_failure(self, sentence: str) -> None:
        if self.lost:
            return
        status: dict[str, Any] = {"status": "failed", "reason": "infrastructure", "sentence": sentence[:4000]}
        if self.released:
            status = {"status": "released"}
        try:
            self._send(status)
        except (Gone, SiteError) as problem:
            log.warning("run %s could not be reported: %s", self.claimed["run"], problem)

    def _upload(self, path: Path, name: str) -> None:
        size = path.stat().st_size
        link = self.site.call(f"{self.path}/uploads", {**self.credentials, "name": name, "size": size})
        self.site.upload(link["url"], path)

    def _send(self, body: dict[str, Any]) -> None:
        """Report; the site may be restarting, so a call that fails is made again for a while."""
        pause = threading.Event()
        for left in reversed(range(REPORT_TRIES)):
            try:
                self.site.call(f"{self.path}/report", {**self.credentials, **body})
                return
            except SiteError:
                if not left:
                    raise
                pause.wait(3.0)


def _usage(result: RunResult) -> dict[str, Any]:
    return {
        "wall_seconds": result.wall_seconds or 0.0,
        "cpu_seconds": result.cpu_seconds or 0.0,
        "peak_memory_bytes": int(result.peak_memory_bytes or 0),
        "output_bytes": result.output_bytes,
        "prediction_bytes": result.prediction_bytes,
        "error_lines": result.error_lines[-TAIL // 2 :],
        "log_tail": result.log_tail[-TAIL:],
    }
