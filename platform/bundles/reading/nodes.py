"""competition.yaml as sections that know their lines: strangers' YAML, read without building objects.

Only the tree of nodes is composed, so that tags make nothing, aliases cost nothing, and every value has a line.
Scalars are taken as they are written: `title: on` is the text "on", wherever YAML would see a truth value.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from bundles.reading.report import BundleReport, Problem, Question

# The parser in C, where PyYAML was built with it: the one in Python takes seconds for what a stranger may write.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
LARGEST_FILE = 1 << 20
_DEEPEST = 40
# Far above what contests have: a stranger's aliases must not become a million phases.
MOST_ENTRIES = 500
_MOST_MERGES = 1_000
_NULLS = frozenset({"", "~", "null", "none"})
_TRUE = frozenset({"true", "yes", "on", "y", "1"})
_FALSE = frozenset({"false", "no", "off", "n", "0"})
_MERGE = "tag:yaml.org,2002:merge"
_LARGEST_INTEGER = 2**31 - 1


class UnreadableYaml(Exception):
    """The file is no YAML that can be read; `line` counts from 1 (0: unknown)."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


@dataclass
class Notebook:
    """Where problems are written, with the name of the YAML file for their places."""

    report: BundleReport
    filename: str = "competition.yaml"
    merges: int = 0

    def place(self, line: int, path: str) -> str:
        """ "competition.yaml, line 12: phases[0].start" """
        where = f"{self.filename}, line {line}" if line else self.filename
        return f"{where}: {path}" if path else where

    def error(self, place: str, message: str, mend: str = "") -> None:
        """Something that stops the import."""
        self._write(self.report.errors, Problem(place, message, mend))

    def warn(self, place: str, message: str, mend: str = "") -> None:
        """Something that was decided, and that the organizer should know."""
        self._write(self.report.warnings, Problem(place, message, mend))

    def ask(self, question: Question) -> None:
        """Something that the organizer should decide; asked once."""
        if all(one.key != question.key for one in self.report.questions):
            self.report.questions.append(question)

    @staticmethod
    def _write(problems: list[Problem], problem: Problem) -> None:
        if problem not in problems:
            problems.append(problem)


@dataclass(frozen=True)
class Value:
    """A value with its place: a scalar, a list or a mapping of the YAML."""

    node: yaml.Node
    path: str
    notes: Notebook

    @property
    def place(self) -> str:
        """Where it stands, for people."""
        return self.notes.place(self.node.start_mark.line + 1, self.path)

    @property
    def text(self) -> str | None:
        """The scalar as written; None for nothing, lists and mappings."""
        if not isinstance(self.node, yaml.ScalarNode):
            return None
        written = str(self.node.value).strip()
        if not self.node.style and written.lower() in _NULLS:
            return None
        return written

    @property
    def is_nothing(self) -> bool:
        """Whether the key is there without a value."""
        return isinstance(self.node, yaml.ScalarNode) and not self.text

    def items(self) -> list[Value]:
        """The values of a list; those of a mapping in its order; nothing of a scalar."""
        if isinstance(self.node, yaml.SequenceNode):
            nodes = _bounded(self, self.node.value)
            return [Value(node, f"{self.path}[{i}]", self.notes) for i, node in enumerate(nodes)]
        section = self.section()
        return list(section.values.values()) if section else []

    def texts(self) -> list[str]:
        """A list of texts, written as a list or with commas between."""
        if self.text is not None:
            pieces = (piece.strip() for piece in self.text.strip("[]").split(",", MOST_ENTRIES))
            return [piece for piece in pieces if piece]
        return [item.text for item in self.items() if item.text]

    def section(self) -> Section | None:
        """The mapping, or None when it is something else."""
        if not isinstance(self.node, yaml.MappingNode):
            return None
        return Section(self.node, self.path, self.notes, _values(self))


