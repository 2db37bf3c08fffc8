"""Bases of images: from one that is there, a registry, Debian's packages, or a Python of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

from ingestion.image_names import RECIPES, Recipe
from ingestion.images.errors import ImageError, Say, one_line
from ingestion.images.machine_python import find_python, lay_python

PULL_PATIENCE = 20.0  # seconds without any news from the registry
DEBIAN_SUITE = "bookworm"
DEBIAN_MIRROR = "http://deb.debian.org/debian"
DEBIAN_PACKAGES = ("python3", "python3-venv", "libgomp1")

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


def prepare_base(
    client: Any,
    recipe: Recipe,
    *,
    base: str | None = None,
    from_debian: bool = False,
    python: Path | None = None,
    progress: Say = print,
) -> None:
    """Make the base of a recipe exist under its name. Raises ImageError when no way leads there.

    An image named by `base`, or by PODIUM_BASE_IMAGE for a recipe without a version of its own, becomes it. Else
    one that is there is used, else the public one is pulled, else it is made from what this machine has.
    from_debian: ask no registry, and make it anew. python: the interpreter to lay into it, likewise.
    """
    wanted = base or (os.environ.get("PODIUM_BASE_IMAGE") if not recipe.python else None)
    if from_debian or python is not None:
        _base_from_here(client, recipe, python, progress, anew=from_debian)
    elif wanted:
        if not _has_image(client, wanted):
            progress(f"The base {wanted} is not on this machine; pulling it.")
            _pull(client, wanted, progress)
        _tag(client, wanted, recipe, progress)
    elif _has_image(client, recipe.base):
        progress(f"Using the {recipe.base} that is already there.")
    else:
        _base_from_anywhere(client, recipe, progress)


def _base_from_anywhere(client: Any, recipe: Recipe, progress: Say) -> None:
    progress(f"Pulling {recipe.public_base}.")
    try:
        if not _has_image(client, recipe.public_base):
            _pull(client, recipe.public_base, progress)
        _tag(client, recipe.public_base, recipe, progress)
    except ImageError as error:
        progress(f"{error} Trying what this machine has instead.")
        _base_from_here(client, recipe, None, progress)


def _base_from_here(
    client: Any, recipe: Recipe, python: Path | None, progress: Say, *, anew: bool = False
) -> None:
    """Debian's packages, with the tree of a Python of this machine where a recipe wants another version."""
    default = RECIPES["sandbox"]
    if not recipe.python:
        _base_from_debian(client, progress)
        return
    found = find_python(recipe.python, python)
    if anew or not _has_image(client, default.base):
        _base_from_debian(client, progress)
    progress(f"Laying Python {recipe.python} of {found.prefix} onto {default.base}, as {recipe.base}.")
    lay_python(client, found, onto=default.base, tag=recipe.base, progress=progress)


def _has_image(client: Any, name: str) -> bool:
    import docker.errors

    try:
        client.images.get(name)
    except docker.errors.ImageNotFound:
        return False
    return True


def _tag(client: Any, name: str, recipe: Recipe, progress: Say) -> None:
    repository, _, tag = recipe.base.partition(":")
    client.images.get(name).tag(repository, tag)
    progress(f"{recipe.base} is now {name}.")


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
        raise ImageError(f"{name} could not be pulled: {one_line(failure[-1])}.")


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
        raise ImageError(f"debootstrap failed: {one_line(last)}.", f"See whether {DEBIAN_MIRROR} can be reached.")


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
    if process.wait() != 0 or not _has_image(client, RECIPES["sandbox"].base):
        raise ImageError(
            "The Debian tree could not be imported into the engine.",
            "Is its disk full? See `docker system df`.",
        )
