"""Building an image from its Dockerfile, and the label that lists its packages."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ingestion.image_names import PACKAGES_LABEL, RECIPES, Recipe
from ingestion.images.bases import prepare_base
from ingestion.images.errors import ImageError, Say
from ingestion.images.steps import context_of, run_build
from ingestion.sandbox.engine import EngineError, connect

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGES_FILE = "/opt/podium/packages.txt"


def build_image(
    name: str = "sandbox",
    *,
    base: str | None = None,
    from_debian: bool = False,
    python: Path | None = None,
    progress: Say = print,
) -> str:
    """Build one image and its base; returns the image's name.

    base: an image to build upon (else what `prepare_base` finds). from_debian: ask no registry for the base.
    python: the interpreter whose tree becomes the base's Python, for a recipe that wants a certain version.
    progress: gets one line of text for each step. Raises ImageError.
    """
    recipe = RECIPES[name]
    try:
        client = connect(timeout=600)
    except EngineError as error:
        raise ImageError(str(error), error.mend) from error
    try:
        prepare_base(client, recipe, base=base, from_debian=from_debian, python=python, progress=progress)
        _build(client, recipe, progress)
    finally:
        client.close()
    return recipe.image


def _build(client: Any, recipe: Recipe, progress: Say) -> None:
    arguments = {"BASE_IMAGE": recipe.base, **_index_arguments(progress)}
    authority = extra_authority()
    if authority is not None:
        progress(f"Certificates of {authority} are used while packages are installed, and left out of the image.")
    progress(f"Building {recipe.image} from {recipe.dockerfile}.")
    try:
        unlabelled = run_build(
            client,
            build_context(CHECKOUT, recipe, authority),
            progress,
            encoding="gzip",
            dockerfile=recipe.dockerfile,
            buildargs=arguments,
        )
    finally:
        _remove_stages(client)
    run_build(client, _labelling(unlabelled, packages_in(client, unlabelled)), progress, tag=recipe.image)
    image = client.images.get(recipe.image)
    progress(f"{recipe.image} is ready: {image.short_id}, {image.attrs['Size'] / 1e6:.0f} MB.")


def packages_in(client: Any, image: str) -> list[str]:
    """What is installed in a built image, as `name==version`: the list that its build wrote."""
    container = client.containers.create(image)
    try:
        chunks, _ = container.get_archive(PACKAGES_FILE)
        with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as archive:
            file = archive.extractfile(PACKAGES_FILE.rpartition("/")[2])
            assert file is not None, "the engine hands out a file under its own name"
            return file.read().decode().split()
    finally:
        container.remove(force=True)


def _labelling(image: str, packages: list[str]) -> io.BytesIO:
    """The context of a build that adds nothing but the label: what it says is known only after installing."""
    text = f'FROM {image}\nLABEL {PACKAGES_LABEL}="{" ".join(packages)}"\n'.encode()
    return context_of({"Dockerfile": text})


def _remove_stages(client: Any) -> None:
    """Remove the untagged images of the first stage: they hold the extra authority."""
    import docker.errors

    for image in client.images.list(filters={"dangling": True, "label": "podium.stage=packages"}):
        try:
            client.images.remove(image.id, force=True)
        except docker.errors.APIError:
            continue  # a parent that went with its child


def build_context(checkout: Path, recipe: Recipe, authority: Path | None) -> io.BytesIO:
    """The files that the build may see, as a gzipped tar: nothing else of the checkout reaches the engine."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in (recipe.dockerfile, recipe.pins):
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