@dataclass(frozen=True)
class Section:
    """A mapping of the YAML, by its keys as written."""

    node: yaml.Node
    path: str
    notes: Notebook
    values: Mapping[str, Value] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """Where it begins, for people."""
        return self.notes.place(self.node.start_mark.line + 1, self.path)

    def get(self, key: str) -> Value | None:
        """The value, or None when it is missing or empty."""
        value = self.values.get(key)
        return None if value is None or value.is_nothing else value

    def place_of(self, key: str) -> str:
        """Where the value of a key stands, or should stand."""
        value = self.values.get(key)
        if value is not None:
            return value.place
        return self.notes.place(self.node.start_mark.line + 1, self.below(key))

    def below(self, key: str) -> str:
        """The path of a key of this section."""
        return f"{self.path}.{key}" if self.path else key

    def missing(self, key: str, what: str = "") -> None:
        """Note that a required key is missing or empty."""
        self.notes.error(self.place_of(key), f"The key {key} is missing{what}.", f"Add {key} here.")

    def text(self, key: str, default: str = "", *, required: bool = False, longest: int = 0) -> str:
        """A text, cut to `longest` characters with a warning."""
        value = self.get(key)
        if value is None or value.text is None:
            if value is not None:
                self.notes.error(value.place, f"{key} must be a text.", "Write it on one line, in quotes.")
            elif required:
                self.missing(key)
            return default
        if longest and len(value.text) > longest:
            self.notes.warn(value.place, f"{key} is longer than {longest} characters and was cut.")
            return value.text[:longest].rstrip()
        return value.text

    def boolean(self, key: str, default: bool) -> bool:
        """A truth value in any of its spellings, in quotes or not."""
        value = self.get(key)
        if value is None:
            return default
        written = (value.text or "").lower()
        if written in _TRUE or written in _FALSE:
            return written in _TRUE
        self.notes.warn(
            value.place,
            f"{key} is neither true nor false; {str(default).lower()} was taken.",
            "Write true or false.",
        )
        return default

    def integer(self, key: str, default: int, *, least: int = 0) -> int:
        """A whole number from `least` up, in quotes or not."""
        value = self.get(key)
        number = None if value is None else whole_number(value.text)
        if value is None:
            return default
        if number is None or number < least:
            self.notes.warn(value.place, f"{key} is no whole number from {least} up; {default} was taken.")
            return default
        return min(number, _LARGEST_INTEGER)

    def section(self, key: str, *, required: bool = False) -> Section | None:
        """The mapping under a key."""
        value = self.get(key)
        if value is None:
            if required:
                self.missing(key)
            return None
        section = value.section()
        if section is None:
            self.notes.error(value.place, f"{key} must be a mapping of keys and values.")
        return section

    def sections(self, key: str, *, required: bool = False) -> list[Section]:
        """The mappings of a list; a mapping instead of the list gives its values."""
        value = self.get(key)
        if value is None:
            if required:
                self.missing(key)
            return []
        if value.text is not None:
            self.notes.error(value.place, f"{key} must be a list.", "Begin each entry with a dash.")
            return []
        found = []
        for item in value.items():
            section = item.section()
            if item.is_nothing:
                self.notes.warn(item.place, f"An empty entry of {key} was left out.", "Remove it, or fill it in.")
            elif section is None:
                self.notes.error(item.place, f"An entry of {key} must be a mapping of keys and values.")
            else:
                found.append(section)
        if required and not found:
            self.notes.error(value.place, f"{key} is empty.", "Write at least one entry.")
        return found

    def check_keys(self, known: Iterable[str], ignored: Mapping[str, str] | None = None) -> None:
        """Warn of keys that nobody reads, with the one that was probably meant.

        `ignored` are keys that are known and without effect: key to the sentence that says so ("": silent).
        """
        ignored = ignored or {}
        names = [*known, *ignored]
        for key, value in self.values.items():
            if key in ignored:
                if ignored[key] and not value.is_nothing:
                    self.notes.warn(value.place, ignored[key])
            elif key not in names:
                near = difflib.get_close_matches(key.lower(), names, n=1, cutoff=0.6)
                mend = f"Did you mean {near[0]}?" if near else "Remove it, or look at its spelling."
                self.notes.warn(value.place, f"The key {key} is unknown and was left out.", mend)


