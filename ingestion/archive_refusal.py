"""The one exception that an archive at fault raises."""

from __future__ import annotations

# Helps whatever is wrong with the archive of a dataset.
PACK_AGAIN = "Pack the dataset again as a plain zip of its own files."


class RefusedArchive(Exception):
    """An archive is refused; `str()` is one sentence for its author, `mend` what would help (may be empty)."""

    def __init__(self, message: str, entry: str | None = None, mend: str = "") -> None:
        sentence = message[:1].upper() + message[1:]
        super().__init__(sentence if sentence.endswith(".") else f"{sentence}.")
        # Shown on pages and in logs: nothing that a terminal or a browser would act on.
        self.entry = None if entry is None else "".join(c if c.isprintable() else "?" for c in entry)
        self.mend = mend
