"""Specifications as pictures on white, by the Vega that the installed package carries; kept by what they show."""

import hashlib
import json
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import vl_convert
from django.conf import settings

from analysis.charts.fit import fitted
from analysis.charts.look import on_paper
from analysis.drawing.bundle import CONVERTER, VEGA_LITE
from config.home import private_folder

SCALE = 2.0  # pixels of a PNG for each of the picture's
FONT = "DejaVu Sans, Liberation Sans, Arial, sans-serif"  # what converters have, in this order
KEPT_SECONDS = 30 * 86400
MOST_BYTES = 500 * 2**20
# One figure that cannot be drawn takes neither its page nor a whole report with it.
NOT_DRAWN = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="60" viewBox="0 0 720 60">'
    b'<rect width="720" height="60" fill="#ffffff"/><text x="10" y="35" font-family="sans-serif" font-size="14">'
    b"This figure could not be drawn. Its numbers are in its table.</text></svg>"
)
log = logging.getLogger(__name__)


def svg(spec: dict[str, Any]) -> bytes:
    """The picture as SVG; nothing that the specification names is fetched."""
    config = {**on_paper(), "background": "#ffffff", "font": FONT}
    asked = json.dumps([fitted(spec), config], sort_keys=True)

    def made() -> bytes:
        picture, look = json.loads(asked)
        text: str = vl_convert.vegalite_to_svg(picture, VEGA_LITE, config=look, allowed_base_urls=[])
        return text.encode()

    try:
        return _kept(asked, "svg", made)
    except ValueError:  # what the converter raises, whatever is wrong
        log.exception("a figure could not be drawn")
        return NOT_DRAWN


def png(spec: dict[str, Any]) -> bytes:
    """The same as PNG, with twice the pixels."""
    drawn = svg(spec).decode()
    return _kept(drawn, "png", lambda: bytes(vl_convert.svg_to_png(drawn, scale=SCALE)))


def sweep() -> None:
    """Remove pictures at which nobody has looked for long, and the oldest where they are too many."""
    found = [(path.stat(), path) for path in _folder().iterdir() if path.is_file()]
    room = MOST_BYTES
    for status, path in sorted(found, key=lambda one: -one[0].st_mtime):
        room -= status.st_size
        if room < 0 or status.st_mtime < time.time() - KEPT_SECONDS:
            path.unlink(missing_ok=True)


def _kept(asked: str, suffix: str, make: Callable[[], bytes]) -> bytes:
    """What is kept under the hash of what it shows; made where it is not."""
    digest = hashlib.sha256(f"{CONVERTER} {VEGA_LITE} {asked}".encode()).hexdigest()
    kept = _folder() / f"{digest}.{suffix}"
    try:
        content = kept.read_bytes()
        os.utime(kept)
    except FileNotFoundError:
        content = make()
        own = kept.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        own.write_bytes(content)
        own.replace(kept)  # whole, or not there
    return content


def _folder() -> Path:
    return private_folder(private_folder(settings.PODIUM_HOME / "cache") / "pictures")
