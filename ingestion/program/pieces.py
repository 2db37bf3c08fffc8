"""Text files of any size in pieces, converted on all cores; and how an error in one of them is told.

Nothing newer than Python 3.9 and numpy 1.22 is used here.
"""

from __future__ import annotations

import os
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ingestion.program.errors import DataError
from ingestion.program.numbers import Converter, Numbers

_PIECE = 512 * 1024  # bytes that are converted at a time: the work on more would not stay in a core's own cache
_READ = 1024 * 1024
_LONGEST_WORD = 1024 * 1024
_MOST_THREADS = 16
_SPACES = b" \t\r\v\f\n"
_WORDS = bytes(ord(" " if letter in _SPACES else "x") for letter in range(256))
_BLANK = re.compile(rb"[ \t\r\v\f\n]")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Converted(NamedTuple):
    """A piece of a file, and the numbers in it, or None where it is written in another way than it should be."""

    piece: bytes
    numbers: Numbers | None


def show(token: bytes) -> str:
    """A token for an error message: printable and short."""
    text = token[:200].decode("utf-8", "replace")
    return repr(text if len(text) <= 40 else text[:37] + "...")


def beginning(path: Path, most: int = 4 * 1024 * 1024) -> bytes:
    """The first bytes of a file, without a line that is cut off there unless there is no other."""
    with path.open("rb") as file:
        start = file.read(most)
        is_cut = bool(file.read(1))
    if start.startswith(_BYTE_ORDER_MARK):
        start = start[3:]
    if _is_old_mac(start):
        start = start.replace(b"\r", b"\n")
    return start[: start.rfind(b"\n") + 1] or start if is_cut else start


def count_words(text: bytes) -> int:
    """How many words `split` would give, without making them."""
    return (b" " + text.translate(_WORDS)).count(b" x")


def pieces(path: Path) -> Iterator[bytes]:
    """The file in pieces that end behind a blank or a line end, without a byte order mark.

    A file whose only line ends are carriage returns (old Mac) is read as if they were newlines. Raises DataError
    for a word that is longer than any number.
    """
    waiting = b""
    for number, block in enumerate(_blocks(path), start=1):
        waiting += block
        begin = 0
        while len(waiting) - begin > _PIECE:
            found = _BLANK.search(waiting, begin + _PIECE)
            if found is None:
                break
            yield waiting[begin : found.end()]
            begin = found.end()
        waiting = waiting[begin:]
        if len(waiting) > _PIECE + _LONGEST_WORD:
            line = 1 + sum(block.count(b"\n") for block in islice(_blocks(path), number))
            raise DataError(f"{path.name} line {line}", f"{show(waiting[_PIECE:])} is longer than any number")
    if waiting:
        yield waiting


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        block = file.read(_READ)
        if block.startswith(_BYTE_ORDER_MARK):
            block = block[3:] + file.read(3)
        old_mac = _is_old_mac(block)
        while block:
            yield block.replace(b"\r", b"\n") if old_mac else block
            block = file.read(_READ)


def _is_old_mac(start: bytes) -> bool:
    """Whether carriage returns alone end the lines."""
    return b"\n" not in start and b"\r" in start.rstrip(_SPACES)


class Growing:
    """A vector that grows at its end. The system moves its pages: there are never two copies of it."""

    def __init__(self, kind: Any) -> None:
        self._array = np.empty(0, dtype=kind)
        self.size = 0

    def extend(self, values: Any) -> None:
        """Put values behind those that are there."""
        needed = self.size + len(values)
        if needed > self._array.size:
            self._array.resize(needed + needed // 16, refcheck=False)
        self._array[self.size : needed] = values
        self.size = needed

    def taken(self) -> Any:
        """The vector at its right length; nothing can be put in any more."""
        array, self._array = self._array, np.empty(0)
        array.resize(self.size, refcheck=False)
        return array


def threads_for(path: Path) -> int:
    """How many threads reading is worth: the cores that this process may keep busy, fewer for a small file."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        cores = min(cores, int(asked))
    return min(cores, _MOST_THREADS, path.stat().st_size // (4 * _PIECE) + 1)


def converted(path: Path, convert: Callable[[Converter, bytes], Numbers | None]) -> Iterator[Converted]:
    """Each piece of the file with what `convert` makes of it, in order."""
    threads = threads_for(path)
    own = threading.local()

    def work(piece: bytes) -> Converted:
        if not hasattr(own, "converter"):
            own.converter = Converter()
        return Converted(piece, convert(own.converter, piece))

    if threads == 1:
        yield from map(work, pieces(path))
        return
    # Imported here: most runs read a binary cache, and their start is counted.
    from concurrent.futures import Future, ThreadPoolExecutor

    waiting: deque[Future[Converted]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="podium-reading") as pool:
        for piece in pieces(path):
            try:
                waiting.append(pool.submit(work, piece))
            except RuntimeError:  # the budget has no process left for another thread
                waiting.append(Future())
                waiting[-1].set_result(work(piece))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
