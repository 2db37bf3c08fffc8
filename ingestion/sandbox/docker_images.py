"""Images at an engine: whether one is there, what it is, and whether submissions can run in it."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ingestion.image_names import PACKAGES_LABEL, how_to_get
from ingestion.sandbox.base import KnownImage, SandboxError
from ingestion.sandbox.scratch import Scratch

PROBE_SECONDS = 60.0
LEAST_PYTHON = (3, 6)  # for program/init.py and program/private.py
LEAST_FOR_MODELS = (3, 9)
_NO_PYTHON, _OLD_PYTHON, _NO_MODELS = 127, 3, 4
_PROBE = f"""
import sys
if sys.version_info < {LEAST_PYTHON}:
    sys.exit({_OLD_PYTHON})
if sys.version_info < {LEAST_FOR_MODELS}:
    sys.exit({_NO_MODELS})
try:
    import numpy, scipy
except ImportError:
    sys.exit({_NO_MODELS})
"""
_NEEDS = f"Submissions are started by Python {LEAST_PYTHON[0]}.{LEAST_PYTHON[1]} or later in it."
_PROBLEMS = {
    _NO_PYTHON: f"has no python3. {_NEEDS}",
    _OLD_PYTHON: f"has too old a python3. {_NEEDS}",
}
_FOUND_NOTHING = "executable file not found", "no such file or directory"  # as engines tell it


class ImageProblem(SandboxError):
    """An image is missing or unfit: the operator's to mend. `mend` holds the line that helps."""

    def __init__(self, message: str, mend: str = "") -> None:
        super().__init__(message)
        self.mend = mend


@dataclass
class Images:
    """The images of one engine. Each is tried out once, by its id: what has the same id is the same."""

    _codes: dict[str, int] = field(default_factory=dict)

    def find(self, client: Any, name: str) -> KnownImage:
        """The image of this name or id. Raises ImageProblem where it is missing, SandboxError for the engine."""
        image = _get(client, name)
        if image is None:
            raise ImageProblem(f"the Docker engine has no image {name}", how_to_get(name))
        labels = image.labels or {}
        if image.id not in self._codes:
            # An image of our own recipes need not be tried.
            is_ours = labels.get("podium.image") == "sandbox" and PACKAGES_LABEL in labels
            self._codes[image.id] = 0 if is_ours else _probe(client, image.id)
        code = self._codes[image.id]
        return KnownImage(
            name=name,
            id=image.id,
            packages=tuple(labels.get(PACKAGES_LABEL, "").split()),
            problem=_PROBLEMS.get(code, ""),
            runs_models=code == 0,
        )

    def require(self, client: Any, name: str, *, for_model: bool = False) -> KnownImage:
        """The image, if runs can start in it. Raises ImageProblem where it is missing or unfit."""
        found = self.find(client, name)
        if found.problem:
            raise ImageProblem(f"the image {name} {found.problem}", f"Install it in {name}, or use another image.")
        if for_model and not found.runs_models:
            raise ImageProblem(
                f"the image {name} has no Python 3.9 with numpy and scipy, which run a model.py",
                f"Install them in {name}, or use another image.",
            )
        return found


def check_runtime(client: Any, runtime: str | None) -> None:
    """Raise ImageProblem where PODIUM_DOCKER_RUNTIME names a runtime that the engine does not know."""
    if runtime is None:
        return
    known = sorted(client.info().get("Runtimes") or {})
    if known and runtime not in known:
        raise ImageProblem(
            f"the Docker engine has no runtime {runtime}; it has {', '.join(known)}",
            f"Add {runtime} to the engine's daemon.json and restart it, or unset PODIUM_DOCKER_RUNTIME.",
        )


def _get(client: Any, name: str) -> Any:
    import docker.errors
    import requests

    # An image that was built here has no digest of a registry: its id stands for it.
    for reference in (name, *([name.partition("@")[2]] if "@" in name else [])):
        try:
            return client.images.get(reference)
        except docker.errors.ImageNotFound:
            continue
        except docker.errors.APIError as error:
            raise SandboxError(f"the Docker engine refuses to look for {name}: {error.explanation}") from error
        except requests.RequestException as error:
            text = " ".join(str(error).split())[:160]
            raise SandboxError(f"the Docker engine does not answer: {text}") from error
    return None


def _probe(client: Any, image_id: str) -> int:
    """Start Python in an image as a run would be; returns what it found out as an exit code."""
    import docker.errors
    import requests

    try:
        with _probe_container(client, image_id) as container:
            container.start()
            return int(container.wait(timeout=PROBE_SECONDS)["StatusCode"])
    except docker.errors.APIError as error:
        text = str(error.explanation).lower()
        if any(found in text for found in _FOUND_NOTHING):
            return _NO_PYTHON
        raise SandboxError(f"the Docker engine could not try the image {image_id}: {error.explanation}") from error
    except requests.RequestException as error:
        raise SandboxError(f"Python in the image {image_id} did not end when it was tried") from error


@contextlib.contextmanager
def _probe_container(client: Any, image_id: str) -> Iterator[Any]:
    with Scratch("probe") as scratch:
        container = client.containers.create(
            image_id,
            entrypoint=["python3", "-I", "-c", _PROBE],
            command=[],
            network_mode="none",
            read_only=True,
            user="65534:65534",
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            mem_limit="512m",
            pids_limit=64,
            # As a run has them, so that what a killed process leaves is found like the rest of a run.
            labels={"podium.run": str(scratch), "podium.owner": "probe", "podium.host": socket.gethostname()},
        )
        try:
            yield container
        finally:
            container.remove(force=True, v=True)
