"""Redis and RabbitMQ of the tests' own, each with two places: one for the site, one for compute workers."""

import base64
import contextlib
import hashlib
import json
import secrets
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import redis
from amqp import Connection

from tests.services.server import Server, folder_for, free_port, running

RABBITMQ_PROGRAMS = Path("/usr/lib/rabbitmq/bin")
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Broker:
    """Where the site's own tasks go, and where the doorbells of compute workers go."""

    url: str
    compute_url: str


def redis_program() -> str | None:
    """Where the Redis server is."""
    return shutil.which("redis-server")


@contextlib.contextmanager
def redis_running(program: str) -> Iterator[Broker]:
    """Redis in memory; the site has database 0, compute workers have database 1."""
    password = secrets.token_urlsafe(12)
    with folder_for("redis") as folder:
        ports: list[int] = []

        def start() -> Server:
            port = free_port()
            options = {
                "port": str(port),
                "bind": LOOPBACK,
                "requirepass": password,
                "dir": str(folder),
                "save": "",
                "appendonly": "no",
            }
            command = [program]
            for name, value in options.items():
                command += [f"--{name}", value]
            server = Server(command, user="redis", folder=folder)
            server.wait_until(lambda: redis.Redis(LOOPBACK, port, password=password, socket_timeout=2).ping())
            ports.append(port)
            return server

        with running(start):
            address = f"redis://:{password}@{LOOPBACK}:{ports[-1]}"
            yield Broker(f"{address}/0", f"{address}/1")


def rabbitmq_programs() -> Path | None:
    """The folder of RabbitMQ's own programs; those on the path of Debian insist on its service's user."""
    return RABBITMQ_PROGRAMS if (RABBITMQ_PROGRAMS / "rabbitmq-server").exists() else None


def _hashed(password: str) -> str:
    """A password as RabbitMQ keeps it: four bytes of salt, then SHA-256 of salt and password."""
    salt = secrets.token_bytes(4)
    return base64.b64encode(salt + hashlib.sha256(salt + password.encode()).digest()).decode()


def _definitions(passwords: dict[str, str]) -> str:
    """Users, each with everything in the virtual host of its own name and nothing elsewhere."""
    everything = dict.fromkeys(("configure", "write", "read"), ".*")
    return json.dumps(
        {
            "users": [
                {
                    "name": name,
                    "password_hash": _hashed(password),
                    "hashing_algorithm": "rabbit_password_hashing_sha256",
                    "tags": "",
                }
                for name, password in passwords.items()
            ],
            "vhosts": [{"name": name} for name in passwords],
            "permissions": [{"user": name, "vhost": name, **everything} for name in passwords],
        }
    )


def _environ(folder: Path, *, port: int, inner_port: int, names_port: int) -> dict[str, str]:
    return {
        "RABBITMQ_NODENAME": f"podium{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": LOOPBACK,
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(inner_port),
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "logs"),
        "RABBITMQ_LOGS": "-",
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
        "RABBITMQ_CONF_ENV_FILE": str(folder / "no-environment"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "no-plugins"),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        # Erlang's register of names would be started as a daemon that nobody ends; here it is a server of ours.
        "ERL_EPMD_PORT": str(names_port),
        "ERL_EPMD_ADDRESS": LOOPBACK,
    }


@contextlib.contextmanager
def rabbitmq_running(programs: Path) -> Iterator[Broker]:
    """RabbitMQ with the virtual hosts `site` and `compute`, each with a user that sees nothing of the other."""
    passwords = {name: secrets.token_urlsafe(12) for name in ("site", "compute")}
    with folder_for("rabbitmq") as folder, _names(folder) as names_port:
        (folder / "definitions.json").write_text(_definitions(passwords))
        (folder / "rabbitmq.conf").write_text(f"load_definitions = {folder}/definitions.json\n")
        ports: list[int] = []

        def start() -> Server:
            port = free_port()
            environ = _environ(folder, port=port, inner_port=free_port(), names_port=names_port)
            server = Server([str(programs / "rabbitmq-server")], user="rabbitmq", folder=folder, environ=environ)

            def answers() -> bool:
                with Connection(f"{LOOPBACK}:{port}", "compute", passwords["compute"], virtual_host="compute"):
                    return True

            server.wait_until(answers)
            ports.append(port)
            return server

        with running(start):
            site, compute = (
                f"amqp://{name}:{passwords[name]}@{LOOPBACK}:{ports[-1]}/{name}" for name in passwords
            )
            yield Broker(site, compute)


@contextlib.contextmanager
def _names(folder: Path) -> Iterator[int]:
    """Erlang's register of names (epmd) on a port of its own."""
    ports: list[int] = []
    program = shutil.which("epmd") or "/usr/bin/epmd"

    def start() -> Server:
        port = free_port()
        server = Server([program, "-address", LOOPBACK, "-port", str(port)], user="rabbitmq", folder=folder)
        server.wait_until(lambda: socket.create_connection((LOOPBACK, port), 2).close() is None)
        ports.append(port)
        return server

    with running(start):
        yield ports[-1]
