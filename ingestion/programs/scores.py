"""Reading what a scoring program wrote, as it wrote it: which values count is for the site to judge."""

from __future__ import annotations

import json
import os
from pathlib import Path

import yaml

from ingestion.programs.output import read_small
from ingestion.recognition import BadMetadata, checked_yaml
from ingestion.sandbox.output import open_folder

NAMES = ("scores.json", "scores.txt")  # the first that is there counts
_LARGEST = 2**20  # bytes
_MOST_KEYS = 1_000
_LARGEST_YAML = 64 * 1024  # bytes: reading it takes a second


class BadScores(Exception):
    """A scores file that cannot be used; the text goes on after the name of the program, as `wrote ...`."""


def read_scores(folder: Path) -> dict[str, object]:
    """The scores in a folder as they were written, by their keys. Raises BadScores."""
    descriptor = open_folder(folder)
    try:
        return scores_in(descriptor)[1]
    finally:
        os.close(descriptor)


def scores_in(folder: int) -> tuple[str, dict[str, object]]:
    """The name of the scores file in a folder, by descriptor, and what it says. Raises BadScores."""
    there = [name for name in NAMES if _exists(folder, name)]
    if not there:
        raise BadScores("wrote no scores: neither scores.json nor scores.txt is in its output folder")
    content = read_small(folder, there[0], _LARGEST)
    if content is None:
        raise BadScores(f"wrote a {there[0]} that is no regular file, or larger than 1 MiB")
    return there[0], parse_scores(there[0], content)


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def parse_scores(name: str, content: bytes) -> dict[str, object]:
    """The scores that a file of this name holds. Raises BadScores."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadScores(f"wrote a {name} that is not text in UTF-8") from error
    found = _parse_json(text) if name.endswith(".json") else _parse_text(text)
    if not isinstance(found, dict):
        raise BadScores(f"wrote a {name} that does not hold keys with values")
    if not found:
        raise BadScores(f"wrote a {name} without any score")
    if len(found) > _MOST_KEYS:
        raise BadScores(f"wrote a {name} with more than {_MOST_KEYS} keys")
    return {str(key): value for key, value in found.items()}


def _parse_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        line = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise BadScores(f"wrote a scores.json that is not JSON{line}") from error


def _parse_text(text: str) -> object:
    """`key: value` in lines, blank or not behind the colon, as CodaLab took them; else YAML, as Codabench does."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    pairs = [_pair(line) for line in lines]
    if all(pair is not None for pair in pairs):
        return {pair[0]: _value(pair[1]) for pair in pairs if pair is not None}
    if len(text) > _LARGEST_YAML:
        raise BadScores("wrote a scores.txt that has other lines than `key: value` and is too large for YAML")
    try:
        return checked_yaml(text)
    except (BadMetadata, yaml.YAMLError, RecursionError, ValueError) as error:
        raise BadScores("wrote a scores.txt that is neither lines of `key: value` nor YAML") from error


def _pair(line: str) -> tuple[str, str] | None:
    """The key and the value of a line; None where it is no such line, or where its value goes on below."""
    key, _, value = (piece.strip() for piece in line.partition(":"))
    if not key or not value or key[0] in "{[" or value[0] in "{[":
        return None
    return key.strip("\"'"), value


def _value(text: str) -> object:
    plain = text.partition(" #")[0].strip().strip("\"'")
    try:
        return float(plain)
    except ValueError:
        return plain
