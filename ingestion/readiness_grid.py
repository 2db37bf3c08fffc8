"""The readiness check as people read it: a grid of ticks that grows, and one line about what runs now."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from ingestion.budget import format_size
from ingestion.readiness import COLUMNS, Row, ticks
from ingestion.runner import Progress
from ingestion.traits import TRAITS, Trait

WIDTH = 110
LINES_OF_LOG = 12
MARK_WIDTH = 3


class Marks:
    """A tick, a cross and a dash, or plain letters where the stream cannot show them."""

    def __init__(self, stream: TextIO) -> None:
        try:
            "✓✗–".encode(stream.encoding or "ascii")
            self.yes, self.no, self.none = "✓", "✗", "–"
        except (UnicodeEncodeError, LookupError):
            self.yes, self.no, self.none = "y", "N", "-"

    def of(self, value: bool | None) -> str:
        """The mark of a value; None means that there was nothing to look at."""
        return self.none if value is None else self.yes if value else self.no


class Grid:
    """Prints one row after the other to `stream`, and the line about the present one to `live`."""

    def __init__(self, stream: TextIO, live: TextIO | None = None, *, total: int = len(TRAITS)) -> None:
        self.stream, self.live, self.total = stream, live or sys.stderr, total
        self.marks = Marks(stream)
        self.names = max(len(trait.title) for trait in TRAITS)
        self.tasks = max(len(trait.task.split(".")[0]) for trait in TRAITS)
        self._is_terminal = self.live.isatty()
        self._place = 0
        self._now = ""

    def head(self) -> None:
        """Print the names of the columns."""
        heads = "  ".join(f"{name:^6}" for name in COLUMNS)
        line = f"{'':{MARK_WIDTH}}{'trait':<{self.names}}  {'task':<{self.tasks}}  {heads}  seconds"
        self._print(line)
        self._print("-" * len(line))

    def begin(self, trait: Trait) -> None:
        """Say which trait is tried now."""
        self._place += 1
        self._now = f"{self._place} of {self.total}: {trait.title}"
        self._write_live(self._now)

    def progress(self, progress: Progress) -> None:
        """Say how it does; only a terminal shows this."""
        memory = format_size(progress.memory_bytes)
        self._write_live(f"{self._now}, {progress.wall_seconds:.0f} s, {memory}")

    def row(self, row: Row) -> None:
        """Print the row of a trait that was tried."""
        self.clear()
        found = ticks(row.ran, row.parts)
        marks = "  ".join(f"{self.marks.of(found[name]):^6}" for name in COLUMNS)
        note = "" if row.reason is None else f"  {row.reason}"
        ok = self.marks.of(row.ok)
        self._print(
            f"{ok:<{MARK_WIDTH}}{row.title:<{self.names}}  {row.task.split('.')[0]:<{self.tasks}}  "
            f"{marks}  {row.wall_seconds:>7.1f}{note}"
        )

    def clear(self) -> None:
        """Take the live line away."""
        if self._is_terminal:
            self.live.write("\r" + " " * 79 + "\r")
            self.live.flush()

    def _write_live(self, text: str) -> None:
        if self._is_terminal:
            self.live.write(f"\r{text[:79]:<79}")
            self.live.flush()

    def _print(self, line: str) -> None:
        print(line, file=self.stream, flush=True)


def details(rows: Sequence[Row]) -> list[str]:
    """Lines about each row that failed: its sentence, the end of its log, and where the whole log is."""
    lines: list[str] = []
    for row in rows:
        if row.ok:
            continue
        # The last lines of the program follow as they are.
        sentence = row.sentence.partition(" Its last lines: ")[0]
        lines += [
            "",
            f"{row.trait}: {row.title}",
            *textwrap.wrap(sentence, WIDTH, initial_indent="  ", subsequent_indent="  "),
        ]
        tail = [line for line in row.log_tail.splitlines() if line.strip()][-LINES_OF_LOG:]
        lines += [f"    | {line[:WIDTH]}" for line in tail]
        if row.log_path is not None:
            lines.append(f"  Whole log: {row.log_path}")
    return lines


def summary(rows: Sequence[Row], *, total: int = len(TRAITS)) -> str:
    """One sentence on the whole check."""
    failed = [row for row in rows if not row.ok]
    if any(row.reason == "infrastructure" for row in failed):
        return "This machine failed, which says nothing of the submission. Nothing more was tried."
    if len(rows) < total:
        return f"Stopped after {len(rows)} of {total} traits; {len(failed)} of them failed."
    if not failed:
        return f"Ready: it ran on datasets of all {total} traits."
    names = ", ".join(row.trait for row in failed)
    return f"Not ready: {len(failed)} of {total} traits failed ({names})."


def where(output: Path) -> str:
    """Where everything was kept."""
    return f"Logs, predictions and the datasets are in {output}."
