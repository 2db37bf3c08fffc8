"""The connection to a Docker engine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


class EngineError(Exception):
    """No Docker engine can be used. `str()` says why; `mend` holds the line that helps."""

    def __init__(self, message: str, mend: str = "") -> None:
        super().__init__(message)
        self.mend = mend


def connect(*, timeout: int = 60) -> Any:
    """A `docker.DockerClient` whose engine has answered: that of DOCKER_HOST, else Docker's own, else Podman's.

    Raises EngineError when the client library is missing or nobody answers. The folder `docker/` of the checkout
    can be imported as an empty namespace, so that only the presence of `DockerClient` tells.
    """
    try:
        import docker
    except ImportError:
        docker = None  # type: ignore[assignment]
    if docker is None or not hasattr(docker, "DockerClient"):
        raise EngineError("The Docker client library for Python is not installed.", "pip install docker")
    try:
        return _answering(docker.DockerClient.from_env, timeout=timeout)
    except Exception as error:  # docker-py lets errors of requests and urllib3 through here
        for socket in [] if os.environ.get("DOCKER_HOST") else podman_sockets():
            with contextlib.suppress(Exception):
                return _answering(docker.DockerClient, base_url=f"unix://{socket}", timeout=timeout)
        if _is_closed_to_us(error):
            raise EngineError(
                "This user may not speak to the Docker engine.",
                "usermod -aG docker $USER, and log in again; or run rootless Docker and set DOCKER_HOST to it",
            ) from error
        raise EngineError(
            f"No Docker engine answers ({' '.join(str(error).split())[:160]}).",
            "Start Docker, or set DOCKER_HOST to its address.",
        ) from error


def _is_closed_to_us(error: BaseException) -> bool:
    """Whether the engine is there and its socket refuses this user; the libraries wrap that several times."""
    return "PermissionError" in repr(error) or "Permission denied" in str(error)


def _answering(make: Callable[..., Any], **options: Any) -> Any:
    client = make(**options)
    try:
        client.ping()
    except BaseException:
        client.close()
        raise
    return client


def podman_sockets() -> list[Path]:
    """Podman's Docker-compatible sockets that are there: the machine's, then the user's own."""
    folders = [Path("/run/podman")]
    if os.environ.get("XDG_RUNTIME_DIR"):
        folders.append(Path(os.environ["XDG_RUNTIME_DIR"]) / "podman")
    return [folder / "podman.sock" for folder in folders if (folder / "podman.sock").is_socket()]
