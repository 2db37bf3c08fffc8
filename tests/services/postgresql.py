"""A PostgreSQL cluster of the tests' own."""

import contextlib
import re
import secrets
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg

from tests.services.server import Server, folder_for, free_port, running, without_rights

USER = "postgres"
ROLE = "podium"
# Nothing here outlives the tests, so nothing needs to reach the disk.
OPTIONS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "150",
    "shared_buffers": "64MB",
    "listen_addresses": "127.0.0.1",
}


def programs() -> Path | None:
    """The folder of the newest PostgreSQL's programs, where Debian's packages put them."""

    def version(path: Path) -> int:
        return int(re.sub(r"\D.*", "", path.parent.parent.name) or 0)

    found = [
        path for path in Path("/usr/lib/postgresql").glob("*/bin/initdb") if (path.parent / "postgres").exists()
    ]
    return max(found, key=version).parent if found else None


@dataclass(frozen=True)
class PostgreSQL:
    """A running cluster, whose role may make databases."""

    port: int
    password: str

    def url(self, database: str = "postgres") -> str:
        """The address of a database, as DATABASE_URL takes it."""
        return f"postgres://{ROLE}:{self.password}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """Make an empty database; returns its address."""
        name = f"podium_{secrets.token_hex(4)}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')  # type: ignore[call-overload]
        return self.url(name)


def _prepare(folder: Path, binaries: Path, password: str) -> Path:
    """Make the files of a cluster; returns their folder."""
    data, secret = folder / "data", folder / "password"
    secret.write_text(password)
    secret.chmod(0o644)  # in a folder that only the server's user can enter
    made = subprocess.run(
        [
            *(str(binaries / "initdb"), "--pgdata", str(data), "--username", ROLE, "--pwfile", str(secret)),
            *("--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions"),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        **without_rights(USER),
    )
    assert made.returncode == 0, made.stderr
    return data


@contextlib.contextmanager
def postgresql_running(binaries: Path) -> Iterator[PostgreSQL]:
    """A cluster on a free port of 127.0.0.1, with a socket folder and a password of its own."""
    with folder_for(USER) as folder:
        password = secrets.token_urlsafe(12)
        data = _prepare(folder, binaries, password)
        taken: list[PostgreSQL] = []

        def start() -> Server:
            cluster = PostgreSQL(free_port(), password)
            options = {**OPTIONS, "port": str(cluster.port), "unix_socket_directories": str(folder)}
            command = [str(binaries / "postgres"), "-D", str(data)]
            for name, value in options.items():
                command += ["-c", f"{name}={value}"]
            # SIGINT is PostgreSQL's fast shutdown: it ends the connections that are open.
            server = Server(command, user=USER, folder=folder, stop_signal=signal.SIGINT)
            server.wait_until(lambda: psycopg.connect(cluster.url(), connect_timeout=2).close() is None)
            taken.append(cluster)
            return server

        with running(start):
            yield taken[-1]
