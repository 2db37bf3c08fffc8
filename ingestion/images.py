"""Building the images that runs start from: `podium-base` and `podium-sandbox:latest`.

The base comes from an image that is already there, else from the public registry, else from Debian's packages,
so that a machine without a registry can run the platform too. Everything goes through the engine's API; the
docker command line is not needed.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ingestion.sandbox.engine import EngineError, connect

Say = Callable[[str], None]

BASE_IMAGE = "podium-base:latest"
SANDBOX_IMAGE = "podium-sandbox:latest"
PUBLIC_BASE = "python:3.11-slim"
PULL_PATIENCE = 20.0  # seconds without any news from the registry
DEBIAN_SUITE = "bookworm"
DEBIAN_MIRROR = "http://deb.debian.org/debian"
DEBIAN_PACKAGES = ("python3", "python3-venv", "libgomp1")
CHECKOUT = Path(__file__).resolve().parent.parent

# What a Debian tree holds that a run never reads, or that tells about the machine it was made on.
STRIPPED = (
    "var/cache/apt",
    "var/lib/apt/lists",
    "var/log",
    "usr/share/doc",
    "usr/share/man",
    "usr/share/info",
    "usr/share/locale",
    "usr/share/lintian",
    "etc/resolv.conf",
    "etc/hostname",
    "etc/machine-id",
    "etc/apt/sources.list",
    "debootstrap",
)


class ImageError(Exception):
    """An image could not be built. `str()` says why; `mend` says what to do about it."""

    def __init__(self, message: str, mend: str = "") -> None:
        super().__init__(message)
        self.mend = mend


def build_images(*, base: str | None = None, from_debian: bool = False, progress: Say = print) -> str:
    """Build `podium-base` and `podium-sandbox:latest`; returns the name of the sandbox image.

    base: an image to build upon (else PODIUM_BASE_IMAGE, else a `podium-base` that is there, else the public
    one, else Debian's packages). from_debian: go straight to Debian's packages. progress: gets one line of text
    for each step. Raises ImageError.
    """
    try:
        client = connect(timeout=600)
    except EngineError as error:
        raise ImageError(str(error), error.mend) from error
    try:
        prepare_base(client, base=base, from_debian=from_debian, progress=progress)
        _build_sandbox(client, progress)
    finally:
        client.close()
    return SANDBOX_IMAGE


def prepare_base(client: Any, *, base: str | None, from_debian: bool, progress: Say) -> None:
    """Make `podium-base:latest` exist. Raises ImageError when no way leads there."""
    wanted = base or os.environ.get("PODIUM_BASE_IMAGE")
    if from_debian:
        _base_from_debian(client, progress)
    elif wanted:
        if not _has_image(client, wanted):
            progress(f"The base {wanted} is not on this machine; pulling it.")
            _pull(client, wanted, progress)
        _tag(client, wanted, progress)
    elif _has_image(client, BASE_IMAGE):
        progress("Using the podium-base that is already there.")
    else:
        _base_from_anywhere(client, progress)


def _base_from_anywhere(client: Any, progress: Say) -> None:
    progress(f"Pulling {PUBLIC_BASE}.")
    try:
        if not _has_image(client, PUBLIC_BASE):
            _pull(client, PUBLIC_BASE, progress)
        _tag(client, PUBLIC_BASE, progress)
    except ImageError as error:
        progress(f"{error} Trying Debian's packages instead.")
        _base_from_debian(client, progress)


def _has_image(client: Any, name: str) -> bool:
    import docker.errors

    try:
        client.images.get(name)
    except docker.errors.ImageNotFound:
        return False
    return True


def _tag(client: Any, name: str, progress: Say) -> None:
    client.images.get(name).tag("podium-base", "latest")
    progress(f"podium-base is now {name}.")


def _pull(client: Any, name: str, progress: Say) -> None:
    """Pull an image, giving up when the registry says nothing for PULL_PATIENCE seconds."""
    news = threading.Event()
    failure: list[str] = []

    def pull() -> None:
        try:
            repository, _, tag = name.partition(":") if "@" not in name else (name, "", "")
            for line in client.api.pull(repository, tag=tag or None, stream=True, decode=True):
                news.set()
                if "error" in line:
                    failure.append(str(line["error"]))
        except Exception as error:  # the thread must hand on whatever stopped it
            failure.append(str(error))

    thread = threading.Thread(target=pull, daemon=True)
    thread.start()
    while thread.is_alive():
        news.clear()
        thread.join(PULL_PATIENCE)
        if thread.is_alive() and not news.is_set():
            raise ImageError(f"{name} could not be pulled: the registry did not answer for {PULL_PATIENCE:.0f} s.")
        if thread.is_alive():
            progress(f"Still pulling {name}.")
    if failure:
        raise ImageError(f"{name} could not be pulled: {_one_line(failure[-1])}.")


def _one_line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")[:300]


# Debian's packages ----------------------------------------------------------------------------------------


def _base_from_debian(client: Any, progress: Say) -> None:
    mend = (
        "Give an image that has Python 3 with `./podium images --base IMAGE`, "
        "or run `./podium images --from-debian` as root after `apt-get install debootstrap`."
    )
    if os.name != "posix" or os.geteuid() != 0:
        raise ImageError("A base from Debian's packages needs root, because debootstrap unpacks as root.", mend)
    if shutil.which("debootstrap") is None:
        raise ImageError("A base from Debian's packages needs debootstrap, which is not installed.", mend)
    with tempfile.TemporaryDirectory(prefix="podium-base-") as folder:
        tree = Path(folder) / "tree"
        _debootstrap(tree, progress)
        for name in STRIPPED:
            _remove(tree / name)
        for name in ("var/log", "var/cache/apt/archives/partial", "var/lib/apt/lists/partial"):
            (tree / name).mkdir(parents=True, exist_ok=True)
        progress("Importing the tree as podium-base.")
        _import_tree(client, tree)


def _debootstrap(tree: Path, progress: Say) -> None:
    progress(f"Unpacking Debian {DEBIAN_SUITE} with Python from {DEBIAN_MIRROR} (about a minute).")
    command = ["debootstrap", "--variant=minbase", f"--include={','.join(DEBIAN_PACKAGES)}"]
    process = subprocess.Popen(
        [*command, DEBIAN_SUITE, str(tree), DEBIAN_MIRROR],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    assert process.stdout is not None
    last, said = "", 0
    for number, line in enumerate(process.stdout):
        last = line.strip() or last
        if number - said >= 60:
            said = number
            progress(f"  {last}")
    if process.wait() != 0:
        raise ImageError(f"debootstrap failed: {_one_line(last)}.", f"See whether {DEBIAN_MIRROR} can be reached.")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _import_tree(client: Any, tree: Path) -> None:
    process = subprocess.Popen(["tar", "--numeric-owner", "-C", str(tree), "-c", "."], stdout=subprocess.PIPE)
    assert process.stdout is not None
    client.api.import_image_from_stream(
        process.stdout,
        repository="podium-base",
        tag="latest",
        changes=["ENV LANG=C.UTF-8", 'CMD ["python3"]', "LABEL podium.image=base"],
    )
    if process.wait() != 0 or not _has_image(client, BASE_IMAGE):
        raise ImageError(
            "The Debian tree could not be imported into the engine.",
            "Is its disk full? See `docker system df`.",
        )


# The sandbox image ----------------------------------------------------------------------------------------


def _build_sandbox(client: Any, progress: Say) -> None:
    arguments = {"BASE_IMAGE": BASE_IMAGE, **_index_arguments(progress)}
    authority = extra_authority()
    if authority is not None:
        progress(f"Certificates of {authority} are used while packages are installed, and left out of the image.")
    progress(f"Building {SANDBOX_IMAGE} from docker/sandbox.Dockerfile.")
    lines = client.api.build(
        fileobj=build_context(CHECKOUT, authority),
        custom_context=True,
        encoding="gzip",
        dockerfile="docker/sandbox.Dockerfile",
        buildargs=arguments,
        tag=SANDBOX_IMAGE,
        rm=True,
        forcerm=True,
        decode=True,
    )
    try:
        _follow_build(lines, progress)
    finally:
        _remove_stages(client)
    image = client.images.get(SANDBOX_IMAGE)
    progress(f"{SANDBOX_IMAGE} is ready: {image.short_id}, {image.attrs['Size'] / 1e6:.0f} MB.")


def _follow_build(lines: Iterable[dict[str, Any]], progress: Say) -> None:
    recent: list[str] = []
    for line in lines:
        if "error" in line:
            why = next((text for text in reversed(recent) if "ERROR" in text), str(line["error"]))
            raise ImageError(
                f"The sandbox image could not be built: {_one_line(why)}.",
                "Behind a proxy with its own certificate authority, set PODIUM_EXTRA_CA to its bundle.",
            )
        text = str(line.get("stream", "")).strip()
        if text:
            recent = [*recent[-40:], text]
        if text.startswith(("Step ", "Collecting", "Downloading", "Installing", "Successfully")):
            progress(f"  {text.splitlines()[0][:160]}")


def _remove_stages(client: Any) -> None:
    """Remove the untagged images of the first stage: they hold the extra authority."""
    import docker.errors

    for image in client.images.list(filters={"dangling": True, "label": "podium.stage=packages"}):
        try:
            client.images.remove(image.id, force=True)
        except docker.errors.APIError:
            continue  # a parent that went with its child


def build_context(checkout: Path, authority: Path | None) -> io.BytesIO:
    """The files that the build may see, as a gzipped tar: nothing else of the checkout reaches the engine."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in ("docker/sandbox.Dockerfile", "requirements.in"):
            archive.add(checkout / name, arcname=name)
        if authority is not None:
            archive.add(authority.resolve(), arcname="extra-ca.crt")
    buffer.seek(0)
    return buffer


def extra_authority() -> Path | None:
    """The certificate bundle to install packages with: PODIUM_EXTRA_CA, else what pip on this machine is told."""
    for variable in ("PODIUM_EXTRA_CA", "PIP_CERT", "SSL_CERT_FILE"):
        value = os.environ.get(variable)
        if not value:
            continue
        if Path(value).is_file():
            return Path(value)
        if variable == "PODIUM_EXTRA_CA":
            raise ImageError(
                f"PODIUM_EXTRA_CA names {value}, which is not a file.", "Name a PEM bundle, or unset it."
            )
    return None


def _index_arguments(progress: Say) -> dict[str, str]:
    return dict(_safe_arguments(os.environ.get("PIP_INDEX_URL"), os.environ.get("PIP_TRUSTED_HOST"), progress))


def _safe_arguments(index: str | None, trusted: str | None, progress: Say) -> Iterator[tuple[str, str]]:
    if index:
        if urlsplit(index).password or urlsplit(index).username:
            progress("PIP_INDEX_URL holds a password and is not handed to the build.")
        else:
            yield "PIP_INDEX_URL", index
    if trusted:
        yield "PIP_TRUSTED_HOST", trusted
