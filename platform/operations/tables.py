"""What a command says where the database has no tables yet; it can happen before the first start of the site."""

from django.db.utils import DatabaseError

SENTENCE = "The database has no tables yet, or those of an older version."
MEND = "Start the site once (./podium up), or: ./podium manage migrate"


def misses_a_table(problem: Exception) -> bool:
    """Whether a table or column is not there, as SQLite and PostgreSQL say it."""
    text = str(problem)
    is_missing = "no such table" in text or "no such column" in text or "does not exist" in text
    return isinstance(problem, DatabaseError) and is_missing
