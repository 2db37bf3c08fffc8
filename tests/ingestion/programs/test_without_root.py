"""Both steps where worker and site run as an ordinary user: shared folders are plain ones, and nothing is left."""

import json
import os
from pathlib import Path

import pytest

from tests.ingestion.other_user import OtherUser

ENGINE = Path("/var/run/docker.sock")
BOTH = '''
import json, os, pathlib, sys
from tests.ingestion.programs.steps import Steps, files_of
from tests.ingestion.runs import usable_sandbox
steps = Steps(usable_sandbox(sys.argv[1]), pathlib.Path(os.getcwd()))
code = steps.packed({
    "metadata": "command: sh $program/run.sh $output",
    "run.sh": "mkdir -p $1/deep; chmod 700 $1/deep; echo own > $1/deep/own.txt",
})
feed = steps.packed({"metadata": "command: sh $program/run.sh $output", "run.sh": "echo fed > $1/fed.txt"})
predicted = steps.predict(code, ingestion=feed)
alone = steps.predict(steps.packed({"a.txt": ""}), ingestion=feed)
waits = """
    import os, time
    while not os.path.exists("/app/shared/ask"):
        time.sleep(0.01)
    open("/app/shared/say", "w")
"""
asks = """
    import os, sys, time
    open("/app/shared/ask", "w")
    while not os.path.exists("/app/shared/say"):
        time.sleep(0.01)
    open(sys.argv[2] + "/scores.txt", "w").write("a: 1")
"""
beside = steps.predict_request(steps.packed({"x.py": ""}), ingestion=steps.ingestion(waits))
scored = steps.evaluate(steps.scorer(asks), beside=beside)
files = [files_of(step.predictions) for step in (predicted, alone)]
print(json.dumps([*files, dict(scored.scores)]))
'''


@pytest.fixture(params=[pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("bubblewrap", "docker")])
def said(request):
    """What an ordinary user got from both steps."""
    if request.param == "docker" and not ENGINE.is_socket():
        pytest.skip("no socket of a Docker engine is here")
    user = OtherUser(os.stat(ENGINE).st_gid) if request.param == "docker" else OtherUser()
    try:
        done = user.run("-c", BOTH, request.param)
        if "Skipped" in done.stderr:
            pytest.skip(done.stderr.splitlines()[-1])
        assert done.returncode == 0, done.stderr
        assert not list(user.folder.glob("podium-run-*")), "nothing is left"
        yield json.loads(done.stdout.splitlines()[-1])
    finally:
        user.remove()


def test_an_ordinary_user_runs_pairs_and_overlapping_programs(said):
    pair, alone, scores = said
    assert pair == {"deep/own.txt": "own\n", "fed.txt": "fed\n"}
    assert alone == {"a.txt": "", "fed.txt": "fed\n"} and scores == {"a": 1.0}
