"""What a file that an organizer sent is: a dataset in AutoML format, or a table that is to be prepared."""

from pathlib import Path

from accounts.refusals import Refused

TABLE_SUFFIXES = (".csv", ".tsv", ".arff", ".parquet", ".pq", ".svm", ".svmlight", ".libsvm", ".npz")
COMPRESSED = (".gz", ".xz", ".bz2")
KNOWN = "a zip of an AutoML folder, CSV, TSV, ARFF, Parquet, svmlight or .npz"


def is_zip(path: Path) -> bool:
    """Whether a file is a zip with entries of its own; `.npz` is one, too, but read as a table."""
    with path.open("rb") as file:
        return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06") and path.suffix.lower() != ".npz"


def found_dataset(folder: Path) -> Path | None:
    """The folder of a split dataset in AutoML format within an opened zip, if there is one."""
    for place in (folder, *_only_folder(folder)):
        if any(place.glob("*_train.data")) or any(place.glob("*_public.info")):
            return place
    return None


def found_table(folder: Path) -> Path:
    """The table within an opened zip: its one file in a known format, or the folder of an unsplit AutoML set.

    Raises Refused where there is none, or several.
    """
    for place in (folder, *_only_folder(folder)):
        if any(place.glob("*.data")) and any(place.glob("*.solution")):
            return place
        tables = [path for path in sorted(place.iterdir()) if is_table(path)]
        if len(tables) == 1:
            return tables[0]
        if tables:
            names = ", ".join(path.name for path in tables[:5])
            raise Refused(f"The zip holds several tables: {names}.", mend="Send one of them.")
    raise Refused("The zip holds neither a dataset in AutoML format nor a table.", mend=f"Send {KNOWN}.")


def is_table(path: Path) -> bool:
    """Whether a file's name says that it is a table in a known format."""
    if not path.is_file():
        return False
    name = path.name.lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return name.endswith(TABLE_SUFFIXES)


def _only_folder(folder: Path) -> list[Path]:
    inside = [path for path in folder.iterdir() if path.is_dir()]
    return inside if len(inside) == 1 else []
