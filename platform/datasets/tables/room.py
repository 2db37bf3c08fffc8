"""Whether a table has room in this machine's memory: a small file can stand for very many values."""

from pathlib import Path

from datasets.tables.table import Unreadable
from ingestion.budget import Capacity, format_size

COPIES = 3  # the values as they were stored, as a table, and as the features that are made of it
MOST_SPARSE_COLUMNS = 10_000_000


def check_room(path: Path, needed: int) -> None:
    """Raises Unreadable where values of so many bytes, with their copies, are more than the memory holds."""
    memory = Capacity.of_this_machine().memory_bytes
    if COPIES * needed > memory:
        what = f"unpacks to {format_size(needed)}, which is too much for this machine's {format_size(memory)}"
        raise Unreadable(path.name, what, "Leave rows or columns out, or ask the operator for more memory.")
