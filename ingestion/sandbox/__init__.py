"""Places where a stranger's program runs: Docker, bubblewrap, or, when asked for by name, nothing around it."""

from __future__ import annotations

import os

from ingestion.sandbox.base import Outcome, Places, Sandbox, SandboxError, SandboxSpec, SandboxStatus, Usage
from ingestion.sandbox.bubblewrap import BubblewrapSandbox
from ingestion.sandbox.docker import DockerSandbox
from ingestion.sandbox.unconfined import UnconfinedSandbox

__all__ = [
    "SANDBOXES",
    "NoSandbox",
    "Outcome",
    "Places",
    "Sandbox",
    "SandboxError",
    "SandboxSpec",
    "SandboxStatus",
    "Usage",
    "available_sandboxes",
    "choose_sandbox",
]

SANDBOXES = ("docker", "bubblewrap", "unconfined")


class NoSandbox(Exception):
    """No sandbox can be used here. `str()` says why, `mend` holds the line that helps."""

    def __init__(self, message: str, mend: str = "") -> None:
        super().__init__(message)
        self.mend = mend


def choose_sandbox(name: str | None = None, *, image: str | None = None) -> Sandbox:
    """The sandbox of this name, else of PODIUM_SANDBOX, else Docker where it works, else bubblewrap.

    `unconfined` is only ever taken by name. image: for Docker, else PODIUM_SANDBOX_IMAGE, else
    podium-sandbox:latest. Raises NoSandbox, also when the one that was asked for does not work here.
    """
    wanted = name or os.environ.get("PODIUM_SANDBOX")
    if wanted:
        sandbox = _make(wanted, image)
        status = sandbox.check()
        if not status.usable:
            raise NoSandbox(f"The sandbox {wanted} cannot be used. {status.sentence}", status.mend)
        return sandbox
    reasons = []
    for candidate in (DockerSandbox(image), BubblewrapSandbox()):
        status = candidate.check()
        if status.usable:
            return candidate
        reasons.append(status.sentence)
    raise NoSandbox(f"There is no sandbox here. {' '.join(reasons)}", "apt-get install bubblewrap")


def _make(name: str, image: str | None) -> Sandbox:
    if name == "docker":
        return DockerSandbox(image)
    if name == "bubblewrap":
        return BubblewrapSandbox()
    if name == "unconfined":
        return UnconfinedSandbox()
    raise NoSandbox(f"There is no sandbox named {name}.", f"Use one of {', '.join(SANDBOXES)}.")


def available_sandboxes() -> list[SandboxStatus]:
    """Every sandbox, tried out on this machine."""
    return [sandbox.check() for sandbox in (DockerSandbox(), BubblewrapSandbox(), UnconfinedSandbox())]
