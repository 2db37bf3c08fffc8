"""Taking predictions out of the output folder: regular files only, by descriptor, in our own copies.

While the program runs, complete predictions are copied when they are first seen, so that their times are ours.
When every process is dead, the rest is taken. Nothing that a program writes is followed, waited for or trusted.
"""

from __future__ import annotations

import hashlib
import math
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ingestion.budget import format_size
from ingestion.program.arrays import ArrayError, open_array
from ingestion.recognition import parse_prediction_name, spelling_rank
from ingestion.sandbox.base import FileTimes

KEPT_OF_A_CURVE = 20
BYTES_PER_NUMBER = 32
SETTLED_SECONDS = 0.5  # a last line without its newline counts when nobody wrote for so long
_CHUNK = 1024 * 1024
_SLACK = 4096  # a header of a .npy file, blank lines

# (inode, size, time of change): what tells that a file is another one than before.
Signature = tuple[int, int, int]


@dataclass(frozen=True)
class Expected:
    """What one run must predict: the dataset's name (or alias), the rows of each part, columns of each row."""

    name: str
    rows: Mapping[str, int]
    columns: int

    def largest(self, part: str) -> int:
        """The most bytes that a prediction file of this part may have."""
        return self.rows[part] * self.columns * BYTES_PER_NUMBER + _SLACK


@dataclass(frozen=True)
class CollectedPrediction:
    """One prediction file, copied out of the sandbox. `seconds` is the wall clock at which it was complete."""

    name: str
    part: str
    number: int | None
    seconds: float
    bytes: int
    sha256: str
    path: Path


@dataclass(frozen=True)
class _Found:
    """A candidate in the output folder."""

    name: str
    part: str
    number: int | None
    signature: Signature


@dataclass
class _Kept:
    """All parts of one number, copied at the same moment."""

    seconds: float
    signatures: frozenset[Signature]
    files: tuple[CollectedPrediction, ...]


