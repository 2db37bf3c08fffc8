"""A compute worker: hears a doorbell, claims the run, runs it in a sandbox, reports.

`python -m ingestion.worker` starts one slot. It knows the site's address and its own token, never a database
and never a solution. With COMPUTE_BROKER_URL (or BROKER_URL) it hears doorbells from that broker; without, it
asks the site itself by long polling, so a worker on another machine needs an address and a token only. Further
environment: PODIUM_URL, PODIUM_WORKER_TOKEN, PODIUM_HOME, PODIUM_SANDBOX, PODIUM_SANDBOX_IMAGE.
"""

import fcntl
import hashlib
import logging
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any

from celery import Celery
from celery import signals as celery_signals

from ingestion.broker import broker_options
from ingestion.budget import Capacity
from ingestion.job import Job
from ingestion.sandbox import NoSandbox, Sandbox, choose_sandbox
from ingestion.site import Gone, Site, SiteError

log = logging.getLogger("ingestion.worker")

ANNOUNCE_SECONDS = 10.0
ASK_SECONDS = 10.0
PAUSE_SECONDS = 3.0


class ComputeWorker:
    """One slot: at most one run at a time, with the worker's cores to itself."""

    def __init__(self, *, site: Site, sandbox: Sandbox, capacity: Capacity, folder: Path) -> None:
        self.site, self.sandbox, self.capacity = site, sandbox, capacity
        # Whose runs these are, so that a successor finds what this worker left behind if it is killed.
        self.owner = f"podium-worker-{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}"
        self.folder = folder
        self.lock: IO[str] | None = None
        self.datasets = folder / "datasets"
        self.runs = folder / "runs"
        self.stopping = threading.Event()
        self.job: Job | None = None

    def prepare(self) -> dict[str, Any]:
        """Clean what a killed predecessor left, and say hello; returns the site's answer."""
        self._take_folder()
        shutil.rmtree(self.runs, ignore_errors=True)
        for path in (self.datasets, self.runs):
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
        for sentence in self.sandbox.clean_stale(self.owner):
            log.info("%s", sentence)
        return self.announce(starting=True)

    def _take_folder(self) -> None:
        """Hold the folder for this process alone: a second worker in it would remove the runs of the first."""
        if self.lock is not None:
            return
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (self.folder / "lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            lock.close()
            raise FolderInUse(
                f"Another worker works in {self.folder}. "
                "Give this one a name of its own: ./podium worker --name NAME"
            ) from problem
        self.lock = lock

    def announce(self, *, starting: bool = False) -> dict[str, Any]:
        """Tell the site what this worker is and has; one that is `starting` holds no run any more."""
        return self.site.call(
            "announce",
            {
                "starting": starting,
                "sandbox": self.sandbox.name,
                "cores": self.capacity.cores,
                "memory_bytes": self.capacity.memory_bytes,
            },
        )

    def keep_announcing(self) -> None:
        """Announce every few seconds until the worker stops; runs in a thread of its own."""
        while not self.stopping.wait(ANNOUNCE_SECONDS):
            try:
                self.announce()
            except (SiteError, Gone) as problem:
                log.warning("announcing failed: %s", problem)

    def keep_asking(self) -> None:
        """Ask the site for runs, one after the other, until the worker stops."""
        while not self.stopping.is_set():
            asked_at = time.monotonic()
            try:
                run_id = self.site.call("next", {"wait_seconds": ASK_SECONDS})["run"]
            except (SiteError, Gone) as problem:
                log.warning("asking for a run failed: %s", problem)
                self.stopping.wait(PAUSE_SECONDS)
                continue
            if run_id is None:
                # A site that lets too many wait answers at once.
                self.stopping.wait(max(0.0, PAUSE_SECONDS - (time.monotonic() - asked_at)))
            elif not self.take(run_id):
                self.stopping.wait(PAUSE_SECONDS)

    def take(self, run_id: int) -> bool:
        """Claim a run and do it; a run that is not to be had is somebody else's. Returns whether it was ours."""
        if self.stopping.is_set():
            return False
        # Made before the claim: where there is no room for it, the run stays for others.
        try:
            folder = Path(tempfile.mkdtemp(prefix=f"run-{run_id}-", dir=self.runs))
        except OSError as problem:
            log.error("there is no room for run %s: %s", run_id, problem)
            return False
        try:
            return self._do(run_id, folder)
        finally:
            self.job = None
            shutil.rmtree(folder, ignore_errors=True)

    def _do(self, run_id: int, folder: Path) -> bool:
        try:
            claimed = self.site.call(f"runs/{run_id}/claim", {})
        except Gone as answer:
            log.info("run %s: %s", run_id, answer)
            return False
        except SiteError as problem:
            log.warning("run %s was not claimed: %s", run_id, problem)
            return False
        log.info("run %s claimed, attempt %s", run_id, claimed["attempt"])
        job = Job(claimed, site=self.site, sandbox=self.sandbox, capacity=self.capacity, owner=self.owner)
        self.job = job
        if self.stopping.is_set():
            job.release()  # it was stopped while it claimed, when there was nothing to release yet
        job.do(folder, self.datasets)
        return True

    def stop(self) -> None:
        """Stop the current run and give it back."""
        self.stopping.set()
        job = self.job
        if job is not None:
            job.release()


class FolderInUse(Exception):
    """Another worker process has this worker's folder."""


def queues(answer: dict[str, Any]) -> list[str]:
    """The queues of a worker's class; trusted workers also hear blind phases."""
    name = f"compute.{answer['resource_class']}"
    return [name, f"{name}.trusted"] if answer["trusted"] else [name]


def make_app(worker: ComputeWorker, *, broker_url: str, folder: Path) -> Celery:
    """The Celery app that hears doorbells for a worker.

    Doorbells are acknowledged early and may be lost: the site rings again. One process without a pool takes one
    doorbell at a time, so a busy worker never holds back a doorbell that an idle one could answer.
    """
    app = Celery("podium-compute")
    app.conf.update(
        broker_url=broker_url,
        broker_transport_options=broker_options(broker_url, folder),
        broker_connection_retry_on_startup=True,
        broker_heartbeat=0,
        accept_content=["json"],
        task_ignore_result=True,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_enable_remote_control=False,
    )

    @app.task(name="ingestion.run")  # type: ignore[untyped-decorator]
    def run(run_id: int) -> None:
        worker.take(int(run_id))

    @celery_signals.worker_shutting_down.connect(weak=False)  # type: ignore[untyped-decorator]
    def stop(**kwargs: Any) -> None:
        worker.stop()

    return app


def main() -> int:
    """Start one worker; returns 0 when it was stopped, 1 when it cannot work here."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    token = os.environ.get("PODIUM_WORKER_TOKEN", "")
    url = os.environ.get("PODIUM_URL", "http://127.0.0.1:8000")
    if not token:
        sys.stderr.write(
            "PODIUM_WORKER_TOKEN is not set. Make a token on the site: ./podium manage worker_token NAME\n"
        )
        return 1
    home = Path(os.environ.get("PODIUM_HOME") or Path(__file__).resolve().parent.parent / "var")
    try:
        sandbox = choose_sandbox(image=os.environ.get("PODIUM_SANDBOX_IMAGE") or None)
    except NoSandbox as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    worker = ComputeWorker(
        site=Site(url, token),
        sandbox=sandbox,
        capacity=Capacity.of_this_machine(),
        folder=home / "worker" / os.environ.get("PODIUM_WORKER_NAME", "local"),
    )
    try:
        answer = wait_for_site(worker)
    except (SiteError, Gone, FolderInUse) as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    threading.Thread(target=worker.keep_announcing, daemon=True).start()
    log.info("worker %s is ready, sandbox %s", answer["worker"], sandbox.name)
    broker = os.environ.get("COMPUTE_BROKER_URL") or os.environ.get("BROKER_URL")
    if not broker:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: worker.stop())
        worker.keep_asking()
        return 0
    app = make_app(worker, broker_url=broker, folder=home / "broker" / "compute")
    app.worker_main(
        [
            *("worker", "--pool=solo", "--loglevel=INFO"),
            *("--without-gossip", "--without-mingle", "--without-heartbeat"),
            f"--queues={','.join(queues(answer))}",
        ]
    )
    return 0


def wait_for_site(worker: ComputeWorker, *, seconds: float = 120.0) -> dict[str, Any]:
    """Say hello until the site answers; raises SiteError when it does not for two minutes."""
    pause = threading.Event()
    waited = 0.0
    while True:
        try:
            return worker.prepare()
        except SiteError as problem:
            if waited >= seconds or "token" in str(problem):
                raise
            log.info("waiting for the site: %s", problem)
            pause.wait(1.0)
            waited += 1.0


if __name__ == "__main__":
    sys.exit(main())
