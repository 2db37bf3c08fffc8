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
    start_compute_workers,
    start_site,
)
from operations.supervisor import HomeLock, Supervisor
from operations.terminal import say
from operations.worker_start import (
    Slot,
    greet,
    require_installation,
    share_in_words,
    slot_names,
    slots_of_tokens,
    usable_sandbox,
    wanted_slots,
)

UNSANDBOXED = "apt-get install bubblewrap"


def up(*, port: int | None, host: str, compute: bool, slots: int | None = None) -> int:
    """Start the site, its worker and (unless told otherwise) a worker for each slot; serve until asked to stop."""
    from operations.supervisor import StopAsked

    slots = wanted_slots(slots) if compute else 1
    installation = open_installation(port=port, host=host)
    prepare_django()
    try:
        with Supervisor(say) as supervisor:
            migrate()
            close_database()
            start_site(supervisor, installation)
            if compute:
                start_own_workers(supervisor, installation, slots)
            say(f"Podium serves {installation.url}. Logs: {installation.home / 'logs'}. Ctrl-C stops it.")
            supervisor.serve()
    except StopAsked:
        say("Stopped.")
    finally:
        installation.lock.release()
    return 0


def start_own_workers(supervisor: Supervisor, installation: Installation, slots: int) -> None:
    """Start the compute workers of this machine, or say why there are none."""
    from ingestion.sandbox import NoSandbox, choose_sandbox

    try:
        sandbox = choose_sandbox()
    except NoSandbox as error:
        say(f"No compute worker was started: {error}")
        say(f"Mend it: {error.mend or UNSANDBOXED}   Then start again. The site serves without it.")
        return
    how = f"{slots} slots run submissions" if slots > 1 else "The compute worker runs submissions"
    say(f"{how} in {sandbox.name}; a run gets {share_in_words(slots)}.")
    start_compute_workers(supervisor, installation, sandbox=sandbox.name, slots=slots)


def worker(*, name: str | None, slots: int | None = None) -> int:
    """Start a compute worker, or one for each slot, and keep it alive until asked to stop.

    With PODIUM_WORKER_TOKEN (one for each slot, with commas between) it belongs to the site at PODIUM_URL,
    wherever that is. Without, it belongs to the installation in this machine's data folder, and makes its own
    tokens there. Address, token and sandbox are looked at first. Raises CannotStart and NoSandbox.
    """
    from operations.supervisor import StopAsked

    name = clean_name(name or socket.gethostname())
    home = podium_home()
    tokens = [token for token in os.environ.get("PODIUM_WORKER_TOKEN", "").replace(" ", "").split(",") if token]
    url, broker = os.environ.get("PODIUM_URL", "").rstrip("/"), os.environ.get("COMPUTE_BROKER_URL")
    if tokens and not url:
        say("podium: PODIUM_WORKER_TOKEN is set, but not PODIUM_URL, the address of its site.")
        return 2
    lock = HomeLock(home / f"worker-{name}.lock", f"A worker named {name}")
    lock.take()
    try:
        with Supervisor(say) as supervisor:
            sandbox = usable_sandbox()
            if tokens:
                started = slots_of_tokens(name, tokens, slots)
            else:
                require_installation()
                url, started, broker = own_slots(name, wanted_slots(slots))
            greet(url, started, say=lambda text: say(f"podium: {text}"), wait=supervisor.wait)
            for slot in started:
                supervisor.start(
                    parts.compute_worker(
                        home,
                        url=url,
                        token=slot.token,
                        name=slot.name,
                        broker=broker,
                        sandbox=os.environ.get("PODIUM_SANDBOX"),
                        slots=len(started),
                    )
                )
            names = " and ".join(slot.name for slot in started)
            say(
                f"{names} {'serves' if len(started) == 1 else 'serve'} {url} in {sandbox.name}; a run gets "
                f"{share_in_words(len(started))}. Logs: {home / 'logs'}. Ctrl-C stops it."
            )
            supervisor.serve()
    except StopAsked:
        say("Stopped.")
    finally:
        lock.release()
    return 0


def own_slots(name: str, slots: int) -> tuple[str, list[Slot], str]:
    """Make tokens for workers of this machine's own installation; returns address, slots and broker."""
    prepare_django()
    migrate()
    from django.conf import settings

    from submissions.models import Worker

    made = [Slot(one, Worker.with_new_token(one, is_trusted=True)[1]) for one in slot_names(name, slots)]
    close_database()
    url = os.environ.get("PODIUM_URL", "").rstrip("/") or address_of_site(podium_home()) or settings.PODIUM_URL
    return url, made, settings.COMPUTE_BROKER_URL


def clean_name(text: str) -> str:
    """Return a worker's name as letters, digits, dots, dashes and underscores."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:60] or "worker"
