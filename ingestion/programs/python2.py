"""Signs in a program that it will not run as it did elsewhere: Python 2, and packages installed at its start."""

from __future__ import annotations

import ast
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from ingestion.archive import JUNK
from ingestion.programs.metadata import read_metadata

_LARGEST_SOURCE = 2 * 2**20  # bytes
_MOST_SOURCES = 400
_MOST_FOUND = 20

# What Python 3 says of it, and how the line looks where it says no more than "invalid syntax".
_OLD_MESSAGES = (
    "Missing parentheses in call to",
    "multiple exception types must be parenthesized",
    "leading zeros in decimal integer literals",
    "inconsistent use of tabs",
)
_OLD_LINE = re.compile(
    r"""^\s* (?: print\s*>> | print\s+["'\w] | raise\s+[\w.]+\s*,\s*\S | except\b.*,\s*\w+\s*: )
    | <> | \b[uU][rR]["'] | `[^`\n]+` | \b\d+[lL]\b""",
    re.VERBOSE,
)
_OLD_MODULES = frozenset(
    {"ConfigParser", "Queue", "StringIO", "cPickle", "cStringIO", "cookielib", "httplib", "urllib2", "urlparse"}
    | {"xmlrpclib", "HTMLParser", "Tkinter", "__builtin__", "copy_reg", "commands", "md5"}
)
_OLD_NAMES = frozenset({"xrange", "raw_input", "unicode", "basestring", "unichr", "execfile"})
_OLD_METHODS = frozenset({"iteritems", "itervalues", "iterkeys", "has_key"})
# A program that looks at its version, or catches what is missing, is for both.
_IS_FOR_BOTH = re.compile(
    r"version_info|sys\.version|PY[23]\b|\bsix\b|__future__"
    r"|except\s{0,9}:|except\s[^\n:]{0,200}?(?:Import|ModuleNotFound|Name|Attribute)Error"
)
_OLD_COMMAND = re.compile(r"(?:^|[\s/])python2(?:\.\d+)?(?=\s|$)")
_INSTALL = re.compile(
    r"\b(?:(?:pip[23]?(?:\.\d+)?|conda|mamba|apt|apt-get|aptitude|yum|dnf|apk)\b[\"',\s]+(?:-[^\s\"',]+[\"',\s]+)*install\b"
    r"|pip\.main\s*\(|install\.packages\s*\()"
)
_SOURCES = (".py", ".sh", ".bash", ".R", ".r", ".pl", ".ipynb")


def looks_like_python2(archive: Path) -> tuple[str, ...]:
    """Where a program in a zip shows that it needs Python 2, as `score.py, line 3`; empty where nothing does.

    It does where Python 3 cannot compile a file and Python 2 could, where one imports a module that only Python 2
    had and is not ready for both, and where the command calls python2.
    """
    found = []
    if _OLD_COMMAND.search(read_metadata(archive).command):
        found.append("its command, which calls python2")
    sources = dict(_sources(archive, (".py",)))
    gone = _OLD_MODULES - {PurePosixPath(name).stem for name in sources}
    for name, text in sources.items():
        line = _old_line(text, gone)
        if line is not None:
            found.append(f"{name}, line {line}")
    return tuple(found[:_MOST_FOUND])


def find_installs(archive: Path) -> tuple[str, ...]:
    """Where a program in a zip installs packages, as `run.sh, line 2: pip install x`; it will have no network."""
    found = []
    command = read_metadata(archive).command
    if _INSTALL.search(command):
        found.append(f"its command: {command[:100]}")
    for name, text in _sources(archive, _SOURCES):
        for number, line in enumerate(text.splitlines(), start=1):
            if _INSTALL.search(line) and not line.lstrip().startswith(("#", "//")):
                found.append(f"{name}, line {number}: {line.strip()[:100]}")
                if len(found) >= _MOST_FOUND:
                    return tuple(found)
    return tuple(found)


def _sources(archive: Path, endings: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Names and texts of the sources in a zip; none where it cannot be read."""
    try:
        with zipfile.ZipFile(archive) as opened:
            entries = [one for one in opened.infolist() if one.filename.endswith(endings)]
            for entry in entries[:_MOST_SOURCES]:
                is_junk = not JUNK.isdisjoint(entry.filename.split("/"))
                if is_junk or entry.file_size > _LARGEST_SOURCE:
                    continue
                with opened.open(entry) as file:
                    content = file.read(_LARGEST_SOURCE)
                yield entry.filename, content.decode("utf-8", errors="replace").lstrip("\ufeff")
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError):
        return


def _old_line(text: str, gone: frozenset[str]) -> int | None:
    """The first line that only Python 2 takes, or None; `gone` are modules that the program does not bring."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        number = error.lineno or 1
        written = "".join(text.splitlines()[number - 1 : number])
        is_old = any(message in str(error.msg) for message in _OLD_MESSAGES) or _OLD_LINE.search(written)
        return number if is_old else None
    except (ValueError, RecursionError, MemoryError):
        return None
    if _IS_FOR_BOTH.search(text):
        return None
    return min((line for node in ast.walk(tree) if (line := _line_of_gone(node, gone))), default=None)


def _line_of_gone(node: ast.AST, modules: frozenset[str]) -> int | None:
    """The line where Python 3 has no such thing any more."""
    is_gone = False
    if isinstance(node, ast.Import):
        is_gone = any(alias.name.partition(".")[0] in modules for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        is_gone = node.level == 0 and str(node.module).partition(".")[0] in modules
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        is_gone = node.func.id in _OLD_NAMES
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        is_gone = node.func.attr in _OLD_METHODS
    return int(getattr(node, "lineno", 1)) if is_gone else None