@dataclass
class Collector:
    """Watches and empties the output folder of one run.

    keep: an empty folder for the copies. wall_seconds: the budget, which sets the scale of the learning curve.
    With any_time off, nothing is copied before the end.
    """

    expected: Expected
    keep: Path
    wall_seconds: float
    any_time: bool = True
    notes: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    seen: int = 0
    _kept: dict[int | None, _Kept] = field(default_factory=dict)
    _first_of_slot: dict[int, int] = field(default_factory=dict)
    _since: dict[str, tuple[Signature, float]] = field(default_factory=dict)
    _rejected: set[frozenset[Signature]] = field(default_factory=set)
    _dropped: set[frozenset[Signature]] = field(default_factory=set)
    _serial: int = 0

    def look(self, output: int, seconds: float) -> None:
        """Copy what is complete and has not changed since the last look."""
        if not self.any_time or seconds >= self.wall_seconds:
            return
        sets = self._sets(self._candidates(output, seconds))
        ready = {}
        for number, found in sets.items():
            signatures = frozenset(one.signature for one in found.values())
            is_settled = all(self._since[one.name][1] < seconds for one in found.values())
            if is_settled and signatures not in self._rejected and self._is_new(number, signatures):
                ready[number] = found
        for number in self._worth_copying(ready, seconds):
            if not self._take(output, ready[number], seconds, complete_only=True, settled=frozenset()):
                self._rejected.add(frozenset(one.signature for one in ready[number].values()))
        self.seen = max(self.seen, len(sets))

    def last_look(self, output: int, seconds: float, *, ended_early: bool, times: FileTimes | None = None) -> None:
        """Take what is there now that nobody writes any more.

        After a program was stopped or died, only complete files count: one that was being written stays out, and
        so does one that was written after the deadline, in the moment that it takes to end a program.
        """
        if ended_early and not self.any_time:
            return
        self.refused.clear()
        is_over = ended_early and seconds >= self.wall_seconds
        found = self._candidates(output, seconds, final=True, times=times if is_over else None)
        settled = frozenset(
            one.signature for one in found if seconds - self._since[one.name][1] >= SETTLED_SECONDS
        )
        sets = self._sets(found)
        ready = {
            number: one
            for number, one in sets.items()
            if self._is_new(number, frozenset(file.signature for file in one.values()))
        }
        # What counts in the end was complete before the deadline, however long it took to end the program.
        complete = min(seconds, self.wall_seconds) if is_over else seconds
        for number in self._worth_copying(ready, complete):
            self._take(output, ready[number], complete, complete_only=ended_early, settled=settled)
        self.seen = max(self.seen, len(sets))

    def predictions(self) -> tuple[CollectedPrediction, ...]:
        """What counts, in order: numbered files where there are any, else the unnumbered ones."""
        numbers = sorted(number for number in self._kept if number is not None)
        chosen: list[int | None] = [*numbers] if numbers else [None] if None in self._kept else []
        return tuple(file for number in chosen for file in self._kept[number].files)

    def take_named(self, folder: Path, names: Mapping[str, str]) -> tuple[CollectedPrediction, ...]:
        """The named file of each part of an archive of results; problems go to `refused`."""
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        taken = []
        try:
            for part, name in names.items():
                status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                problem = self._problem(name, part, status)
                signature = (status.st_ino, status.st_size, status.st_mtime_ns)
                parsed = parse_prediction_name(name)
                number = parsed.number if parsed else None
                copy = None if problem else self._copy(descriptor, _Found(name, part, number, signature), 0.0)
                if copy is None:
                    self.refused.append(problem or f"{name} could not be read")
                else:
                    taken.append(copy)
        finally:
            os.close(descriptor)
        return tuple(taken)

    # Looking ------------------------------------------------------------------------------------------------

    def _candidates(
        self, output: int, seconds: float, *, final: bool = False, times: FileTimes | None = None
    ) -> list[_Found]:
        found: dict[tuple[str, int | None], _Found] = {}
        present: dict[str, tuple[Signature, float]] = {}
        for name in sorted(os.listdir(output)):
            parsed = parse_prediction_name(name)
            if parsed is None or parsed.name != self.expected.name or parsed.part not in self.expected.rows:
                continue
            try:
                status = os.stat(name, dir_fd=output, follow_symlinks=False)
            except OSError:
                continue  # gone in between
            problem = self._problem(name, parsed.part, status)
            if problem:
                if final:
                    self.refused.append(problem)
                continue
            signature = (status.st_ino, status.st_size, status.st_mtime_ns)
            old = self._since.get(name)
            was_seen = old is not None and old[0] == signature
            if times is not None and not was_seen and times.seconds(status) > self.wall_seconds:
                continue  # too late; what was seen before needs no clock of the system, which may be set
            present[name] = old if old is not None and was_seen else (signature, seconds)
            key = (parsed.part, parsed.number)
            # Of two spellings of one number the same one wins as in an archive.
            if key not in found or spelling_rank(name) > spelling_rank(found[key].name):
                found[key] = _Found(name, parsed.part, parsed.number, signature)
        self._since = present
        return list(found.values())

    def _problem(self, name: str, part: str, status: os.stat_result) -> str | None:
        if not stat.S_ISREG(status.st_mode):
            return f"{name} is {_kind(status.st_mode)}, not a regular file"
        limit = self.expected.largest(part)
        if status.st_size > limit:
            return (
                f"{name} has {format_size(status.st_size)}; predictions for {self.expected.rows[part]} rows of "
                f"{self.expected.columns} columns have at most {format_size(limit)}"
            )
        return None

    def _sets(self, found: list[_Found]) -> dict[int | None, dict[str, _Found]]:
        """Files by number, where all parts are there."""
        sets: dict[int | None, dict[str, _Found]] = {}
        for one in found:
            sets.setdefault(one.number, {})[one.part] = one
        return {number: parts for number, parts in sets.items() if len(parts) == len(self.expected.rows)}

    def missing(self) -> list[str]:
        """Parts of which not one file was there at the last look."""
        present = {parsed.part for name in self._since if (parsed := parse_prediction_name(name))}
        return [part for part in self.expected.rows if part not in present]

    def _is_new(self, number: int | None, signatures: frozenset[Signature]) -> bool:
        kept = self._kept.get(number)
        return signatures not in self._dropped and (kept is None or kept.signatures != signatures)

    # Choosing -----------------------------------------------------------------------------------------------

    def _worth_copying(self, ready: Mapping[int | None, object], seconds: float) -> list[int | None]:
        """The first of this slot of the curve and the last; those between would be dropped anyway."""
        numbers = sorted(number for number in ready if number is not None)
        chosen: list[int | None] = [None] if None in ready else []
        chosen += [number for number in numbers if number in self._kept]  # changed since: its time changes too
        fresh = [number for number in numbers if number not in self._kept]
        if fresh and self._slot(seconds) not in self._first_of_slot:
            chosen.append(fresh[0])
        # Downwards from the last, until one turns out complete, would read everything; a few are enough.
        chosen += fresh[:-4:-1]
        return list(dict.fromkeys(chosen))

    def _slot(self, seconds: float) -> int:
        """Which of the 20 log-spaced intervals of the budget a moment lies in."""
        start = max(0.5, self.wall_seconds / 1000)
        if seconds <= start or self.wall_seconds <= start:
            return 0
        share = math.log(seconds / start) / math.log(self.wall_seconds / start)
        return min(KEPT_OF_A_CURVE - 1, int(share * KEPT_OF_A_CURVE))

    def _prune(self, number: int | None, seconds: float) -> None:
        if number is None:
            return
        for slot in [slot for slot, first in self._first_of_slot.items() if first == number]:
            del self._first_of_slot[slot]
        self._first_of_slot.setdefault(self._slot(seconds), number)
        numbers = [one for one in self._kept if one is not None]
        wanted = {*self._first_of_slot.values(), max(numbers)}
        for one in numbers:
            if one not in wanted:
                dropped = self._kept.pop(one)
                # It was taken at its time and is not needed: taken again, it would bear a time that is too late.
                self._dropped.add(dropped.signatures)
                for file in dropped.files:
                    file.path.unlink(missing_ok=True)

    # Copying ------------------------------------------------------------------------------------------------

    def _take(
        self,
        output: int,
        found: Mapping[str, _Found],
        seconds: float,
        *,
        complete_only: bool,
        settled: frozenset[Signature],
    ) -> bool:
        """Copy all parts of one number; False where one of them is not complete or changed meanwhile."""
        copies: list[CollectedPrediction] = []
        for part in self.expected.rows:
            one = found[part]
            copy = self._copy(output, one, seconds)
            if copy is not None:
                copies.append(copy)
            whole = copy is not None and (
                not complete_only or is_complete(copy.path, self.expected, part, settled=one.signature in settled)
            )
            if not whole:
                for file in copies:
                    file.path.unlink(missing_ok=True)
                return False
        number = found[next(iter(self.expected.rows))].number
        old = self._kept.get(number)
        for file in old.files if old else ():
            file.path.unlink(missing_ok=True)
        self._kept[number] = _Kept(seconds, frozenset(one.signature for one in found.values()), tuple(copies))
        self._prune(number, seconds)
        return True

    def _copy(self, output: int, found: _Found, seconds: float) -> CollectedPrediction | None:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            source = os.open(found.name, flags, dir_fd=output)
        except OSError:
            return None
        self._serial += 1
        target = self.keep / f"{self._serial}.copy"
        try:
            digest, size = _copy_bytes(source, target, self.expected.largest(found.part))
            status = os.fstat(source)
        finally:
            os.close(source)
        if digest is None or (status.st_ino, status.st_size, status.st_mtime_ns) != found.signature:
            target.unlink(missing_ok=True)
            return None
        return CollectedPrediction(found.name, found.part, found.number, seconds, size, digest, target)


