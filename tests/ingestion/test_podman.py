"""Podman behind its Docker-compatible socket: how it is found, and what it is told otherwise."""

import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer

import pytest

from ingestion.budget import MIB, Budget
from ingestion.sandbox import engine
from ingestion.sandbox.base import Folders, SandboxSpec
from ingestion.sandbox.docker import container_options
from ingestion.sandbox.engine import EngineError, connect
from ingestion.sandbox.log import BoundedLog
from ingestion.sandbox.podman import SECCOMP, adapted, is_podman


class Answer(BaseHTTPRequestHandler):
    """Says yes to a ping and tells the version that docker-py asks for."""

    asked = []

    def do_GET(self):
        self.asked.append(self.path)
        body = b'{"ApiVersion": "1.41"}' if "version" in self.path else b"OK"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self):
        return "unix"

    def log_message(self, *args):
        pass


def _nobody():
    raise ConnectionError("Docker's own socket is not there")


@pytest.fixture
def podman(tmp_path, monkeypatch):
    """A socket at Podman's place for a user, with something that answers behind it, and no Docker."""
    (tmp_path / "podman").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setattr("docker.DockerClient.from_env", lambda **options: _nobody())
    with ThreadingUnixStreamServer(str(tmp_path / "podman" / "podman.sock"), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield tmp_path / "podman" / "podman.sock"
        server.shutdown()


def test_podmans_socket_is_used_where_docker_does_not_answer(podman, monkeypatch):
    monkeypatch.setattr(engine, "podman_sockets", lambda: [podman])
    Answer.asked.clear()
    connect(timeout=10).close()
    assert any(path.endswith("_ping") for path in Answer.asked), "it was Podman's socket that answered"


def test_a_docker_host_that_is_named_and_silent_is_not_replaced(podman, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(EngineError, match="No Docker engine answers"):
        connect(timeout=10)


def test_the_users_own_socket_is_found_and_a_plain_file_is_not_one(podman, tmp_path, monkeypatch):
    assert podman in engine.podman_sockets()
    other = tmp_path / "other" / "podman"
    other.mkdir(parents=True)
    (other / "podman.sock").write_text("")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(other.parent))
    assert other / "podman.sock" not in engine.podman_sockets()


@pytest.mark.parametrize(("name", "expected"), [("Podman Engine", True), ("Engine", False)])
def test_podman_is_told_from_docker_by_its_own_word(name, expected):
    class Client:
        def version(self):
            return {"Components": [{"Name": name}, {"Name": "Conmon"}]}

    assert is_podman(Client()) is expected


class Place:
    mount = None


def test_podman_is_given_the_same_walls_in_its_own_words(tmp_path):
    folders = Folders(tmp_path, tmp_path, tmp_path, tmp_path)
    budget = Budget(wall_seconds=1, cores=1, memory_bytes=64 * MIB)
    spec = SandboxSpec(
        command=("true",), folders=folders, budget=budget, environment={}, log=BoundedLog(1024), owner="tests"
    )
    docker = container_options(spec, "image", Place(), "0", None)
    podman = adapted(docker)
    changed = {key for key in docker if docker[key] != podman[key]}
    assert changed == {"security_opt", "tmpfs", "ulimits"} and podman.keys() == docker.keys()
    assert podman["security_opt"] == ["no-new-privileges", f"seccomp={SECCOMP}"] and Path(SECCOMP).is_file()
    layout = replace(spec.shown, makes_links=False)
    beside = adapted(container_options(replace(spec, layout=layout), "image", Place(), "0", None))
    stricter = Path(beside["security_opt"][1].removeprefix("seccomp="))
    assert stricter.parent == tmp_path and '"symlinkat"' in stricter.read_text()
    assert "size=" in podman["tmpfs"]["/tmp"] and "nr_inodes" not in podman["tmpfs"]["/tmp"]
    assert podman["ulimits"][:-1] == docker["ulimits"]
    assert podman["ulimits"][-1]["Name"] == "nproc"
