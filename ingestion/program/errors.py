"""What is said about a dataset's files that are at fault."""

from __future__ import annotations

_LONGEST_TEXT = 1000


class DataError(Exception):
    """A data file is at fault: `place` says which file and line, `message` what is wrong there."""

    def __init__(self, place: str, message: str) -> None:
        self.place = printable(place)
        self.message = printable(message)
        super().__init__(f"{self.place}: {self.message}" if place else self.message)


def printable(text: str) -> str:
    """A text with nothing in it that a terminal would act on or that cannot be seen, and not endless."""
    text = text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "..."
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
