"""What is found out about an image before a run starts in it."""

import io
import json
import tarfile

import pytest

from ingestion import run_command
from ingestion.command import main
from ingestion.image_names import SANDBOX_IMAGE
from ingestion.sandbox import SandboxError
from ingestion.sandbox.docker import DockerSandbox
from ingestion.sandbox.docker_images import ImageProblem, Images, check_runtime
from ingestion.sandbox.engine import EngineError, connect
from tests.ingestion.runs import Runner, usable_sandbox, write_program, write_tiny_dataset

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def client():
    try:
        client = connect(timeout=60)
    except EngineError as error:
        pytest.skip(str(error))
    usable_sandbox("docker")
    yield client
    client.close()


@pytest.fixture(scope="module")
def without_python(client):
    """An image that holds one text file."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo("readme.txt")
        archive.addfile(entry)
    client.api.import_image_from_data(buffer.getvalue(), repository="podium-test-no-python", tag="latest")
    yield "podium-test-no-python:latest"
    client.images.remove("podium-test-no-python:latest", force=True)


@pytest.fixture(scope="module")
def old_python(client):
    """An image whose python3 says that it is too old."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, text in (
            ("Dockerfile", b"FROM podium-sandbox:latest\nLABEL podium.image=old\nCOPY python3 /opt/podium/bin/\n"),
            ("python3", b"#!/bin/sh\nexit 3\n"),
        ):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text), 0o755
            archive.addfile(entry, io.BytesIO(text))
    buffer.seek(0)
    list(client.api.build(fileobj=buffer, custom_context=True, tag="podium-test-old-python:latest", rm=True))
    yield "podium-test-old-python:latest"
    client.images.remove("podium-test-old-python:latest", force=True)


def test_an_image_is_known_by_name_by_id_and_by_its_name_with_its_id(client):
    images = Images()
    by_name = images.find(client, SANDBOX_IMAGE)
    assert by_name.id.startswith("sha256:") and by_name.runs_models and not by_name.problem
    assert any(package.startswith("numpy==") for package in by_name.packages)
    assert images.find(client, by_name.id).packages == by_name.packages
    assert images.find(client, f"podium-sandbox@{by_name.id}").id == by_name.id


def test_images_that_are_not_there_are_left_out_of_the_list():
    found = DockerSandbox().images([SANDBOX_IMAGE, "podium-absent:1"])
    assert [image.name for image in found] == [SANDBOX_IMAGE]


def test_an_image_without_python_is_refused_before_the_run_and_nobody_is_blamed(client, without_python, tmp_path):
    status = DockerSandbox(without_python).check()
    assert not status.usable and "has no python3" in status.sentence
    result = Runner(DockerSandbox(without_python), tmp_path).program("predict()")
    assert (result.status, result.reason) == ("failed", "infrastructure")
    assert f"The image {without_python} has no python3" in result.sentence
    assert result.wall_seconds == 0


def test_an_old_python_is_refused_in_the_same_way(client, old_python):
    with pytest.raises(ImageProblem, match=r"too old a python3. .* 3\.6 or later"):
        Images().require(client, old_python)


def test_an_image_without_numpy_runs_programs_and_no_models(client, tmp_path):
    if not client.images.list(name="podium-base:latest"):
        pytest.skip("podium-base is not built")
    runner = Runner(DockerSandbox("podium-base:latest"), tmp_path)
    assert runner.program("predict()").status == "ok"
    result = runner.model("class Model:\n    pass\n")
    assert (
        result.reason == "infrastructure"
        and "no Python 3.9 with numpy and scipy, which run a model.py" in result.sentence
    )


def test_each_image_is_tried_once(client, without_python, monkeypatch):
    from ingestion.sandbox import docker_images

    tried = []
    real = docker_images._probe
    monkeypatch.setattr(docker_images, "_probe", lambda *args: (tried.append(args[1]), real(*args))[1])
    images = Images()
    for _ in range(3):
        assert images.find(client, without_python).problem
    images.find(client, SANDBOX_IMAGE)
    assert len(tried) == 1, "an image of our own recipes is not tried"


def test_the_command_tells_a_missing_image_before_the_run(tmp_path, capsys):
    usable_sandbox("docker")
    dataset = write_tiny_dataset(tmp_path / "tiny")
    program = write_program(tmp_path / "program", "predict()")
    arguments = ["run", "--dataset", str(dataset), "--submission", str(program), "--output", str(tmp_path / "out")]
    code = main([*arguments, "--sandbox", "docker", "--image", "podium-absent:1", "--json"])
    told = capsys.readouterr()
    result = json.loads(told.out.splitlines()[-1])
    assert code == run_command.OUR_FAULT == 3
    assert result["reason"] == "infrastructure"
    assert "no image podium-absent:1" in result["sentence"]
    assert "docker pull podium-absent:1" in result["sentence"]
    assert "Running" not in told.err


def test_a_runtime_by_name_runs_a_submission(monkeypatch, tmp_path):
    monkeypatch.setenv("PODIUM_DOCKER_RUNTIME", "runc")
    sandbox = usable_sandbox("docker")
    assert sandbox.runtime == "runc"
    assert Runner(sandbox, tmp_path).program("predict()").status == "ok"


def test_a_runtime_that_the_engine_does_not_know_is_told_before_a_run(client, monkeypatch, tmp_path):
    monkeypatch.setenv("PODIUM_DOCKER_RUNTIME", "podium-absent-runtime")
    status = DockerSandbox().check()
    assert not status.usable and "has no runtime podium-absent-runtime; it has" in status.sentence
    assert "daemon.json" in status.mend
    result = Runner(DockerSandbox(), tmp_path).program("predict()")
    assert result.reason == "infrastructure" and "no runtime podium-absent-runtime" in result.sentence


def test_an_engine_that_lists_no_runtimes_is_not_asked_for_one():
    class Silent:
        def info(self):
            return {}

    check_runtime(Silent(), "runsc")


def test_an_engine_that_stops_answering_is_our_fault(client):
    import requests

    class Gone:
        @property
        def images(self):
            raise requests.ConnectionError("gone")

    with pytest.raises(SandboxError, match="does not answer"):
        Images().find(Gone(), SANDBOX_IMAGE)
