"""How the commands speak: plain lines on standard error, results on standard output."""

import sys

from rich.console import Console

# State and advice go to standard error, so that `--json` and tables stay alone on standard output.
notes = Console(stderr=True, highlight=False, soft_wrap=True)
# A table that goes into a file must not be folded to 80 columns.
results = Console(highlight=False, width=None if sys.stdout.isatty() else 150)


def say(text: str) -> None:
    """Print one line of state for the person who waits. Markup is not interpreted: texts may hold brackets."""
    notes.print(text, markup=False)
    sys.stderr.flush()
