"""What every long-running command does first: the data folder, its lock, the port, Django, the database."""

import os
import socket
from dataclasses import dataclass
from pathlib import Path

from config.home import podium_home
from operations import parts, ports
from operations.supervisor import HomeLock, Supervisor
from operations.terminal import say

DEFAULT_HOST = "127.0.0.1"
LOCAL_WORKER = "local"
ADDRESS = "address"  # the file that tells other commands of this folder where the site listens


@dataclass
class Installation:
    """An installation that is about to run: its folder, its lock, and the socket its site will serve."""

    home: Path
    lock: HomeLock
    server: socket.socket
    host: str
    port: int
    url: str

    @property
    def local_url(self) -> str:
        """Where this machine reaches the site, whatever proxy the public address goes through."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::", "localhost") else self.host  # noqa: S104
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


def open_installation(*, port: int | None, host: str = DEFAULT_HOST) -> Installation:
    """Lock the data folder, take a port, and tell settings about both. Nothing is started yet.

    Raises AlreadyRunning or NoFreePort.
    """
    home = podium_home()
    lock = HomeLock(home / "supervisor.lock", "A Podium")
    lock.take()
    wanted = port or int(os.environ.get("PODIUM_PORT") or 8000)
    server, got = ports.listen(host, wanted)
    if got != wanted:
        say(f"Port {wanted} is in use by another program; using {got}.")
    named = os.environ.get("PODIUM_URL", "").rstrip("/")
    shown = "127.0.0.1" if host == "0.0.0.0" else host  # noqa: S104
    url = named or f"http://{shown}:{got}"
    os.environ.update(PODIUM_HOME=str(home), PODIUM_PORT=str(got), PODIUM_URL=url)
    if os.environ.get("ALLOWED_HOSTS"):
        # The compute worker beside the site speaks to it directly, not by its public name.
        os.environ["ALLOWED_HOSTS"] += ",127.0.0.1,localhost"
    lock.describe(f"process {os.getpid()}, serving {url}")
    installation = Installation(home, lock, server, host, got, url)
    (home / ADDRESS).write_text(installation.local_url)
    return installation


def address_of_site(home: Path) -> str:
    """Where the site of this data folder was last served on this machine; empty before its first start."""
    try:
        return (home / ADDRESS).read_text().strip()
    except FileNotFoundError:
        return ""


def prepare_django() -> None:
    """Load the settings. From here on the environment's variables are fixed."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()


def migrate() -> None:
    """Bring the database to the newest schema, saying so only when there is something to do."""
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if plan:
        say(f"Preparing the database ({len(plan)} steps) ...")
        call_command("migrate", interactive=False, verbosity=0)


def close_database() -> None:
    """Close this process's connection, so that a long wait holds none."""
    from django.db import connections

    connections.close_all()


def start_site(supervisor: Supervisor, installation: Installation) -> None:
    """Start the site and its worker, and wait until the site answers."""
    supervisor.start(parts.site(installation.home, installation.server.fileno()))
    supervisor.start(parts.site_worker(installation.home))
    supervisor.start(parts.programs_worker(installation.home))
    wait_for_answer(supervisor, installation.local_url)


def wait_for_answer(supervisor: Supervisor, url: str, patience: float = 60.0) -> None:
    """Wait until the site answers a request. Raises Failing when it keeps dying, TimeoutError when it is mute."""
    import time

    import requests

    end = time.monotonic() + patience
    while time.monotonic() < end:
        supervisor.wait(0.2)
        supervisor.check()
        try:
            requests.get(f"{url}/competitions/", timeout=5)
        except requests.RequestException:
            continue
        return
    raise TimeoutError(f"the site at {url} did not answer within {patience:.0f} s; see the folder logs")


def start_compute_workers(
    supervisor: Supervisor, installation: Installation, *, sandbox: str | None, slots: int = 1
) -> None:
    """Start a compute worker for each slot with a fresh token; the tokens of an earlier start end here."""
    from django.conf import settings
    from django.utils import timezone

    from operations.worker_start import slot_names
    from submissions.models import Worker

    names = slot_names(LOCAL_WORKER, slots)
    earlier = Worker.objects.filter(name__regex=rf"^{LOCAL_WORKER}(-\d+)?$", revoked_at=None).exclude(
        name__in=names
    )
    earlier.update(revoked_at=timezone.now())
    for name in names:
        _, token = Worker.with_new_token(name, resource_class="default", is_trusted=True)
        supervisor.start(
            parts.compute_worker(
                installation.home,
                url=installation.local_url,
                token=token,
                name=name,
                broker=settings.COMPUTE_BROKER_URL,
                sandbox=sandbox,
                slots=slots,
            )
        )
    close_database()
