"""The data folder of an installation: where it is, who may read it, and its own secret."""

import os
import secrets
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def podium_home() -> Path:
    """Return the data folder (`PODIUM_HOME`, default `var/` in the checkout), made with mode 0700."""
    home = Path(os.environ.get("PODIUM_HOME") or ROOT / "var").expanduser().resolve()
    private_folder(home)
    return home


def private_folder(path: Path) -> Path:
    """Make a folder that only its owner can enter, also when it was there with a wider mode."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.stat().st_mode & 0o077:
        path.chmod(0o700)
    return path


def stored_secret(home: Path, name: str) -> str:
    """Return this installation's secret `name`, made at random on first use and kept with mode 0600.

    Two processes may start at once: the one that creates the file first decides, the other reads it.
    """
    path = home / name
    text = secrets.token_urlsafe(50)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read_when_written(path)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    return text


def _read_when_written(path: Path) -> str:
    import time

    for _ in range(100):
        text = path.read_text().strip()
        if text:
            return text
        time.sleep(0.02)
    raise RuntimeError(f"{path} is empty; remove it, and the next start makes a new secret")
