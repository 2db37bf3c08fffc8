"""Packing a submission, and looking at it as the server's door does, without running it."""

from __future__ import annotations

import ast
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ingestion.archive import (
    Contents,
    Recognised,
    RefusedArchive,
    check_python_syntax,
    open_archive,
    recognise,
)
from ingestion.recognition import parse_prediction_name
from scoring.errors import ScoringError
from scoring.reading import read_table

JUNK = ("__pycache__", ".git", ".DS_Store", "__MACOSX", ".ipynb_checkpoints")
EARLIEST = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Finding:
    """One sentence about a submission; fatal where it would fail on the server."""

    text: str
    is_fatal: bool = False


@dataclass(frozen=True)
class Looked:
    """What a submission is, and what was found in it."""

    kind: str
    described: str
    runs_code: bool
    findings: tuple[Finding, ...]


def packed(folder: Path, target: Path) -> list[str]:
    """Write a folder's files to the zip `target` and return notes; the same files give the same bytes.

    Raises RefusedArchive, and leaves no zip, where the server would refuse it; OSError where there is no folder.
    """
    if not folder.is_dir():
        raise OSError(f"There is no folder {folder}.")
    target.parent.mkdir(parents=True, exist_ok=True)
    notes = write_zip(folder, target)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            contents = open_archive(target, Path(scratch) / "opened")
            return [*notes, *contents.notes, *_recognised(contents, []).notes, *check_python_syntax(contents)]
    except RefusedArchive:
        target.unlink()
        raise


def write_zip(folder: Path, target: Path) -> list[str]:
    """Zip the regular files of a folder in the order of their names; return notes about what was left out."""
    notes = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder)
            if any(piece in JUNK for piece in name.parts) or path.resolve() == target.resolve():
                continue
            if path.is_symlink():
                notes.append(f"{name} is a link and was left out.")
            elif path.is_file():
                entry = zipfile.ZipInfo(name.as_posix(), EARLIEST)
                entry.external_attr = (0o100755 if path.stat().st_mode & 0o100 else 0o100644) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, path.read_bytes())
    return notes


def check_submission(source: Path, names: Iterable[str], scratch: Path) -> Looked:
    """Look at a folder or zip. Raises RefusedArchive where the server would refuse it at its door."""
    archive = source
    notes: list[str] = []
    if source.is_dir():
        archive = scratch / "submission.zip"
        notes = write_zip(source, archive)
    contents = open_archive(archive, scratch / "submission")
    recognised = _recognised(contents, names)
    findings = [Finding(note) for note in (*notes, *contents.notes, *recognised.notes)]
    own_sources = {f"{Path(name).name} line" for name in contents.files if name == "model.py"}
    for note in check_python_syntax(contents):
        is_model = recognised.interface == "model" and any(note.startswith(start) for start in own_sources)
        findings.append(Finding(note, is_fatal=is_model))
    if recognised.interface == "model":
        findings += _about_model(contents.root / "model.py")
    findings += _about_predictions(contents, recognised)
    return Looked(recognised.kind, _described(recognised), recognised.interface is not None, tuple(findings))


def _recognised(contents: Contents, names: Iterable[str]) -> Recognised:
    """The kind of an archive, for the datasets that its own prediction files name and those given."""
    parsed = [parse_prediction_name(name) for name in contents.files if "/" not in name]
    return recognise(contents, {*names, *(one.name for one in parsed if one is not None)})


def _described(recognised: Recognised) -> str:
    code = {"model": "code, model.py", "metadata": f"code, command: {recognised.command}", None: ""}
    predicted = ", ".join(recognised.predictions)
    if recognised.kind == "json_model":
        return "a JSON model"
    if recognised.kind == "results":
        return f"results for {predicted}"
    more = f"; results for {predicted}" if predicted else ""
    return f"{code[recognised.interface]}{more}"


def _about_model(path: Path) -> list[Finding]:
    """Whether model.py defines a class Model with fit and predict, as far as its text tells."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return []  # told already
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    found = classes.get("Model") or classes.get("model")
    if found is None:
        imported = any(isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body)
        text = "model.py defines no class Model"
        return [Finding(f"{text} itself; it must come from an import." if imported else f"{text}.", not imported)]
    methods = {node.name for node in found.body if isinstance(node, ast.FunctionDef)}
    missing = [name for name in ("fit", "predict") if name not in methods]
    if not missing:
        return []
    text = f"the class {found.name} has no method {' and no method '.join(missing)}"
    if found.bases:
        return [Finding(f"{text} of its own; its base class must have it.")]
    return [Finding(f"{text}.", is_fatal=True)]


def _about_predictions(contents: Contents, recognised: Recognised) -> list[Finding]:
    """Whether the prediction files that count can be read, and what the server cannot see past."""
    findings = []
    for name, parts in recognised.predictions.items():
        columns = set()
        for part, file in parts.items():
            try:
                values = read_table(contents.root / file)
            except ScoringError as error:
                findings.append(Finding(str(error), is_fatal=True))
                continue
            columns.add(values.shape[1])
            findings.append(Finding(f"{file}: {values.shape[0]} rows, {values.shape[1]} columns ({part})."))
        if len(columns) > 1:
            findings.append(Finding(f"the parts of {name} have different numbers of columns.", is_fatal=True))
    return findings
