"""What kind of submission an opened archive is: code, results, both, or a JSON model."""

from __future__ import annotations

import ast
import re
import shlex
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import yaml

from ingestion.archive_refusal import RefusedArchive

if TYPE_CHECKING:
    from ingestion.archive import Contents

METADATA_NAMES = ("metadata", "metadata.yaml")
_METADATA_MEND = "Write one line: command: python $program/run.py $input $output"
_LARGEST_METADATA = 16 * 1024
_MOST_ALIASES = 32
_DEEPEST_METADATA = 32
_LONGEST_COMMAND = 4096
_LARGEST_SOURCE = 512 * 1024
_PREDICTION = re.compile(r"(?P<name>.+)_(?P<part>valid|test)(?:_(?P<number>0{0,40}[0-9]{1,18}))?\.(?:predict|npy)")


@dataclass(frozen=True)
class Recognised:
    """What an archive is.

    `interface` says how code is run (None for results alone), `command` is the metadata's command as written,
    `predictions` maps a dataset's name and a part to the one file that counts, relative to the root.
    """

    kind: Literal["code", "results", "both", "json_model"]
    interface: Literal["model", "metadata"] | None
    command: str | None = None
    predictions: dict[str, dict[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PredictionName:
    """A prediction file's name taken apart; `number` is None for an unnumbered file."""

    name: str
    part: str
    number: int | None


def parse_prediction_name(file_name: str) -> PredictionName | None:
    """`iris_test_004.predict` taken apart, or None where the name is not that of a prediction file.

    The dataset's name is all that stands before the part, so `rl_test1_...` is never a file of `rl`.
    """
    match = _PREDICTION.fullmatch(file_name)
    if match is None:
        return None
    number = match["number"]
    return PredictionName(match["name"], match["part"], None if number is None else int(number))


def recognise(contents: Contents, dataset_names: Iterable[str]) -> Recognised:
    """The kind of a submission for a phase with these datasets.

    Raises RefusedArchive where it holds neither a model.py, nor a metadata file with a command, nor a
    prediction file of these datasets, and where a command is not one string.
    """
    if contents.files == ("model.json",):
        return Recognised(kind="json_model", interface=None)
    notes: list[str] = []
    has_model = "model.py" in contents.files
    predictions = _predictions(contents.files, set(dataset_names), notes)
    problem, command = _command(contents)
    if problem and not has_model and not predictions:
        raise RefusedArchive(problem, mend=_METADATA_MEND)
    if problem:
        notes.append(f"{problem[:1].upper()}{problem[1:]}, so the file was passed over.")
    if command is not None and has_model:
        notes.append("The metadata's command is run; model.py is left to it.")
    interface: Literal["model", "metadata"] | None = "metadata" if command else "model" if has_model else None
    if interface is None and not predictions:
        raise _nothing_usable(contents.files, notes)
    kind: Literal["code", "results", "both"] = "both" if interface and predictions else "code"
    if interface is None:
        kind = "results"
    return Recognised(kind, interface, command, predictions, tuple(notes))


def _nothing_usable(files: tuple[str, ...], notes: list[str]) -> RefusedArchive:
    message = "the archive holds no model.py, no metadata file with a command and no prediction file"
    deeper = next((name for name in files if name.rsplit("/")[-1].lower() == "model.py"), None)
    if deeper is not None:
        mend = f"{deeper} was found; put it at the root of the zip as model.py."
    elif notes:
        message += " of this phase's datasets"
        mend = notes[0]
    else:
        mend = "Put a model.py with a class Model at the root of the zip."
    return RefusedArchive(message, mend=mend)


def _predictions(files: tuple[str, ...], dataset_names: set[str], notes: list[str]) -> dict[str, dict[str, str]]:
    """The files that count, by dataset and part; the others are named in notes."""
    found: dict[str, dict[str, dict[int | None, str]]] = {}
    foreign, deep = [], []
    for file in files:
        folder, _, name = file.rpartition("/")
        parsed = parse_prediction_name(name)
        if parsed is None:
            continue
        if folder:
            if parsed.name in dataset_names:
                deep.append(file)
        elif parsed.name not in dataset_names:
            if name.endswith(".predict"):
                foreign.append(name)
        else:
            # Of two spellings of one number (.npy and .predict, _1 and _01) the text and the longer one wins.
            numbers = found.setdefault(parsed.name, {}).setdefault(parsed.part, {})
            old = numbers.get(parsed.number)
            if old is not None:
                notes.append(
                    f"{min(old, name, key=spelling_rank)} was dropped: {max(old, name, key=spelling_rank)} counts."
                )
            numbers[parsed.number] = name if old is None else max(old, name, key=spelling_rank)
    if deep:
        notes.append(f"{_listed(deep)}: only prediction files at the root of the zip are read.")
    if foreign:
        notes.append(f"{_listed(foreign)}: no dataset of this phase has that name.")
    return {name: _last(parts, notes) for name, parts in sorted(found.items())}


def spelling_rank(name: str) -> tuple[bool, int]:
    """What decides between two files of one part and number: text before .npy, then the longer name."""
    return name.endswith(".predict"), len(name)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _last(parts: dict[str, dict[int | None, str]], notes: list[str]) -> dict[str, str]:
    """The highest number that is there for all parts; numbered beats unnumbered; else each part's own last."""

    def order(number: int | None) -> int:
        return -1 if number is None else number

    common = set.intersection(*(set(numbers) for numbers in parts.values()))
    chosen = {}
    for part, numbers in sorted(parts.items()):
        key = max(common or set(numbers), key=order)
        chosen[part] = numbers[key]
        dropped = len(numbers) - 1
        if dropped:
            what = "1 other file" if dropped == 1 else f"{dropped} other files"
            notes.append(f"{numbers[key]} counts; {what} of the {part} part were dropped.")
    return chosen


def _command(contents: Contents) -> tuple[str | None, str | None]:
    """(what is wrong with the metadata or None, its command or None).

    Metadata without a command is no problem: CodaLab wrote such files beside results and models. Raises
    RefusedArchive for a command that is not one string in one line.
    """
    name = next((name for name in METADATA_NAMES if name in contents.files), None)
    if name is None:
        return None, None
    try:
        values = load_small_yaml(contents.root / name)
    except BadMetadata as error:
        return f"the file {name} {error}", None
    if not isinstance(values, dict) or values.get("command") is None:
        return None, None
    command = values["command"]
    if not isinstance(command, str) or not command.strip():
        raise RefusedArchive(f"the command in {name} is not one string", name, _METADATA_MEND)
    command = command.strip()
    # Half a character (\ud800) is something that YAML can write and no command line can hold.
    if len(command) > _LONGEST_COMMAND or re.search("[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]", command):
        message = f"the command in {name} is not one line of at most {_LONGEST_COMMAND} characters"
        raise RefusedArchive(message, name, _METADATA_MEND)
    try:
        shlex.split(command)
    except ValueError as error:
        message = f"the command in {name} cannot be split into words ({error})"
        raise RefusedArchive(message, name, _METADATA_MEND) from error
    return None, command


_OPENING = (
    yaml.FlowSequenceStartToken,
    yaml.FlowMappingStartToken,
    yaml.BlockSequenceStartToken,
    yaml.BlockMappingStartToken,
)
_CLOSING = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken, yaml.BlockEndToken)


class BadMetadata(Exception):
    """A metadata file that cannot be read; the text goes on after its name."""


def load_small_yaml(path: Path) -> object:
    """A YAML file of a stranger: small, safe types alone, few aliases (each can stand for much)."""
    with path.open("rb") as file:
        data = file.read(_LARGEST_METADATA + 1)
    if len(data) > _LARGEST_METADATA:
        raise BadMetadata(f"is larger than {_LARGEST_METADATA // 1024} KiB")
    try:
        text = data.decode("utf-8-sig")
        return checked_yaml(text)
    except UnicodeDecodeError as error:
        raise BadMetadata("is not text in UTF-8") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise BadMetadata(f"is not YAML{f' (line {mark.line + 1})' if mark else ''}") from error
    except (RecursionError, ValueError, TypeError, OverflowError) as error:
        raise BadMetadata("is not YAML that can be read") from error


def checked_yaml(text: str) -> object:
    """What YAML of a stranger says, in safe types alone. Raises BadMetadata, YAMLError, ValueError."""
    _check_tokens(text)
    return yaml.safe_load(text)


def _check_tokens(text: str) -> None:
    """Refuse many aliases and deep nesting; PyYAML takes time in the square of the depth, so stop early."""
    aliases = depth = 0
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        aliases += isinstance(token, yaml.AliasToken)
        depth += isinstance(token, _OPENING) - isinstance(token, _CLOSING)
        if aliases > _MOST_ALIASES:
            raise BadMetadata(f"uses more than {_MOST_ALIASES} YAML aliases")
        if depth > _DEEPEST_METADATA:
            raise BadMetadata("is nested too deeply")


def check_python_syntax(contents: Contents) -> list[str]:
    """Notes like `model.py line 3: invalid syntax` for Python files at the root that do not compile.

    They are notes, not refusals: the sandbox may run another version of Python.
    """
    notes = []
    for name in contents.files:
        if "/" in name or not name.endswith(".py"):
            continue
        path = contents.root / name
        if path.stat().st_size > _LARGEST_SOURCE:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(path.read_bytes(), filename=name)
        except SyntaxError as error:
            notes.append(f"{name} line {error.lineno or 1}: {error.msg}")
        except (ValueError, RecursionError, MemoryError):
            notes.append(f"{name} line 1: cannot be read as Python source")
    return notes
