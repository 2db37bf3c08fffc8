"""Building images: what goes into the build, what stays out of the image."""

import json
import tarfile

import pytest

from ingestion import images
from ingestion.images import ImageError, build_context, extra_authority
from ingestion.sandbox.docker import DEFAULT_IMAGE
from ingestion.sandbox.engine import EngineError, connect


@pytest.fixture
def client():
    try:
        client = connect(timeout=60)
        client.images.get(DEFAULT_IMAGE)
    except EngineError as error:
        pytest.skip(str(error))
    except Exception:
        pytest.skip(f"{DEFAULT_IMAGE} is not built")
    yield client
    client.close()


def test_the_build_sees_two_files_of_the_checkout_and_the_authority(tmp_path):
    authority = tmp_path / "ca.pem"
    authority.write_text("certificates")
    with tarfile.open(fileobj=build_context(images.CHECKOUT, authority)) as archive:
        assert archive.getnames() == ["docker/sandbox.Dockerfile", "requirements.in", "extra-ca.crt"]
    with tarfile.open(fileobj=build_context(images.CHECKOUT, None)) as archive:
        assert archive.getnames() == ["docker/sandbox.Dockerfile", "requirements.in"]


def test_an_authority_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setenv("PODIUM_EXTRA_CA", "/nowhere/ca.pem")
    with pytest.raises(ImageError, match=r"PODIUM_EXTRA_CA names /nowhere/ca\.pem"):
        extra_authority()


def test_an_index_with_a_password_stays_out_of_the_build(monkeypatch):
    said = []
    monkeypatch.setenv("PIP_INDEX_URL", "https://alice:secret@index.example/simple")
    monkeypatch.delenv("PIP_TRUSTED_HOST", raising=False)
    assert images._index_arguments(said.append) == {}
    assert "secret" not in " ".join(said)
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    assert images._index_arguments(said.append) == {"PIP_INDEX_URL": "https://index.example/simple"}


def test_no_engine_is_said_with_what_helps(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(ImageError, match="No Docker engine answers") as error:
        images.build_images(progress=lambda line: None)
    assert "DOCKER_HOST" in error.value.mend


def test_a_missing_client_library_is_not_taken_for_the_folder_docker(monkeypatch):
    import types

    monkeypatch.setitem(__import__("sys").modules, "docker", types.ModuleType("docker"))
    with pytest.raises(EngineError, match="client library"):
        connect()


@pytest.mark.docker
def test_the_image_tells_nothing_about_where_it_was_built(client):
    image = client.images.get(DEFAULT_IMAGE)
    told = json.dumps(image.attrs["Config"]) + json.dumps(image.history())
    assert "extra-ca" not in told and "PIP_" not in told
    command = "find / -xdev ( -name extra-ca* -o -name pip.conf -o -name *.solution -o -path /build* )"
    found = client.containers.run(DEFAULT_IMAGE, command, remove=True, network_mode="none", user="0:0")
    assert found.decode().strip() == ""


@pytest.mark.docker
def test_the_image_has_the_versions_of_requirements_in(client):
    wanted = dict(
        line.strip().split("==")
        for line in (images.CHECKOUT / "requirements.in").read_text().splitlines()
        if line.startswith(("numpy==", "scipy==", "pandas==", "scikit-learn=="))
    )
    found = client.containers.run(
        DEFAULT_IMAGE, ["cat", "/opt/podium/packages.txt"], remove=True, network_mode="none"
    )
    installed = dict(line.split("==", 1) for line in found.decode().splitlines() if "==" in line)
    assert wanted.items() <= installed.items() and len(wanted) == 4
