"""The connection to a Docker engine."""

from __future__ import annotations

from typing import Any


class EngineError(Exception):
    """No Docker engine can be used. `str()` says why; `mend` holds the line that helps."""

    def __init__(self, message: str, mend: str = "") -> None:
        super().__init__(message)
        self.mend = mend


def connect(*, timeout: int = 60) -> Any:
    """A `docker.DockerClient` whose engine has answered, found by DOCKER_HOST as usual.

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
        client = docker.DockerClient.from_env(timeout=timeout)
        client.ping()
    except Exception as error:  # docker-py lets errors of requests and urllib3 through here
        raise EngineError(
            f"No Docker engine answers ({' '.join(str(error).split())[:160]}).",
            "Start Docker, or set DOCKER_HOST to its address.",
        ) from error
    return client
