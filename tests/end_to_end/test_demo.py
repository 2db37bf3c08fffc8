"""`./podium demo` on a machine that has neither Docker nor bubblewrap."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
import requests

from tests.end_to_end import models
from tests.end_to_end.installation import Installation, Person, free_port, zipped
from tests.shared import CHECKOUT

pytestmark = pytest.mark.services

# The demo itself, with less time for each dataset.
DRIVER = """
import sys
from operations.installation import prepare_django
prepare_django()
from operations import demo_series
demo_series.WALL_SECONDS = 20.0
from operations.__main__ import main as run
sys.exit(run(sys.argv[1:]))
"""


@pytest.fixture
def bare(tmp_path):
    """An installation on a path without any sandbox, and no engine that answers."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "env"):
        (programs / name).symlink_to(shutil.which(name))
    installation = Installation(tmp_path / "home", "")
    del installation.environ["PODIUM_SANDBOX"]
    installation.environ.update(PATH=str(programs), DOCKER_HOST=f"unix://{tmp_path}/no.sock")
    return installation


def demo(installation: Installation, *words: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, "demo", *words],
        cwd=CHECKOUT,
        env=installation.environ,
        stdout=subprocess.PIPE,
        stderr=installation.said.open("wb"),
        text=True,
    )


def wait_for(installation: Installation, words: str, process: subprocess.Popen, seconds: float) -> str:
    end = time.monotonic() + seconds
    while words not in installation.said.read_text():
        assert process.poll() is None, installation.said.read_text()
        assert time.monotonic() < end, installation.said.read_text() + installation.logs()
        time.sleep(0.3)
    return installation.said.read_text()


def test_it_runs_the_kits_own_code_says_so_and_refuses_everybody_else(bare):
    bare.port = busy = free_port()
    blocker = subprocess.Popen([sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(busy)])
    try:
        process = demo(bare, "--port", str(busy))
        said = wait_for(bare, "Ctrl-C stops everything", process, 600)
        assert f"Port {busy} is in use" in said
        assert "UNCONFINED" in said
        assert "apt-get install bubblewrap" in said
        assert "Not as it should be" not in said

        passwords = json.loads((bare.home / "demo.json").read_text())["users"]
        bare.url = re.search(r"The demo is at (http://[0-9.:]+)/competitions/demo/", said)[1]
        participant = Person(bare, "participant").log_in(passwords["participant"])
        answer = participant.post(
            "/competitions/demo/submissions/",
            files={"archive": ("mine.zip", zipped({"model.py": models.LEAST_SQUARES}))},
            headers={"Accept": "application/json"},
        )
        assert answer.status_code == 409, answer.text
        assert "podium doctor" in answer.json()["mend"]
        for name in ("linear", "neighbours", "participant"):
            assert name in participant.get("/competitions/demo/leaderboard/").text
        phases = participant.get("/competitions/demo/phases/").text
        for title in ("Tweakathon[0]", "Final[0]", "AutoML[1]", "Tweakathon[1]", "AutoML[2]"):
            assert title in phases
        blind = participant.get("/competitions/demo/leaderboard/?phase=3").text
        assert "linear" in blind
        assert "password1" not in Person(bare).get("/accounts/signup/").text

        process.send_signal(signal.SIGINT)
        board = process.communicate(timeout=60)[0]
        assert process.returncode == 0
        assert re.search(r"1 .*(participant|linear|neighbours)", board)
        assert "AutoML[1]: leaderboard of the test part" in board
        assert "Tweakathon[1]: leaderboard of the validation part" in board
        assert "neighbours sent results alone" in said
        assert bare.processes("") == []
        with pytest.raises(requests.ConnectionError):
            requests.get(bare.url, timeout=5)
        assert blocker.poll() is None, "it stops nothing that it did not start"
    finally:
        blocker.kill()
        blocker.wait()


def test_a_sandbox_asked_for_by_name_that_does_not_work_is_not_replaced_by_another(bare):
    bare.environ["PODIUM_SANDBOX"] = "docker"
    process = demo(bare, "--once", "--port", str(bare.port))
    process.communicate(timeout=120)
    assert process.returncode == 1
    assert "PODIUM_SANDBOX asks for docker" in bare.said.read_text()
    assert bare.processes("") == []
