"""A text file whose lines are of sane length: pandas holds a whole line at once, however long it is."""

from pathlib import Path
from types import TracebackType

from accounts.refusals import Refused

LONGEST = 2**20  # bytes


class CheckedLines:
    """A file for pandas to read; refuses one with a line longer than `LONGEST`, or with a NUL in it."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self.file = path.open("rb")
        self.since = 0

    def __enter__(self) -> "CheckedLines":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.close()

    def __iter__(self) -> "CheckedLines":
        return self

    def __next__(self) -> bytes:
        line = self.file.readline(LONGEST + 1)
        if not line:
            raise StopIteration
        self._check(line)
        return line

    def read(self, size: int = -1) -> bytes:
        """The next bytes, never more than a line may have."""
        content = self.file.read(LONGEST if size < 0 else min(size, LONGEST))
        self._check(content)
        return content

    def _check(self, content: bytes) -> None:
        at = content.rfind(b"\n")
        self.since = len(content) - at - 1 if at >= 0 else self.since + len(content)
        first = content.find(b"\n")
        if self.since > LONGEST or first > LONGEST:
            raise Refused(
                f"{self.name} has a line longer than a mebibyte.", mend="Send CSV with one record a line."
            )
        if b"\0" in content:
            raise Refused(f"{self.name} is no text.", mend="Send CSV or Parquet.")
