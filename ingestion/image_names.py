"""Names of images: which ones exist, which ones the operator allows, and how to get one that is not there."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

SANDBOX_IMAGE = "podium-sandbox:latest"
AUTOSKLEARN_IMAGE = "podium-sandbox-autosklearn:latest"
BUNDLES_IMAGE = "podium-bundles:latest"
PACKAGES_LABEL = "org.podium.packages"

_ID = re.compile(r"sha256:[0-9a-f]{64}")
_NAME = re.compile(r"[a-z0-9][a-z0-9._:/-]*(:[A-Za-z0-9_][A-Za-z0-9._-]*)?(@sha256:[0-9a-f]{64})?")


class BadImageName(ValueError):
    """A text that names no image."""


@dataclass(frozen=True)
class Recipe:
    """An image that `./podium images` builds, and what it is built upon.

    name: what the command calls it. base: the tag under which its base is kept. public_base: where that comes
    from when a registry can be reached. python: the version that the base has to have, where it matters.
    """

    name: str
    image: str
    base: str
    public_base: str
    dockerfile: str
    pins: str
    python: str = ""


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            "sandbox",
            SANDBOX_IMAGE,
            "podium-base:latest",
            "python:3.11-slim",
            "docker/sandbox.Dockerfile",
            "docker/sandbox.txt",
        ),
        Recipe(
            "autosklearn",
            AUTOSKLEARN_IMAGE,
            "podium-base-python3.9:latest",
            "python:3.9-slim",
            "docker/sandbox-autosklearn.Dockerfile",
            "docker/sandbox-autosklearn.txt",
            "3.9",
        ),
        Recipe(
            "bundles",
            BUNDLES_IMAGE,
            "podium-base:latest",
            "python:3.11-slim",
            "docker/bundles.Dockerfile",
            "docker/bundles.txt",
        ),
    )
}

USUAL_IMAGES = ["sandbox", "bundles"]  # what a site needs that also imports competitions


def full_name(text: str) -> str:
    """An image's name with its tag (`latest` where it has none), or its id. Raises BadImageName."""
    name = text.strip()
    if _ID.fullmatch(name):
        return name
    if not _NAME.fullmatch(name) or name.startswith("sha256:"):
        raise BadImageName(f"{name!r} is not the name of an image")
    has_tag = "@" in name or ":" in name.rpartition("/")[2]
    return name if has_tag else f"{name}:latest"


def allowed_images(setting: str | None = None) -> tuple[str, ...]:
    """The images that phases may choose: those of `setting`, else of PODIUM_IMAGES, else those of our own.

    The setting holds names, names with a digest (`name@sha256:...`) or ids (`sha256:...`), separated by commas or
    blanks. Raises BadImageName.
    """
    text = os.environ.get("PODIUM_IMAGES", "") if setting is None else setting
    names = [full_name(word) for word in re.split(r"[,\s]+", text) if word]
    return tuple(dict.fromkeys(names)) or (SANDBOX_IMAGE, AUTOSKLEARN_IMAGE, BUNDLES_IMAGE)


def how_to_get(image: str) -> str:
    """The line that puts an image on a machine."""
    if image in [RECIPES[name].image for name in USUAL_IMAGES]:
        return "./podium images"
    for recipe in RECIPES.values():
        if recipe.image == image:
            return f"./podium images --name {recipe.name}"
    return f"docker load, or docker build, for {image}" if _ID.fullmatch(image) else f"docker pull {image}"


def short_id(image_id: str) -> str:
    """The first twelve digits of an image's id, as Docker shows it."""
    return image_id.removeprefix("sha256:")[:12]
