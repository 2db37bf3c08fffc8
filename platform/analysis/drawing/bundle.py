"""Vega and Vega-Lite for the browser, out of the installed package, as one script that is written once."""

import gzip
import hashlib
import os
import threading
from functools import cache
from importlib import metadata
from pathlib import Path

import vl_convert
from django.conf import settings

from config.home import private_folder

CONVERTER = metadata.version("vl-convert-python")
VEGA_LITE: str = vl_convert.get_vegalite_versions()[-1]  # Altair's own: a test compares them
SNIPPET = "window.vegaEmbed = vegaEmbed;"


@cache
def version() -> str:
    """Of all that decides the script: it stands in its address, so that browsers may keep it for ever."""
    parts = (CONVERTER, vl_convert.get_vega_version(), VEGA_LITE, SNIPPET)
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:12]


def script() -> bytes:
    """The script, compressed by gzip; made where nobody did yet, which takes some seconds."""
    return prepared().read_bytes()


def prepared() -> Path:
    """Where the script is kept; the site's worker calls this before somebody waits for it."""
    kept = private_folder(settings.PODIUM_HOME / "cache") / f"vega-{version()}.js.gz"
    if not kept.exists():
        made = gzip.compress(vl_convert.javascript_bundle(SNIPPET, vl_version=VEGA_LITE).encode(), 9, mtime=0)
        own = kept.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        own.write_bytes(made)
        own.replace(kept)  # whole, or not there
    return kept
