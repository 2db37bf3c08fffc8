"""A compute worker: hears a doorbell, claims the run, runs it in a sandbox, reports.

`python -m ingestion.worker` starts one slot. It knows the site's address and its own token, never a database
and never a solution. With COMPUTE_BROKER_URL (or BROKER_URL) it hears doorbells from that broker; without, it
asks the site itself by long polling, so a worker on another machine needs an address and a token only. Further
environment: PODIUM_URL, PODIUM_WORKER_TOKEN, PODIUM_HOME, PODIUM_SANDBOX, PODIUM_SANDBOX_IMAGE,
PODIUM_WORKER_SLOTS (how many slots share this machine), PODIUM_CACHE_SIZE (how much of datasets is kept).
"""

import dataclasses
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
from ingestion.budget import Capacity, parse_size
from ingestion.check_job import CheckJob
from ingestion.dataset_cache import DEFAULT_LIMIT, DatasetCache
from ingestion.image_names import allowed_images
from ingestion.job import Job
from ingestion.program_job import ProgramJob
from ingestion.sandbox import NoSandbox, Sandbox, SandboxError, choose_sandbox
from ingestion.sandbox.cpus import Share, take_share
from ingestion.site import Gone, Site, SiteError, WrongToken, address_problem
from ingestion.waits import Thinned, growing

log = logging.getLogger("ingestion.worker")

ANNOUNCE_SECONDS = 10.0
ASK_SECONDS = 10.0
PAUSE_SECONDS = 3.0
SHARE_SECONDS = 30.0  # how long a worker with a run in sight waits for its cores before it lets others try
FASTER_WORKERS = 5  # how often a run may be lost to a faster worker before the next doorbell is waited for
NOT_AGAIN = 78  # exit code: what is wrong is not mended by starting again