def whole_number(text: str | None) -> int | None:
    """The whole number that a text says ("100", "100.0", "1e3"), or None."""
    try:
        number = float((text or "").replace("_", ""))
    except ValueError:
        return None
    return int(number) if math.isfinite(number) and number == int(number) else None


def parse(data: bytes, notes: Notebook) -> Section:
    """The mapping that a YAML file is.

    Raises UnreadableYaml, with the line, for what is no YAML, no mapping, too large or too deep.
    """
    if len(data) > LARGEST_FILE:
        raise UnreadableYaml(f"The file is larger than {LARGEST_FILE >> 20} MiB.")
    text = _decoded(data, notes)
    try:
        _check_depth(text)
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = ", ".join(part for part in (error.context, error.problem) if part)
        raise UnreadableYaml(f"It is no YAML: {what}.", mark.line + 1 if mark else 0) from error
    except yaml.reader.ReaderError as error:
        raise UnreadableYaml("It holds characters that YAML does not allow.") from error
    except (RecursionError, yaml.YAMLError) as error:
        raise UnreadableYaml("It cannot be read as YAML.") from error
    if node is not None and _is_too_deep(node):
        raise UnreadableYaml("It is nested too deeply, or holds itself.")
    section = None if node is None else Value(node, "", notes).section()
    if section is None:
        raise UnreadableYaml("It is not a mapping of keys and values.", 1)
    return section


def _check_depth(text: str) -> None:
    """Refuse brackets in brackets before anything recurses into them."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST:
            mark = event.start_mark
            raise UnreadableYaml("It is nested too deeply.", mark.line + 1 if mark else 0)


def _decoded(data: bytes, notes: Notebook) -> str:
    encodings = ("utf-16",) if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "cp1252")
    for encoding in encodings:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding == "cp1252":
            notes.warn(
                notes.place(0, ""), "The file is not in UTF-8; it was read as Windows text.", "Save it as UTF-8."
            )
        return text
    raise UnreadableYaml("Its characters are neither UTF-8 nor Windows text.")


def _is_too_deep(root: yaml.Node) -> bool:
    """Whether the tree, aliases followed, goes deeper than any bundle does. Each node is met once a depth."""
    level, depth = {id(root): root}, 0
    while level:
        depth += 1
        if depth > _DEEPEST:
            return True
        below: dict[int, yaml.Node] = {}
        for node in level.values():
            for child in _children(node):
                below[id(child)] = child
        level = below
    return False


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        return list(node.value)
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return []


def _values(value: Value) -> dict[str, Value]:
    """The keys of a mapping: a key given twice counts as it is last, what is merged in (`<<`) counts least."""
    found: dict[str, Value] = {}
    merged: dict[str, Value] = {}
    for key, node in _bounded(value, value.node.value):
        if not isinstance(key, yaml.ScalarNode):
            value.notes.warn(value.place, "A key here is not a text and was left out.")
            continue
        name = str(key.value).strip()
        path = f"{value.path}.{name}" if value.path else name
        if key.tag == _MERGE:
            for source in node.value if isinstance(node, yaml.SequenceNode) else [node]:
                value.notes.merges += 1
                if value.notes.merges > _MOST_MERGES:
                    raise UnreadableYaml("It merges mappings too often.", key.start_mark.line + 1)
                if isinstance(source, yaml.MappingNode):
                    merged = {**_values(Value(source, value.path, value.notes)), **merged}
            continue
        if name in found:
            place = value.notes.place(key.start_mark.line + 1, path)
            value.notes.warn(place, f"The key {name} is there twice; the last one counts.", "Remove one of them.")
        found[name] = Value(node, path, value.notes)
    return {**{name: one for name, one in merged.items() if name not in found}, **found}


def _bounded(value: Value, entries: list[Any]) -> list[Any]:
    """The entries, or the first of them with an error noted where there are more than any contest has."""
    if len(entries) > MOST_ENTRIES:
        message = f"There are {len(entries)} entries here, more than {MOST_ENTRIES}."
        value.notes.error(value.place, message, "Split it, or make the rest on the site.")
    return entries[:MOST_ENTRIES]
