"""Installations shared by the tests of a module: starting one takes seconds."""

import pytest

from ingestion.sandbox import available_sandboxes
from tests.end_to_end.installation import running


def require(name: str) -> None:
    """Skip where this machine has no such sandbox."""
    status = next(status for status in available_sandboxes() if status.name == name)
    if not status.usable:
        pytest.skip(f"{status.sentence} {status.mend}")


@pytest.fixture(scope="package")
def docker_site(tmp_path_factory):
    """An installation whose submissions run in Docker."""
    require("docker")
    with running(tmp_path_factory.mktemp("docker") / "home", "docker") as installation:
        yield installation


@pytest.fixture(scope="package")
def bubblewrap_site(tmp_path_factory):
    """An installation whose submissions run in bubblewrap."""
    require("bubblewrap")
    with running(tmp_path_factory.mktemp("bubblewrap") / "home", "bubblewrap") as installation:
        yield installation
