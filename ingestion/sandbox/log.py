"""What a program prints, kept within bounds: its beginning and its end."""

from __future__ import annotations

import re
import threading
from collections import deque

# Terminal sequences (CSI, OSC) and control characters other than tab and newline.
_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?|\x1b.?|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
# What turns the direction of text or cannot be seen: a line could be read as another one.
_DECEIVING = re.compile(
    "[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
LONGEST_LINE = 4_000  # characters


class BoundedLog:
    """Takes any amount of bytes; keeps at most `limit`, half from the start and half from the end.

    Safe to use from several threads.
    """

    def __init__(self, limit: int) -> None:
        self._head_room = max(1, limit // 2)
        self._tail_room = max(1, limit - self._head_room)
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._dropped = 0
        self._lock = threading.Lock()

    def feed(self, chunk: bytes) -> None:
        """Take what was printed next."""
        with self._lock:
            room = self._head_room - len(self._head)
            if room > 0:
                self._head += chunk[:room]
                chunk = chunk[room:]
            if not chunk:
                return
            self._tail.append(chunk)
            self._tail_size += len(chunk)
            while self._tail_size - len(self._tail[0]) >= self._tail_room:
                gone = self._tail.popleft()
                self._tail_size -= len(gone)
                self._dropped += len(gone)

    @property
    def dropped(self) -> int:
        """How many bytes from the middle are left out."""
        with self._lock:
            return self._dropped + max(0, self._tail_size - self._tail_room)

    def raw(self) -> bytes:
        """What was kept, with a marker where something is left out."""
        with self._lock:
            tail = b"".join(self._tail)
            excess = max(0, len(tail) - self._tail_room)
            dropped = self._dropped + excess
            if not dropped:
                return bytes(self._head) + tail
            return bytes(self._head) + f"\n[... {dropped} bytes left out ...]\n".encode() + tail[excess:]

    def tail(self, lines: int = 40, characters: int = 4_000) -> str:
        """The last lines as plain text, without terminal sequences, for pages and sentences."""
        text = plain_text(self.raw()[-4 * characters :])
        return "\n".join(text.rstrip().splitlines()[-lines:])[-characters:]


def plain_text(raw: bytes) -> str:
    """Text that is safe to show: UTF-8 with replacements, no control or hidden characters, no endless lines."""
    text = raw.decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    text = _DECEIVING.sub("", _CONTROL.sub("", text.replace("\u2028", "\n").replace("\u2029", "\n")))
    return "\n".join(
        line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + " [line cut]" for line in text.split("\n")
    )
