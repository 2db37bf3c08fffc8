"""What a look into a program tells before it runs: that it is for Python 2, or that it installs packages."""

from __future__ import annotations

import ast
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from ingestion.programs.metadata import read_metadata

_LARGEST_SOURCE = 512 * 1024
_MOST_SOURCES = 500
_SYNTAX = re.compile(
    r"""^\s*(?:print\s+(?:["'\w%]|>>)|exec\s+["'\w]|raise\s+\w+\s*,|except\s+[\w.()\s,]+?,\s*\w+\s*:)""",
    re.MULTILINE,
)
_MODULES = frozenset(
    {
        "urllib2",
        "urlparse",
        "cPickle",
        "cStringIO",
        "StringIO",
        "ConfigParser",
        "Queue",
        "commands",
        "httplib",
        "md5",
    }
)
_NAMES = frozenset({"xrange", "raw_input", "unicode", "basestring", "unichr", "execfile"})
_METHODS = frozenset({"iteritems", "itervalues", "iterkeys", "has_key"})
# A program that looks at its version, or catches what is missing, is for both.
_CARES = re.compile(
    r"version_info|sys\.version|PY[23]\b|\bsix\b|__future__|except\s*:|except\s+.*(?:Import|ModuleNotFound|Name|Attribute)Error"
)
_PYTHON_2 = re.compile(r"(?:^|[\s/])python2(?:\.\d)?\b")
_INSTALL = re.compile(
    r"""\b(?:pip[23]?|conda|mamba|apt|apt-get|easy_install)["']?\s*(?:,\s*["'])?(?:\s+-\S+)*\s*install\b[^\n#;&|]{0,60}"""
)
_SUFFIXES = (".py", ".sh", ".bash", ".yaml", "")


def looks_like_python2(archive: Path) -> bool:
    """Whether a program in a zip runs with Python 2 alone, as far as its text shows."""
    if any(_PYTHON_2.search(line) for line in read_metadata(archive).command.splitlines()):
        return True
    sources = {name: text for name, text in _texts(archive) if name.endswith(".py")}
    gone = _MODULES - {PurePosixPath(name).stem for name in sources}
    return any(_is_python2(text, gone) for text in sources.values())


def _is_python2(text: str, gone: frozenset[str]) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError:
        return _SYNTAX.search(text) is not None
    except (ValueError, RecursionError, MemoryError):
        return False
    return not _CARES.search(text) and any(_is_gone(node, gone) for node in ast.walk(tree))


def _is_gone(node: ast.AST, modules: frozenset[str]) -> bool:
    """Whether Python 3 has no such thing any more; `modules` are those that the program does not bring itself."""
    if isinstance(node, ast.Import):
        return any(alias.name in modules for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.level == 0 and node.module in modules
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in _NAMES
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS


def find_installs(archive: Path) -> tuple[str, ...]:
    """Where a program installs packages while it runs, which it cannot without a network: "run.sh, line 3: …"."""
    found = []
    for name, text in _texts(archive):
        if PurePosixPath(name).name.lower().startswith(("readme", "license")):
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            match = _INSTALL.search(line)
            if match and not line.lstrip().startswith(("#", "//")):
                found.append(f"{name}, line {number}: {match[0].strip()}")
    return tuple(found[:10])


def _texts(archive: Path) -> Iterator[tuple[str, str]]:
    """The small text files of a zip, by name; nothing of what cannot be read."""
    try:
        with zipfile.ZipFile(archive) as opened:
            for entry in opened.infolist()[:_MOST_SOURCES]:
                is_text = PurePosixPath(entry.filename).suffix in _SUFFIXES
                if entry.is_dir() or entry.file_size > _LARGEST_SOURCE or not is_text:
                    continue
                with opened.open(entry) as file:
                    data = file.read(_LARGEST_SOURCE)
                if b"\x00" not in data:
                    yield entry.filename, data.decode("utf-8", errors="replace")
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError):
        return
