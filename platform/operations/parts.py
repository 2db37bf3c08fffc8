"""The parts of an installation as commands: the site, the site's worker, a compute worker."""

import os
import sys
from pathlib import Path

from operations.processes import Part

NOT_AGAIN = 78  # as in ingestion.worker, which need not be imported for it
ROOT = Path(__file__).resolve().parent.parent.parent

# What only the site may know. A compute worker gets a token and its broker's address, nothing else.
SECRETS_OF_THE_SITE = (
    "SECRET_KEY",
    "PODIUM_SOLUTIONS_KEY",
    "DATABASE_URL",
    "BROKER_URL",
    "EMAIL_URL",
    "S3_BUCKET",
    "S3_ENDPOINT_URL",
    "DJANGO_SETTINGS_MODULE",
)


def common_environment() -> dict[str, str]:
    """Return this process's environment with what every part needs."""
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "platform")])
    environment["PYTHONUNBUFFERED"] = "1"
    return environment


def site(home: Path, descriptor: int, *, workers: int = 2, threads: int = 8) -> Part:
    """The web site: gunicorn on a socket that is already listening."""
    command = (
        *(
            sys.executable,
            "-m",
            "gunicorn",
            "-c",
            "python:config.gunicorn",
            "config.wsgi",
            "--bind",
            f"fd://{descriptor}",
        ),
        *("--worker-class", "gthread", "--workers", str(workers), "--threads", str(threads)),
        *("--timeout", "120", "--graceful-timeout", "8", "--access-logfile", "-", "--no-control-socket"),
    )
    environment = common_environment()
    return Part("site", command, environment, home / "logs" / "site.log", pass_fds=(descriptor,), folder=ROOT)


def site_worker(home: Path) -> Part:
    """The site's own worker with its clock: dispatch, scoring, the reconciler."""
    command = (
        *(sys.executable, "-m", "celery", "-A", "config", "worker", "-B", "-Q", "site", "-c", "2"),
        *("--hostname", "site@localhost", "--loglevel", "INFO", "--without-gossip", "--without-mingle"),
    )
    return Part("site worker", command, common_environment(), home / "logs" / "site-worker.log", folder=ROOT)


def programs_worker(home: Path) -> Part:
    """The site's worker for organizers' scoring programs, each in a sandbox: long work beside the short."""
    command = (
        *(sys.executable, "-m", "celery", "-A", "config", "worker", "-Q", "programs", "-P", "threads", "-c", "2"),
        *("--hostname", "programs@localhost", "--loglevel", "INFO", "--without-gossip", "--without-mingle"),
    )
    return Part(
        "programs worker", command, common_environment(), home / "logs" / "programs-worker.log", folder=ROOT
    )


def compute_worker(
    home: Path,
    *,
    url: str,
    token: str,
    name: str,
    broker: str | None = None,
    sandbox: str | None = None,
    slots: int = 1,
) -> Part:
    """A compute worker: claims runs over HTTP with its token and runs them in the sandbox.

    slots: how many workers share this machine.
    """
    environment = common_environment()
    for key in list(environment):
        if key in SECRETS_OF_THE_SITE or key.startswith("AWS_"):
            del environment[key]
    environment.update(PODIUM_URL=url, PODIUM_WORKER_TOKEN=token, PODIUM_WORKER_NAME=name, PODIUM_HOME=str(home))
    environment["PODIUM_WORKER_SLOTS"] = str(slots)
    if broker:
        environment["COMPUTE_BROKER_URL"] = broker
    if sandbox:
        environment["PODIUM_SANDBOX"] = sandbox
    command = (sys.executable, "-m", "ingestion.worker")
    log = home / "logs" / ("compute-worker.log" if name == "local" else f"compute-worker-{name}.log")
    return Part("compute worker", command, environment, log, folder=ROOT, grace=15.0, final_code=NOT_AGAIN)
