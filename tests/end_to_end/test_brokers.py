"""The three brokers give the same result: a submission goes its way although its worker is killed meanwhile."""

import json
import os
import signal
import time

import pytest

from tests.end_to_end import models
from tests.end_to_end.conftest import require
from tests.end_to_end.installation import Person, running, zipped

pytestmark = [pytest.mark.services, pytest.mark.bubblewrap]

PATIENCE = 300.0
READ = """
import json
from submissions.models import Submission
found = Submission.objects.get(pk={number})
runs = [
    {{
        "state": run.state,
        "outcomes": list(run.attempts.values_list("outcome", flat=True)),
        "scores": {{score.part: score.value for score in run.scores.all()}},
    }}
    for run in found.runs.order_by("order")
]
print(json.dumps({{"state": found.state, "uses_quota": found.uses_quota, "runs": runs}}))
"""


SCHEMES = {"filesystem": "filesystem", "redis": "redis", "rabbitmq": "amqp"}


@pytest.fixture(params=SCHEMES)
def site(request, tmp_path):
    require("bubblewrap")
    services = {}
    if request.param != "filesystem":
        broker = request.getfixturevalue(request.param)
        services = {"BROKER_URL": broker.url, "COMPUTE_BROKER_URL": broker.compute_url}
    with running(tmp_path / "home", "bubblewrap", services=services) as installation:
        yield installation
        for log in ("site-worker.log", "compute-worker.log"):
            assert f"Connected to {SCHEMES[request.param]}" in (installation.home / "logs" / log).read_text()


def state_of(site, number):
    """What the database holds of a submission."""
    return json.loads(site.python("manage.py", "shell", "--no-imports", "-c", READ.format(number=number)))


def wait_until(site, number, reached):
    """Wait until the submission is as it should be; returns what the database holds of it then."""
    end = time.monotonic() + PATIENCE
    while not reached(state := state_of(site, number)):
        assert time.monotonic() < end, f"{state}\n{site.logs()}"
        time.sleep(0.3)
    return state


def test_a_submission_whose_worker_is_killed_ends_the_same_whatever_carries_the_doorbells(site):
    alice = Person(site, "alice").register().join()
    number = alice.accepted(zipped({"model.py": models.SLOW}))
    wait_until(site, number, lambda state: "running" in [run["state"] for run in state["runs"]])
    for pid in site.processes("-m ingestion.worker"):
        os.kill(pid, signal.SIGKILL)
    state = wait_until(site, number, lambda state: state["state"] != "active")
    assert (state["state"], state["uses_quota"]) == ("finished", True), (state, site.logs())
    outcomes = sorted(outcome for run in state["runs"] for outcome in run["outcomes"])
    assert outcomes == ["lost", "reported", "reported"], state
    assert all(run["state"] == "finished" and run["outcomes"][-1] == "reported" for run in state["runs"])
    assert all(run["scores"]["valid"] > 0.6 and run["scores"]["test"] > 0.6 for run in state["runs"])
