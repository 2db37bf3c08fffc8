"""Which reader a file needs, and reading it."""

import zipfile
from collections.abc import Callable
from pathlib import Path

from accounts.refusals import Refused
from datasets.scratch import scratch_folder
from datasets.tables.arff import read_arff
from datasets.tables.delimited import read_delimited
from datasets.tables.npz import read_npz
from datasets.tables.parquet import read_parquet
from datasets.tables.svmlight import looks_like_svmlight, read_svmlight
from datasets.tables.table import Findings, Progress, Table, TableReport, Unreadable, silent
from datasets.tables.unsplit import read_unsplit
from ingestion.archive import RefusedArchive, open_archive
from ingestion.archive_refusal import PACK_AGAIN
from ingestion.dataset import Problem
from ingestion.dataset_files import dataset_folder
from ingestion.program.errors import DataError

Reader = Callable[[Path, Findings, Progress], Table | None]

_BY_SUFFIX: dict[str, Reader] = {
    ".csv": read_delimited,
    ".tsv": read_delimited,
    ".tab": read_delimited,
    ".arff": read_arff,
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".svm": read_svmlight,
    ".svmlight": read_svmlight,
    ".libsvm": read_svmlight,
    ".npz": read_npz,
}
KINDS_OF_FILE = "CSV, TSV, ARFF, Parquet, svmlight, .npz, or a zip or folder in AutoML format"


def read_table(path: Path, *, progress: Progress | None = None) -> TableReport:
    """Read a table from a file, a zip or a folder. Never raises for bad input: what is wrong is in the report.

    Raises Refused (404) where there is no such file.
    """
    if not path.exists():
        raise Refused(f"There is no file or folder {path.name}.", status=404)
    progress = progress or silent
    findings = Findings(path.name)
    table = None
    try:
        table = _read(path, findings, progress)
    except DataError as error:
        mend = error.mend if isinstance(error, Unreadable) else ""
        findings.errors.append(Problem(error.place, error.message, mend))
    except RefusedArchive as refusal:
        findings.error("", str(refusal), refusal.mend or PACK_AGAIN)
    except OSError as error:
        findings.error("", f"cannot be read: {error.strerror or error}")
    except MemoryError:
        findings.error("", "needs more memory to read than this machine has")
    if table is not None and not findings.errors:
        progress(1.0, f"Read {table.rows} rows of {len(table.columns)} columns.")
    return TableReport(table if not findings.errors else None, findings.errors, findings.warnings)


def _read(path: Path, findings: Findings, progress: Progress) -> Table | None:
    if path.is_dir():
        return _read_folder(path, findings, progress)
    if not path.stat().st_size:
        raise Unreadable(path.name, "is empty", "Send the file again.")
    reader = _BY_SUFFIX.get(path.suffix.lower()) or _by_content(path)
    if reader is not None:
        return reader(path, findings, progress)
    return _read_zip(path, findings, progress)


def _by_content(path: Path) -> Reader | None:
    """The reader that the first bytes ask for; None for a zip of other files. Raises DataError for gzip."""
    with path.open("rb") as file:
        start = file.read(65536)
    if start.startswith(b"PAR1"):
        return read_parquet
    if start.startswith(b"\x1f\x8b"):
        raise Unreadable(path.name, "is packed with gzip", "Unpack it, or put the table into a zip.")
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        return read_npz if names and all(name.endswith(".npy") for name in names) else None
    if any(line.strip().lower().startswith(b"@relation") for line in start.splitlines()):
        return read_arff
    if b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable(path.name, "is no table of a known kind", f"Send one of {KINDS_OF_FILE}.")
    return read_svmlight if looks_like_svmlight(path) else read_delimited


def _read_zip(path: Path, findings: Findings, progress: Progress) -> Table | None:
    with scratch_folder("table-") as folder:
        return _read_folder(open_archive(path, folder / "contents").root, findings, progress)


def _read_folder(folder: Path, findings: Findings, progress: Progress) -> Table | None:
    """An AutoML folder that is not split, or a folder with one table in it."""
    if any(dataset_folder(folder).glob("*_public.info")):
        return read_unsplit(folder, findings, progress)
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith(".")]
    tables = [path for path in files if path.suffix.lower() in _BY_SUFFIX] or files
    if len(tables) != 1:
        names = ", ".join(path.name for path in tables[:5]) or "no file"
        mend = "Leave one table in it, or a dataset with its <name>_public.info."
        raise Unreadable(findings.file, f"holds {names}; one table is needed", mend)
    findings.file = tables[0].name
    return _read(tables[0], findings, progress)
