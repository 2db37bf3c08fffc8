"""One claimed run at a worker: fetch -> run -> upload -> report, with a heartbeat beside it.

A site that does not answer stops nothing: the run goes on, and what is due is said when the site is back, within
the grace that it gives. Who hears that the run went to somebody else stops at once.
"""

import contextlib
import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from ingestion import runner
from ingestion.budget import Budget, Capacity
from ingestion.dataset_cache import DatasetCache
from ingestion.programs.requests import ProgramProgress
from ingestion.runner import Progress, RunRequest, RunResult
from ingestion.sandbox import Sandbox
from ingestion.site import Gone, Site, SiteError, Unreachable, WrongToken
from ingestion.waits import Thinned, growing

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 3.0
GRACE_SECONDS = 600.0  # where the site does not tell how long it waits for a report
RELEASE_SECONDS = 10.0  # a worker that is being stopped tries no longer to give its run back
TAIL = 8_000

T = TypeVar("T")


class Damaged(Exception):
    """An input of the run is not what was fetched: a fault of ours, whatever the program made of it."""


class Job:
    """One attempt at a run, from the claim to the report. `kind` is what the protocol calls it."""

    kind = "run"

    def __init__(
        self,
        claimed: dict[str, Any],
        *,
        site: Site,
        sandbox: Sandbox,
        capacity: Capacity,
        owner: str,
        cpus: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.claimed, self.site, self.sandbox, self.capacity = claimed, site, sandbox, capacity
        self.owner, self.cpus = owner, cpus
        self.path = f"{self.kind}s/{claimed[self.kind]}"
        self.name = f"{self.kind} {claimed[self.kind]}"
        self.credentials = {"attempt": claimed["attempt"], "secret": claimed["secret"]}
        self.grace = float(claimed.get("lease_grace_seconds") or GRACE_SECONDS)
        self.stop = threading.Event()
        self.released = False
        self.cancelled = False
        self.lost = False
        self.progress: Progress | ProgramProgress | None = None
        self._clock = clock
        self._heard_at = clock()
        self._hurry = threading.Event()
        self._silence = Thinned(lambda text: log.warning("%s: %s", self.name, text), clock)

    def release(self) -> None:
        """Stop, because the worker stops; the site gives the run to another."""
        self.released = True
        self.stop.set()
        self._hurry.set()

    def do(self, folder: Path, datasets: DatasetCache) -> None:
        """Do the whole job; whatever goes wrong here is our fault and is reported as such."""
        with self._heartbeats():
            try:
                self._run(folder, datasets)
            except (Gone, SiteError) as problem:
                log.warning("%s: %s", self.name, problem)
                self._report_failure(str(problem))
            except Damaged as problem:
                self._report_failure(str(problem))
            except Exception:
                log.exception("%s failed at this worker", self.name)
                self._report_failure("The worker failed while it handled the run.")

    def _run(self, folder: Path, datasets: DatasetCache) -> None:
        path = self._archive(folder)
        with datasets.dataset(self.claimed["dataset"], self._download_dataset) as dataset:
            request = self._request(dataset, path, folder)
            result = runner.run(request, stop=self.stop, progress=self._keep)
            if result.status == "failed" and not self.stop.is_set():
                self._blame_nobody_for_damage(path, datasets)
        if not self.lost:
            self._report(result, folder)

    def _archive(self, folder: Path) -> Path:
        wanted = self.claimed["archive"]
        return self._insist(
            lambda: self.site.download(wanted["url"], folder / "archive.zip", sha256=wanted["sha256"])
        )

    def _download_dataset(self, url: str, target: Path) -> Path:
        wanted = self.claimed["dataset"]
        digests = {offered["url"]: offered["sha256"] for offered in (wanted, wanted.get("cache")) if offered}
        return self._insist(lambda: self.site.download(url, target, sha256=digests[url]))

    def _blame_nobody_for_damage(self, archive: Path, datasets: DatasetCache) -> None:
        """Look again at the inputs of a run that failed. Raises Damaged where they are not what was fetched."""
        with archive.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != self.claimed["archive"]["sha256"]:
                raise Damaged("The archive was damaged at the worker.")
        if not datasets.is_intact(self.claimed["dataset"]):
            raise Damaged("The worker's copy of the dataset was damaged. It was removed.")

    def _insist(self, action: Callable[[], T]) -> T:
        """The value of a call to the site, made again until it answers or nobody waits for it any more.

        Raises Gone and SiteError as the call does; Unreachable only after the grace.
        """
        began = self._clock()
        for pause in growing():
            try:
                return action()
            except Unreachable:
                patience = RELEASE_SECONDS if self.released else self.grace
                left = began + patience - self._clock()
                if self.lost or left <= 0:
                    raise
                self._wait(min(pause, left))
        raise AssertionError("pauses have no end")

    def _wait(self, seconds: float) -> None:
        self._hurry.wait(seconds)
        self._hurry.clear()

    def _keep(self, progress: Progress | ProgramProgress) -> None:
        self.progress = progress

    # Heartbeats ---------------------------------------------------------------------------------------------

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
            self.beat_once()
            if self.lost:
                return

    def beat_once(self) -> None:
        """Say how the run does and hear whether it is cancelled, or given to somebody else."""
        try:
            answer = self.site.call(f"{self.path}/heartbeat", {**self.credentials, **self._said()})
        except (Gone, WrongToken):
            # The site gave the run to somebody else, or wants nothing of this worker: whatever we have is late.
            self._lose()
        except SiteError as problem:
            self._silence.trouble(f"no heartbeat arrives, the run goes on: {problem}")
            if self._clock() - self._heard_at > self.grace:
                self._lose()
        else:
            self._heard_at = self._clock()
            self._silence.over("the site hears heartbeats again")
            self._hear(answer)

    def _said(self) -> dict[str, Any]:
        """How the run does, for a heartbeat."""
        now = self.progress
        if now is None:
            return {}
        tail = now.log_tail
        if isinstance(now, ProgramProgress):
            tail = tail or now.ingestion_log_tail
        return {
            "started": True,
            "wall_seconds": now.wall_seconds,
            "cpu_seconds": now.cpu_seconds,
            "memory_bytes": int(now.memory_bytes),
            "log_tail": tail[-TAIL:],
        }

    def _hear(self, answer: dict[str, Any]) -> None:
        """Do what the site's answer to a heartbeat asks."""
        if answer["cancel"]:
            self.cancelled = True
            self.stop.set()

    def _lose(self) -> None:
        self.lost = True
        self.stop.set()
        self._hurry.set()

    # Running and reporting ----------------------------------------------------------------------------------

    def _request(self, dataset: Path, archive: Path, folder: Path) -> RunRequest:
        wanted = self.claimed["dataset"]
        return RunRequest(
            dataset=dataset,
            submission=archive,
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
            cpus=self.cpus,
            told_seconds=self.claimed.get("told_seconds"),
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
            log.warning("%s could not be reported: %s", self.name, problem)

    def _upload(self, path: Path, name: str) -> None:
        """Send one file; a link is asked for anew each time, because it lives for minutes only."""
        size = path.stat().st_size

        def send() -> None:
            link = self.site.call(f"{self.path}/uploads", {**self.credentials, "name": name, "size": size})
            self.site.upload(link["url"], path)

        self._insist(send)

    def _send(self, body: dict[str, Any]) -> None:
        self._insist(lambda: self.site.call(f"{self.path}/report", {**self.credentials, **body}))


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