class ComputeWorker:
    """One slot: at most one run at a time, with its cores and its memory to itself.

    machine: all that is here; slots: how many runs share it at once. What one run gets is `capacity`. Raises
    ValueError where so many slots do not fit.
    """

    def __init__(
        self,
        *,
        site: Site,
        sandbox: Sandbox,
        machine: Capacity,
        folder: Path,
        slots: int = 1,
        cache_bytes: int = DEFAULT_LIMIT,
    ) -> None:
        self.site, self.sandbox, self.machine = site, sandbox, machine
        self.capacity = machine.for_a_run(slots)
        # Whose runs these are, so that a successor finds what this worker left behind if it is killed.
        self.owner = f"podium-worker-{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}"
        self.folder = folder
        self.lock: IO[str] | None = None
        self.datasets = DatasetCache(folder / "datasets", limit=cache_bytes)
        self.runs = folder / "runs"
        self.stopping = threading.Event()
        self.job: Job | None = None
        self.dismissed = False
        self._full = Thinned(log.info)
        # Which images may be asked for: the site says so in its answers.
        self.allowed_images: tuple[str, ...] = allowed_images()

    def prepare(self) -> dict[str, Any]:
        """Clean what a killed predecessor left, and say hello; returns the site's answer."""
        self._take_folder()
        shutil.rmtree(self.runs, ignore_errors=True)
        self.runs.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.datasets.open()
        for sentence in self.sandbox.clean_stale(self.owner):
            log.info("%s", sentence)
        expected = self.allowed_images
        answer = self.announce(starting=True)
        return answer if self.allowed_images == expected else self.announce()

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
        answer = self.site.call(
            "announce",
            {
                "starting": starting,
                "sandbox": self.sandbox.name,
                "cores": self.capacity.cores,
                "memory_bytes": self.capacity.memory_bytes,
                "machine_cores": self.machine.cores,
                "machine_memory_bytes": self.machine.memory_bytes,
                "default_image": self.sandbox.default_image,
                "images": self._images(),
            },
        )
        self.allowed_images = tuple(answer.get("images", self.allowed_images))
        return answer

    def _images(self) -> list[dict[str, Any]]:
        """The images of this machine in which runs may happen; none while its engine does not answer."""
        wanted = (self.sandbox.default_image, *self.allowed_images)
        try:
            return [dataclasses.asdict(image) for image in self.sandbox.images(wanted)]
        except SandboxError as problem:
            log.warning("the images of this machine are not known: %s", problem)
            return []

    def keep_announcing(self) -> None:
        """Announce every few seconds until the worker stops; runs in a thread of its own."""
        silence = Thinned(log.warning)
        while not self.stopping.wait(ANNOUNCE_SECONDS):
            self.datasets.sweep()
            try:
                self.announce()
                silence.over("the site answers again")
            except WrongToken as problem:
                self.dismiss(str(problem))
            except (SiteError, Gone) as problem:
                silence.trouble(f"announcing failed: {problem}")

    def keep_asking(self) -> None:
        """Ask the site for runs, one after the other, until the worker stops."""
        silence, pauses = Thinned(log.warning), growing(PAUSE_SECONDS)
        while not self.stopping.is_set():
            asked_at = time.monotonic()
            try:
                answer = self.site.call("next", {"wait_seconds": ASK_SECONDS})
            except WrongToken as problem:
                self.dismiss(str(problem))
                continue
            except (SiteError, Gone) as problem:
                silence.trouble(f"asking for a run failed: {problem}")
                self.stopping.wait(next(pauses))
                continue
            silence.over("the site answers again")
            pauses = growing(PAUSE_SECONDS)
            kind = "run" if answer["run"] is not None else "check"
            number = answer.get(kind)
            if number is None:
                # A site that lets too many wait answers at once.
                self.stopping.wait(max(0.0, PAUSE_SECONDS - (time.monotonic() - asked_at)))
            elif not self.take(number, kind):
                self.stopping.wait(PAUSE_SECONDS)

    def answer_doorbell(self) -> None:
        """Take the run that is next for this worker now.

        A doorbell that waited in its queue names a run that others have come before since. So it only wakes.
        """
        for _ in range(FASTER_WORKERS):
            try:
                run_id = self.site.call("next", {"wait_seconds": 0})["run"]
            except WrongToken as problem:
                return self.dismiss(str(problem))
            except (SiteError, Gone) as problem:
                log.warning("asking for a run failed: %s", problem)
                return
            if run_id is None or self.take(run_id):
                return

    def take(self, number: int, kind: str = "run") -> bool:
        """Claim a run, or a check of readiness, and do it; returns whether it was to be had."""
        if self.stopping.is_set():
            return False
        # Taken before the claim, as the folder is: where there is no room, the run stays for others.
        share = self._share()
        if share is None:
            return False
        try:
            folder = Path(tempfile.mkdtemp(prefix=f"{kind}-{number}-", dir=self.runs))
        except OSError as problem:
            share.release()
            log.error("there is no room for %s %s: %s", kind, number, problem)
            return False
        try:
            return self._do(kind, number, folder, share)
        finally:
            self.job = None
            shutil.rmtree(folder, ignore_errors=True)
            share.release()

    def _share(self) -> Share | None:
        """The processors and the memory of one run, unless other workers of this machine have them now."""
        most = self.machine.for_a_run().memory_bytes
        try:
            share = take_share(
                cores=self.capacity.cores,
                memory=self.capacity.memory_bytes,
                of_memory=most,
                patience=SHARE_SECONDS,
                stop=self.stopping,
            )
        except OSError as problem:
            log.warning("runs of other workers here cannot be told: %s", problem)
            return Share.unknown()
        if share is None:
            self._full.trouble("other runs of this machine have its cores or its memory; waiting for them")
        else:
            self._full.over("cores and memory are free again")
        return share

    def _do(self, kind: str, number: int, folder: Path, share: Share) -> bool:
        name = f"{kind} {number}"
        try:
            claimed = self.site.call(f"{kind}s/{number}/claim", {})
        except Gone as answer:
            log.info("%s: %s", name, answer)
            return False
        except SiteError as problem:
            log.warning("%s was not claimed: %s", name, problem)
            return False
        log.info("%s claimed, attempt %s", name, claimed["attempt"])
        make = CheckJob if kind == "check" else ProgramJob if "programs" in claimed else Job
        job = make(
            claimed,
            site=self.site,
            sandbox=self.sandbox,
            capacity=self.capacity,
            owner=self.owner,
            cpus=share.cpus,
        )
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

    def dismiss(self, why: str) -> None:
        """Stop for good: the site wants nothing of this worker any more."""
        if not self.dismissed:
            log.error("%s This worker stops.", why)
            self.dismissed = True
            self.stop()
            os.kill(os.getpid(), signal.SIGTERM)  # where Celery waits for doorbells, only a signal ends it


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
        log.info("doorbell for run %s", run_id)
        worker.answer_doorbell()

    @app.task(name="ingestion.check")  # type: ignore[untyped-decorator]
    def check(check_id: int) -> None:
        worker.take(int(check_id), "check")

    @celery_signals.worker_shutting_down.connect(weak=False)  # type: ignore[untyped-decorator]
    def stop(**kwargs: Any) -> None:
        worker.stop()

    return app


