"""Where the folder of real data and reference numbers lies, for tests that use it."""

import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent


def _find() -> Path | None:
    named = os.environ.get("PODIUM_SHARED")
    folder = Path(named) if named else CHECKOUT.parent / "shared"
    return folder if (folder / "cases").is_dir() else None


SHARED = _find()


def shared_case(name: str) -> Path:
    """The path of `cases/<name>`; skips the calling test with a reason where the folder is absent."""
    if SHARED is None:
        pytest.skip("the folder of shared cases is not beside the checkout (PODIUM_SHARED names another place)")
    path = SHARED / "cases" / name
    assert path.exists(), f"{path} is missing from the shared cases"
    return path
