"""One sandbox after the other, for the tests that run programs."""

import pytest

from tests.ingestion.programs.steps import Steps
from tests.ingestion.runs import usable_sandbox


@pytest.fixture(
    params=[
        pytest.param("docker", marks=pytest.mark.docker),
        pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    ]
)
def steps(request, tmp_path):
    """Both steps, in each sandbox."""
    return Steps(usable_sandbox(request.param), tmp_path)


@pytest.fixture
def quick(tmp_path):
    """Both steps, in the quicker sandbox: for what does not depend on it."""
    return Steps(usable_sandbox("bubblewrap"), tmp_path)
