"""A whole installation for a test: its own data folder, port, site, site worker and compute worker."""

import contextlib
import io
import os
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import requests

from tests.shared import CHECKOUT

PASSWORD = "a long pass phrase"
SLUG = "trial"


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def zipped(files: dict[str, str]) -> bytes:
    """A zip with these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


class Installation:
    """`./podium up` in processes of its own.

    `services` are variables that name a database or a broker; without `compute` there is no compute worker.
    """

    def __init__(
        self, home: Path, sandbox: str, *, services: dict[str, str] | None = None, compute: bool = True
    ) -> None:
        self.home = home
        self.compute = compute
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.said = home.parent / f"{home.name}.log"
        keep = {key: value for key, value in os.environ.items() if not key.startswith(("PODIUM_", "DJANGO_"))}
        self.environ = {
            **keep,
            "PODIUM_HOME": str(home),
            "PODIUM_SANDBOX": sandbox,
            **(services or {}),
            "PYTHONPATH": f"{CHECKOUT}{os.pathsep}{CHECKOUT / 'platform'}",
        }
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        """Start it and wait until it serves."""
        words = ["up", "--port", str(self.port), *([] if self.compute else ["--no-compute"])]
        with self.said.open("wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "operations", *words],
                cwd=CHECKOUT,
                env=self.environ,
                stdout=said,
                stderr=subprocess.STDOUT,
            )
        end = time.monotonic() + 90
        while "Podium serves" not in self.said.read_text():
            assert self.process.poll() is None, self.said.read_text()
            assert time.monotonic() < end, f"{self.said.read_text()}\n{self.logs()}"
            time.sleep(0.2)

    def stop(self) -> None:
        """Ask it to stop, and see that it ends in good order."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def python(self, *words: str) -> str:
        """Run a Python command of this installation; returns its standard output."""
        answer = subprocess.run(
            [sys.executable, *words], cwd=CHECKOUT, env=self.environ, capture_output=True, text=True, timeout=120
        )
        assert answer.returncode == 0, answer.stderr
        return answer.stdout

    def logs(self) -> str:
        """The end of every log, to read when a test fails."""
        parts = []
        for path in sorted((self.home / "logs").glob("*.log")):
            parts.append(f"--- {path.name}\n{path.read_text(errors='replace')[-3000:]}")
        return "\n".join(parts)

    def processes(self, words: str) -> list[int]:
        """The processes of this installation, and only this, whose command holds `words`."""
        found = []
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                environ = (folder / "environ").read_bytes().split(b"\0")
                if words in command and f"PODIUM_HOME={self.home}".encode() in environ:
                    found.append(int(folder.name))
        return found


class Person:
    """Somebody at a browser: keeps cookies, and sends the CSRF token as forms do."""

    def __init__(self, installation: Installation, name: str = "") -> None:
        self.site = installation
        self.name = name
        self.session = requests.Session()

    def get(self, path: str, **options) -> requests.Response:
        """Open a page."""
        return self.session.get(self.site.url + path, timeout=30, **options)

    def post(self, path: str, data: dict | None = None, **options) -> requests.Response:
        """Send a form."""
        token = self.session.cookies.get("podium_csrf", "")
        headers = {"X-CSRFToken": token, "Referer": self.site.url + path, **options.pop("headers", {})}
        return self.session.post(self.site.url + path, data=data or {}, headers=headers, timeout=60, **options)

    def register(self) -> "Person":
        """Make an account, which also logs in."""
        self.get("/accounts/signup/")
        form = {
            "username": self.name,
            "email": f"{self.name}@example.org",
            "password1": PASSWORD,
            "password2": PASSWORD,
        }
        answer = self.post("/accounts/signup/", form, allow_redirects=False)
        assert answer.status_code == 302, answer.text
        return self

    def log_in(self, password: str = PASSWORD) -> "Person":
        """Log in to an account that exists."""
        self.get("/accounts/login/")
        form = {"login": self.name, "password": password}
        answer = self.post("/accounts/login/", form, allow_redirects=False)
        assert answer.status_code == 302, answer.text
        return self

    def join(self) -> "Person":
        """Take part in the trial competition."""
        self.get(f"/competitions/{SLUG}/")
        answer = self.post(f"/competitions/{SLUG}/join/", allow_redirects=False)
        assert answer.status_code == 302, answer.text
        return self

    def upload(self, content: bytes, *, filename: str = "submission.zip", phase: int = 1) -> requests.Response:
        """Send an archive as the upload form does; the answer is asked for as JSON."""
        path = f"/competitions/{SLUG}/submissions/"
        if "podium_csrf" not in self.session.cookies:
            self.get("/accounts/login/")
        return self.post(
            path,
            {"phase": str(phase)},
            files={"archive": (filename, content, "application/zip")},
            headers={"Accept": "application/json"},
            allow_redirects=False,
        )

    def accepted(self, content: bytes, **options) -> int:
        """Send an archive that must be accepted; returns the submission's number."""
        answer = self.upload(content, **options)
        assert answer.status_code == 201, answer.text
        return answer.json()["submission"]


@contextlib.contextmanager
def running(
    home: Path, sandbox: str, *, services: dict[str, str] | None = None, compute: bool = True
) -> Iterator[Installation]:
    """A prepared installation that serves; it is stopped afterwards, and nothing of it may stay."""
    installation = Installation(home, sandbox, services=services, compute=compute)
    installation.python("-m", "tests.end_to_end.prepare")
    installation.start()
    try:
        yield installation
    finally:
        installation.stop()
    assert installation.processes("") == []
