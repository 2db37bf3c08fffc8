"""Public files of all datasets on this site, by their hash: a new solution may stand in one of them."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from accounts.models import User
from datasets.checks import Finding, Severity
from datasets.checks.leaks import BITS, MEND, information
from datasets.models import DatasetVersion
from ingestion.dataset import PUBLIC_SUFFIXES, Parsed


def known_leaks(solutions: Mapping[str, Path], parsed: Parsed, owner: User) -> Iterator[Finding]:
    """An error for each hidden solution (file by part) that is a public file of a version of any dataset.

    Datasets of other organizers are not named.
    """
    told = {part: path for part, path in solutions.items() if _tells(parsed, part)}
    wanted = {_sha256(path): (part, path) for part, path in told.items()}
    if not wanted:
        return
    versions = DatasetVersion.objects.exclude(checksums={}).select_related("dataset")
    for version in versions.only("name", "number", "checksums", "dataset__owner_id", "dataset__slug"):
        for file, entry in version.checksums.items():
            digest = str(entry.get("sha256")) if isinstance(entry, dict) else str(entry)
            if digest not in wanted or not file.endswith(PUBLIC_SUFFIXES):
                continue
            part, path = wanted[digest]
            is_own = version.dataset.owner_id == owner.pk
            where = f"{file} of {version.dataset.slug}, version {version.number}" if is_own else "a public file"
            whose = "" if is_own else " of another organizer's dataset"
            sentence = f"the targets of the {part} part stand in {where}{whose} on this site (the same file)"
            yield Finding("leak", Severity.ERROR, path.name, sentence, MEND)
            break


def _tells(parsed: Parsed, part: str) -> bool:
    """Whether a solution is long enough that it is no other's by chance."""
    solution = parsed.solutions.get(part)
    return solution is not None and max(information(column) for column in solution.T) >= BITS


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
