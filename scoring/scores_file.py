"""Scores files: `scores.txt` and `scores.json`, as the challenge's scorer and CodaLab write them."""

import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from scoring.errors import ScoringError

TEXT_NAME = "scores.txt"
JSON_NAME = "scores.json"
DURATION_KEY = "Duration"
MAX_BYTES = 2**20
_NOTES_LIMIT = 50


class BadScoresFileError(ScoringError):
    """A scoring program's file cannot be used; the organizer's program is at fault."""


@dataclass(frozen=True, slots=True)
class ScoresRead:
    """What a scores file holds: finite values by key in the file's order, and notes on what was dropped."""

    values: dict[str, float]
    duration: float | None
    notes: tuple[str, ...]


def write_scores(folder: Path, scores: Sequence[float], *, duration: float) -> None:
    """Write both files: `set1_score` and so on in the order of the tasks, then `Duration` in seconds.

    The text has 12 decimals as the challenge's had, the JSON every digit.

    Parameters
    ----------
    folder : Path
        Where `scores.txt` and `scores.json` go.
    scores : sequence of float
        In the order of the tasks.
    duration : float
        Seconds.

    Raises
    ------
    ValueError
        A score or the duration is NaN or infinite.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_scores(Path(folder), [0.25], duration=12.5)
    ...     print((Path(folder) / "scores.txt").read_text(), end="")
    set1_score: 0.250000000000
    Duration: 12.500000
    """
    values = {f"set{number}_score": float(score) for number, score in enumerate(scores, start=1)}
    for key, value in [*values.items(), (DURATION_KEY, duration)]:
        if not math.isfinite(value):
            raise ValueError(f"{key} is {value}; only finite numbers can be written.")
    lines = [f"{key}: {value:.12f}\n" for key, value in values.items()]
    lines.append(f"{DURATION_KEY}: {duration:.6f}\n")
    (folder / TEXT_NAME).write_text("".join(lines), encoding="utf-8")
    content = json.dumps({**values, DURATION_KEY: duration}, allow_nan=False, indent=1)
    (folder / JSON_NAME).write_text(content + "\n", encoding="utf-8")


def read_scores(folder: Path, *, keys: Collection[str] | None = None) -> ScoresRead:
    """Read the scores that a scoring program left in a folder; `scores.json` wins over `scores.txt`.

    Parameters
    ----------
    folder : Path
        The program's output.
    keys : collection of str, optional
        The keys that the leaderboard has columns for; None keeps all. Others become notes.

    Returns
    -------
    ScoresRead

    Raises
    ------
    BadScoresFileError
        Neither file is there, it is no JSON, too long, or a score that is asked for is NaN or infinite.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "scores.txt").write_text("accuracy: 0.9\\nDuration: 3\\n")
    ...     read_scores(Path(folder))
    ScoresRead(values={'accuracy': 0.9}, duration=3.0, notes=())
    """
    for name in (JSON_NAME, TEXT_NAME):
        path = folder / name
        if path.is_file() and not path.is_symlink():
            pairs = _json_pairs(path) if name == JSON_NAME else _text_pairs(path)
            return _sorted_out(pairs, name, keys)
    raise BadScoresFileError(f"The scoring program wrote neither {JSON_NAME} nor {TEXT_NAME}.")


def _content(path: Path) -> str:
    with path.open("rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise BadScoresFileError(f"{path.name} is longer than the {MAX_BYTES:,} bytes that are allowed.")
    return data.decode("utf-8-sig", errors="replace")


def _json_pairs(path: Path) -> list[tuple[str, Any]]:
    try:
        content = json.loads(_content(path))
    except (ValueError, RecursionError) as problem:
        raise BadScoresFileError(f"{path.name} is not JSON: {str(problem)[:200]}.") from None
    if not isinstance(content, dict):
        raise BadScoresFileError(f"{path.name} holds no object of keys and numbers.")
    return list(content.items())


def _text_pairs(path: Path) -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = []
    for line in _content(path).splitlines():
        key, colon, value = line.rpartition(":")
        if line.strip():
            pairs.append((key.strip(), value.strip()) if colon else (line.strip(), None))
    return pairs


def _sorted_out(pairs: list[tuple[str, Any]], name: str, keys: Collection[str] | None) -> ScoresRead:
    values: dict[str, float] = {}
    duration: float | None = None
    notes: list[str] = []
    for key, held in pairs:
        number = _number(held)
        if key == DURATION_KEY:
            duration = number if number is not None and math.isfinite(number) else None
        elif keys is not None and key not in keys:
            notes.append(f"{name}: the key {key[:80]!r} has no column and was dropped.")
        elif number is None:
            notes.append(f"{name}: {key[:80]!r} is not a number and was dropped.")
        elif not math.isfinite(number):
            _refuse_not_finite(name, key, number)
        else:
            values[key] = number
    return ScoresRead(values, duration, tuple(notes[:_NOTES_LIMIT]))


def _refuse_not_finite(name: str, key: str, number: float) -> NoReturn:
    raise BadScoresFileError(f"{name}: {key[:80]} is {number}; a score must be a finite number.")


def _number(held: object) -> float | None:
    """The number a key holds, also when it is written as text; None for anything else."""
    if isinstance(held, bool) or not isinstance(held, int | float | str):
        return None
    try:
        return float(held)
    except (ValueError, OverflowError):
        return None
