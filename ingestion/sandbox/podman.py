"""What differs where Podman answers behind the Docker-compatible socket."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

from ingestion.sandbox.seccomp import profile_text

PROCESSES = 16_384  # of all runs together, being one user; Podman itself may have 32,768
SECCOMP = Path(__file__).with_name("seccomp.json")


def is_podman(client: Any) -> bool:
    """Whether the engine at this address is Podman."""
    components = client.version().get("Components") or []
    return any("podman" in str(part.get("Name", "")).lower() for part in components)


def adapted(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a run's container in the form that Podman takes.

    It reads the seccomp profile from a file on its own machine. It knows no bound on the inodes of a tmpfs: their
    memory counts like the rest of the run's. And where nothing else is said it gives a container a limit of
    processes that may lie above its own, which the kernel refuses; what bounds a run is the cgroup's limit.
    """
    from docker.types import Ulimit

    security = [
        one if not one.startswith("seccomp=") else f"seccomp={_as_file(one, options)}"
        for one in options["security_opt"]
    ]
    tmpfs = {place: _without_inodes(text) for place, text in options["tmpfs"].items()}
    most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    processes = PROCESSES if most == resource.RLIM_INFINITY else min(most, PROCESSES)
    ulimits = [*options["ulimits"], Ulimit(name="nproc", soft=processes, hard=processes)]
    return {**options, "security_opt": security, "tmpfs": tmpfs, "ulimits": ulimits}


def _as_file(option: str, options: dict[str, Any]) -> Path:
    """The profile as a file: the usual one, or one in the run's own folder."""
    text = option.removeprefix("seccomp=")
    if text == profile_text():
        return SECCOMP
    own = Path(options["labels"]["podium.run"]) / SECCOMP.name
    own.write_text(text)
    return own


def _without_inodes(text: str) -> str:
    return ",".join(one for one in text.split(",") if not one.startswith("nr_inodes="))