def main() -> int:
    """Start one worker; returns 0 when it was stopped, 1 when it cannot work now, 78 when it never will."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # kombu warns that the embedded broker has no host name. It needs none.
    logging.getLogger("kombu.connection").setLevel(logging.ERROR)
    try:
        worker = worker_of_environment()
    except NoSandbox as problem:
        return _end(f"{problem} {problem.mend}".strip(), 1)
    except ValueError as problem:
        return _end(str(problem), NOT_AGAIN)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: worker.stop())
    try:
        answer = wait_for_site(worker)
    except WrongToken as problem:
        return _end(str(problem), NOT_AGAIN)
    except FolderInUse as problem:
        return _end(str(problem), 1)
    if answer is not None:
        serve(worker, answer)
    worker.datasets.close()
    return NOT_AGAIN if worker.dismissed else 0


def _end(sentence: str, code: int) -> int:
    sys.stderr.write(f"{sentence}\n")
    return code


def worker_of_environment() -> ComputeWorker:
    """The worker that the environment describes. Raises ValueError with a sentence, and NoSandbox."""
    token = os.environ.get("PODIUM_WORKER_TOKEN", "")
    if not token:
        raise ValueError(
            "PODIUM_WORKER_TOKEN is not set. Make a token on the site: ./podium manage worker_token NAME"
        )
    if os.environ.get("PODIUM_SOLUTIONS_KEY"):
        raise ValueError(
            "PODIUM_SOLUTIONS_KEY is set here. It is for the site; a compute worker must not have it."
        )
    url = os.environ.get("PODIUM_URL", "http://127.0.0.1:8000")
    problem = address_problem(url)
    if problem:
        raise ValueError(problem)
    home = Path(os.environ.get("PODIUM_HOME") or Path(__file__).resolve().parent.parent / "var")
    return ComputeWorker(
        site=Site(url, token),
        sandbox=choose_sandbox(image=os.environ.get("PODIUM_SANDBOX_IMAGE") or None),
        machine=Capacity.of_this_machine(),
        folder=home / "worker" / os.environ.get("PODIUM_WORKER_NAME", "local"),
        slots=slots_of_environment("PODIUM_WORKER_SLOTS"),
        cache_bytes=parse_size(os.environ.get("PODIUM_CACHE_SIZE") or DEFAULT_LIMIT),
    )


def slots_of_environment(name: str) -> int:
    """How many slots a variable asks for; 1 where it is not set. Raises ValueError with a sentence."""
    text = os.environ.get(name, "").strip() or "1"
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{name} is {text!r}; it is how many runs share this machine: 1, 2, 3 ...")
    return int(text)


def serve(worker: ComputeWorker, answer: dict[str, Any]) -> None:
    """Take runs until the worker is stopped."""
    threading.Thread(target=worker.keep_announcing, daemon=True).start()
    log.info("worker %s is ready, sandbox %s", answer["worker"], worker.sandbox.name)
    broker = os.environ.get("COMPUTE_BROKER_URL") or os.environ.get("BROKER_URL")
    if not broker:
        worker.keep_asking()
        return
    app = make_app(worker, broker_url=broker, folder=worker.folder.parent.parent / "broker" / "compute")
    app.worker_main(
        [
            *("worker", "--pool=solo", "--loglevel=INFO"),
            *("--without-gossip", "--without-mingle", "--without-heartbeat"),
            f"--queues={','.join(queues(answer))}",
        ]
    )


def wait_for_site(worker: ComputeWorker) -> dict[str, Any] | None:
    """Say hello until the site answers; None when the worker was stopped. Raises WrongToken, FolderInUse."""
    silence, pauses = Thinned(log.info), growing()
    while not worker.stopping.is_set():
        try:
            return worker.prepare()
        except WrongToken:
            raise
        except (SiteError, Gone) as problem:
            silence.trouble(f"waiting for the site: {problem}")
            worker.stopping.wait(next(pauses))
    return None


if __name__ == "__main__":
    sys.exit(main())
