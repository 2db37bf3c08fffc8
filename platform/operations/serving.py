"""`./podium up` and `./podium worker`."""

import os
import re
import socket

from config.home import podium_home
from operations import parts
from operations.installation import (
    Installation,
    address_of_site,
    close_database,
    migrate,
    open_installation,
    prepare_django,
    start_compute_worker,
    start_site,
)
from operations.supervisor import HomeLock, Supervisor
from operations.terminal import say

UNSANDBOXED = "apt-get install bubblewrap"


def up(*, port: int | None, host: str, compute: bool) -> int:
    """Start the site, its worker and (unless told otherwise) a compute worker; serve until asked to stop."""
    from operations.supervisor import StopAsked

    installation = open_installation(port=port, host=host)
    prepare_django()
    try:
        with Supervisor(say) as supervisor:
            migrate()
            close_database()
            start_site(supervisor, installation)
            if compute:
                start_own_worker(supervisor, installation)
            say(f"Podium serves {installation.url}. Logs: {installation.home / 'logs'}. Ctrl-C stops it.")
            supervisor.serve()
    except StopAsked:
        say("Stopped.")
    finally:
        installation.lock.release()
    return 0


def start_own_worker(supervisor: Supervisor, installation: Installation) -> None:
    """Start the compute worker of this machine, or say why there is none."""
    from ingestion.sandbox import NoSandbox, choose_sandbox

    try:
        sandbox = choose_sandbox()
    except NoSandbox as error:
        say(f"No compute worker was started: {error}")
        say(f"Mend it: {error.mend or UNSANDBOXED}   Then start again. The site serves without it.")
        return
    say(f"The compute worker runs submissions in {sandbox.name}.")
    start_compute_worker(supervisor, installation, sandbox=sandbox.name)


def worker(*, name: str | None) -> int:
    """Start one compute worker and keep it alive until asked to stop.

    With PODIUM_WORKER_TOKEN it belongs to the site at PODIUM_URL, wherever that is. Without, it belongs to the
    installation in this machine's data folder, and makes its own token there.
    """
    from operations.supervisor import StopAsked

    name = clean_name(name or socket.gethostname())
    home = podium_home()
    lock = HomeLock(home / f"worker-{name}.lock", f"A worker named {name}")
    lock.take()
    token = os.environ.get("PODIUM_WORKER_TOKEN", "")
    broker = os.environ.get("COMPUTE_BROKER_URL")
    url = os.environ.get("PODIUM_URL", "").rstrip("/")
    if token and not url:
        say("podium: PODIUM_WORKER_TOKEN is set, but not PODIUM_URL, the address of its site.")
        return 2
    try:
        with Supervisor(say) as supervisor:
            if not token:
                url, token, broker = own_token(name)
            supervisor.start(
                parts.compute_worker(
                    home, url=url, token=token, name=name, broker=broker, sandbox=os.environ.get("PODIUM_SANDBOX")
                )
            )
            say(f"The worker {name} serves {url}. Logs: {home / 'logs'}. Ctrl-C stops it.")
            supervisor.serve()
    except StopAsked:
        say("Stopped.")
    finally:
        lock.release()
    return 0


def own_token(name: str) -> tuple[str, str, str]:
    """Make a token for a worker of this machine's own installation; returns address, token and broker."""
    prepare_django()
    migrate()
    from django.conf import settings

    from submissions.models import Worker

    _, token = Worker.with_new_token(name, is_trusted=True)
    close_database()
    url = os.environ.get("PODIUM_URL", "").rstrip("/") or address_of_site(podium_home()) or settings.PODIUM_URL
    return url, token, settings.COMPUTE_BROKER_URL


def clean_name(text: str) -> str:
    """Return a worker's name as letters, digits, dots, dashes and underscores."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:60] or "worker"
