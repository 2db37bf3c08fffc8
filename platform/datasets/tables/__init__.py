"""Reading a table that an organizer brings, of any of the usual kinds of file."""

from datasets.tables.reading import KINDS_OF_FILE, read_table
from datasets.tables.table import Column, Kind, Progress, Table, TableReport, silent

__all__ = ["KINDS_OF_FILE", "Column", "Kind", "Progress", "Table", "TableReport", "read_table", "silent"]
