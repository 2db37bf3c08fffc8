"""One build by the engine, and the small contexts that some builds need."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable
from typing import IO, Any

from ingestion.images.errors import ImageError, Say, one_line


def run_build(client: Any, context: IO[bytes], progress: Say, **options: Any) -> str:
    """Have the engine build a context; returns the image's id. Raises ImageError with the line that says why."""
    recent: list[str] = []
    image_id = ""
    lines: Iterable[dict[str, Any]] = client.api.build(
        fileobj=context, custom_context=True, rm=True, forcerm=True, decode=True, **options
    )
    for line in lines:
        if "error" in line:
            why = next((text for text in reversed(recent) if "ERROR" in text), str(line["error"]))
            raise ImageError(
                f"The image could not be built: {one_line(why)}.",
                "Behind a proxy with its own certificate authority, set PODIUM_EXTRA_CA to its bundle.",
            )
        image_id = line.get("aux", {}).get("ID", image_id)
        text = str(line.get("stream", "")).strip()
        if text:
            recent = [*recent[-40:], text]
        if text.startswith(("Step ", "Collecting", "Downloading", "Installing", "Successfully")):
            progress(f"  {text.splitlines()[0][:160]}")
    if not image_id:
        raise ImageError("The engine ended the build without an image.")
    return image_id


def context_of(files: dict[str, bytes]) -> io.BytesIO:
    """A build context with these files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    buffer.seek(0)
    return buffer
