"""A compute worker: hears a doorbell, claims the run, runs it in a sandbox, reports.

`python -m ingestion.worker` starts one slot. It knows the site's address and its own token, never a database
and never a solution. With COMPUTE_BROKER_URL (or BROKER_URL) it hears doorbells from that broker; without, it
asks the site itself by long polling, so a worker on another machine needs an address and a token only. Further
environment: PODIUM_URL, PODIUM_WORKER_TOKEN, PODIUM_HOME, PODIUM_SANDBOX, PODIUM_SANDBOX_IMAGE.
"""

import hashlib
import logging
import os
import shutil
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

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
        self.datasets = folder / "datasets"
        self.runs = folder / "runs"
        self.stopping = threading.Event()
        self.job: Job | None = None

    def prepare(self) -> dict[str, Any]:
        """Clean what a killed predecessor left, and say hello; returns the site's answer."""
        shutil.rmtree(self.runs, ignore_errors=True)
        for path in (self.datasets, self.runs):
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
        for sentence in self.sandbox.clean_stale(self.owner):
            log.info("%s", sentence)
        return self.announce()

    def announce(self) -> dict[str, Any]:
        """Tell the site what this worker is and has."""
        return self.site.call(
            "announce",
            {
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
            try:
                run_id = self.site.call("next", {"wait_seconds": ASK_SECONDS})["run"]
            except (SiteError, Gone) as problem:
                log.warning("asking for a run failed: %s", problem)
                self.stopping.wait(PAUSE_SECONDS)
                continue
            if run_id is not None:
                self.take(run_id)

    def take(self, run_id: int) -> None:
        """Claim a run and do it; a run that is not to be had is somebody else's."""
        if self.stopping.is_set():
            return
        try:
            claimed = self.site.call(f"runs/{run_id}/claim", {})
        except Gone as answer:
            log.info("run %s: %s", run_id, answer)
            return
        except SiteError as problem:
            log.warning("run %s was not claimed: %s", run_id, problem)
            return
        log.info("run %s claimed, attempt %s", run_id, claimed["attempt"])
        folder = Path(tempfile.mkdtemp(prefix=f"run-{run_id}-", dir=self.runs))
        try:
            self.job = Job(claimed, site=self.site, sandbox=self.sandbox, capacity=self.capacity, owner=self.owner)
            self.job.do(folder, self.datasets)
        finally:
            self.job = None
            shutil.rmtree(folder, ignore_errors=True)

    def stop(self) -> None:
        """Stop the current run and give it back."""
        self.stopping.set()
        job = self.job
        if job is not None:
            job.release()


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
    answer = wait_for_site(worker)
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