def _kind(mode: int) -> str:
    for test, name in (
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
    ):
        if test(mode):
            return name
    return "a device"


def _copy_bytes(source: int, target: Path, limit: int) -> tuple[str | None, int]:
    """(SHA-256, size) of what was copied; None where it is no regular file or larger than the limit."""
    if not stat.S_ISREG(os.fstat(source).st_mode):
        return None, 0
    digest, size = hashlib.sha256(), 0
    with target.open("wb") as file:
        while chunk := os.read(source, _CHUNK):
            size += len(chunk)
            if size > limit:
                return None, size
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest(), size


def is_complete(path: Path, expected: Expected, part: str, *, settled: bool) -> bool:
    """Whether a prediction file has all its rows, and nobody was in the middle of its last one.

    settled: nobody has written to it for a while, so that a last line without its newline counts too.
    """
    with path.open("rb") as file:
        start = file.read(6)
        if start == b"\x93NUMPY":
            return _npy_is_complete(path, expected.rows[part])
        file.seek(0)
        lines, last = 0, b""
        for line in file:
            if line.strip():
                lines += 1
                last = line
    return lines == expected.rows[part] and (last.endswith(b"\n") or settled)


def _npy_is_complete(path: Path, rows: int) -> bool:
    try:
        array = open_array(path)
    except ArrayError:
        return False
    return bool(array.ndim >= 1 and array.shape[0] == rows)
