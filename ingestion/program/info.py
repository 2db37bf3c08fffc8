"""The info file of a dataset: `key = value` lines, as real files write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ingestion.program.errors import DataError

TEXT_KEYS = ("usage", "name", "task", "target_type", "feat_type", "metric")
COUNT_KEYS = ("feat_num", "target_num", "label_num", "train_num", "valid_num", "test_num")
FLAG_KEYS = ("has_categorical", "has_missing", "is_sparse", "is_chronological_order")
TASKS = (
    "binary.classification",
    "multiclass.classification",
    "multilabel.classification",
    "regression",
)
FEATURE_TYPES = ("Numerical", "Binary", "Categorical")

# What an info file says is believed up to these: an array is made only for as much as can be true.
MOST_FEATURES = 10_000_000
MOST_CLASSES = 100_000

_LARGEST_INFO_FILE = 1024 * 1024


def parse_info(text: str) -> tuple[dict[str, Any], list[str]]:
    """(values by key, notes about lines that were passed over or given twice).

    Values may be quoted; what follows a `#` outside quotes is a comment; unknown keys are kept. Counts and
    other whole numbers become int (`35.0` too), other numbers float, the has_ and is_ keys bool, and the
    keys in TEXT_KEYS stay text whatever they look like.
    """
    info: dict[str, Any] = {}
    notes: list[str] = []
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text.lstrip("\ufeff")), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        key, equals, rest = stripped.partition("=")
        key = key.strip().strip("'\"")
        if not equals or not key:
            notes.append(f"line {number} is not key = value and was passed over")
            continue
        if key in info:
            notes.append(f"line {number} gives {key} again; the last value counts")
        info[key] = _typed(key, _unquoted(rest.strip()))
    return info, notes


def _unquoted(text: str) -> str:
    if text[:1] in ("'", '"'):
        end = text.find(text[0], 1)
        if end > 0 and text[end + 1 :].strip()[:1] in ("", "#"):
            return text[1:end]
    return text.split("#")[0].strip().strip("'\"").strip()


def _typed(key: str, text: str) -> Any:
    if key in TEXT_KEYS:
        return text
    if key in FLAG_KEYS and text.lower() in ("0", "1", "0.0", "1.0", "true", "false", "yes", "no"):
        return text.lower() in ("1", "1.0", "true", "yes")
    if re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        return int(text)
    try:
        value = float(text) if "_" not in text else None
    except ValueError:
        value = None
    if value is None:
        return text
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def count_of(info: Mapping[str, Any], key: str, *, most: int = 2**53) -> int | None:
    """The whole number that the info gives for a key, or None where it gives none from 0 to `most`."""
    value = info.get(key)
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most
    return value if is_count else None


def feature_count(info: Mapping[str, Any], file: str) -> int:
    """feat_num, which sparse data need. Raises DataError, naming the info file, where it is no usable number."""
    count = count_of(info, "feat_num", most=MOST_FEATURES)
    if not count:
        needed = f"a sparse dataset needs a whole number from 1 to {MOST_FEATURES}"
        raise DataError(file, f"feat_num is {info.get('feat_num')!r}; {needed}")
    return count


def read_info(path: Path) -> dict[str, Any]:
    """The parsed values of an info file. Raises DataError where it cannot be read at all."""
    return parse_info(read_small_text(path))[0]


def read_small_text(path: Path, limit: int = _LARGEST_INFO_FILE) -> str:
    """The text of a small file; bytes that are not UTF-8 are read as Latin-1, as older files need."""
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise DataError(path.name, f"cannot be read: {error.strerror or error}") from error
    if len(data) > limit:
        raise DataError(path.name, f"is larger than {limit} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def find_name(folder: Path) -> str:
    """The dataset's name: the prefix of the one `*_public.info` in the folder. Raises DataError otherwise."""
    suffix = "_public.info"
    found = sorted(path.name for path in folder.glob("*" + suffix) if path.is_file())
    found = [name for name in found if not name.startswith(".")]
    if len(found) == 1 and found[0] != suffix:
        return found[0][: -len(suffix)]
    if not found or found == [suffix]:
        raise DataError("", "there is no file named <name>_public.info")
    raise DataError("", f"there is more than one info file: {', '.join(found[:5])}")


def read_lines(path: Path) -> list[str]:
    """The lines of a names or types file without blanks around them; blank lines at its end are dropped."""
    lines = [line.strip() for line in read_small_text(path, 256 * _LARGEST_INFO_FILE).splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def read_feature_types(folder: Path, name: str, info: dict[str, Any]) -> list[str]:
    """One of FEATURE_TYPES for each feature, from `<name>_feat.type`, else from the info's feat_type.

    Types that neither file tells are Numerical.
    """
    path = folder / f"{name}_feat.type"
    if path.is_file():
        lines = read_lines(path)
        kinds = {line: line.capitalize() for line in set(lines)}
        return [kinds[line] for line in lines]
    general = str(info.get("feat_type", "")).capitalize()
    kind = general if general in FEATURE_TYPES else "Numerical"
    return [kind] * (count_of(info, "feat_num", most=MOST_FEATURES) or 0)
