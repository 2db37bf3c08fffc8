#!/usr/bin/env python
"""Django's command line, with the source root on the path. `./podium manage` calls it."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent


def main() -> None:
    """Run one management command."""
    for folder in (ROOT, ROOT / "platform"):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line
    from django.db.utils import DatabaseError

    try:
        execute_from_command_line(sys.argv)
    except DatabaseError as problem:
        from operations import tables

        if not tables.misses_a_table(problem):
            raise
        print(tables.SENTENCE, tables.MEND, sep="\n", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
