"""The versions of what computes and draws, for reports."""

import platform
import tomllib
from functools import cache
from importlib import metadata

from django.conf import settings

PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "statsmodels",
    "pymfe",
    "pandas",
    "altair",
    "vl-convert-python",
)


@cache
def podium_version() -> str:
    """Podium's own version."""
    project = tomllib.loads((settings.ROOT / "pyproject.toml").read_text())
    return str(project["project"]["version"])


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """Python and the installed packages, each with its version."""
    found = [("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            found.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            continue
    return tuple(found)
