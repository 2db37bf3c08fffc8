"""What goes wrong while images are built, and how progress is told."""

from __future__ import annotations

from collections.abc import Callable

Say = Callable[[str], None]


class ImageError(Exception):
    """An image could not be built. `str()` says why; `mend` says what to do about it."""

    def __init__(self, message: str, mend: str = "") -> None:
        super().__init__(message)
        self.mend = mend


def one_line(text: str) -> str:
    """The text on one line, without a full stop, and not too long."""
    return " ".join(text.split()).rstrip(".")[:300]
