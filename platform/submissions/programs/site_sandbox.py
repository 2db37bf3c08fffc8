"""The sandbox on the site's own machine, in which organizers' programs run that read reference data."""

import functools
import hashlib
import logging

from django.conf import settings

from ingestion.budget import Budget, Capacity
from ingestion.sandbox import NoSandbox, Sandbox, choose_sandbox

log = logging.getLogger(__name__)

AT_ONCE = 2  # programs that the site runs side by side, as many as its worker for them has threads


def owner() -> str:
    """Whose sandboxes these are, so that what a killed process left is found again: this installation's."""
    return f"podium-site-{hashlib.sha256(str(settings.PODIUM_HOME).encode()).hexdigest()[:12]}"


@functools.cache
def site_sandbox() -> Sandbox:
    """The sandbox of this process. Raises NoSandbox; a program of strangers never runs here without one.

    Kept by the process, which first removes what a killed predecessor of this installation left.
    """
    sandbox = choose_sandbox()
    if sandbox.name == "unconfined":
        raise NoSandbox("Organizers' programs run in a sandbox only, and this installation has none.")
    for sentence in sandbox.clean_stale(owner()):
        log.info("%s", sentence)
    return sandbox


def filled(budget: Budget) -> Budget:
    """The budget of a run as this machine can give it: no more than its cores and memory.

    A run that asks for no amount of memory gets its part of what the site's scorers share.
    """
    capacity = Capacity.of_this_machine().for_a_run()
    cores = min(budget.cores or capacity.cores, capacity.cores)
    memory = min(budget.memory_bytes or capacity.memory_bytes // AT_ONCE, capacity.memory_bytes)
    return Budget.from_json({**budget.to_json(), "cores": cores, "memory_bytes": memory})
