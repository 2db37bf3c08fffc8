"""`./podium manage import_dataset PATH --owner USER`: check a dataset in AutoML format and keep it."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from accounts.refusals import Refused
from datasets.actions import import_dataset
from operations.commands import AT_FAULT, OK, PodiumCommand, user_named


class Command(PodiumCommand):
    """Import a dataset from a folder or a zip."""

    help = "Check a dataset in AutoML format (folder or zip) and import it."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("path", type=Path, help="the dataset's folder or zip")
        parser.add_argument("--owner", required=True, metavar="USER", help="the organizer it belongs to")
        parser.add_argument("--check-only", action="store_true", help="report, but keep nothing")
        parser.add_argument("--title", help="the title that organizers see (default: its name)")

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Check, and import unless only a check was asked for."""
        report = import_dataset(
            options["path"],
            owner=user_named(options["owner"]),
            check_only=options["check_only"],
            title=options["title"],
        )
        return report.to_json(), OK if report.ok else AT_FAULT

    def explain(self, result: dict[str, Any]) -> str:
        """Return every problem on its own line, then what became of the dataset."""
        lines = [f"error: {line(problem)}" for problem in result["errors"]]
        lines += [f"warning: {line(problem)}" for problem in result["warnings"]]
        if not result["ok"]:
            lines.append("The dataset was not imported.")
        elif result["version"] is None:
            lines.append(f"The dataset is in order. It would be imported as {result['slug']}.")
        else:
            lines.append(f"Imported as {result['slug']}, version {result['version']}.")
        return "\n".join(lines)

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the refusal in the fields of a report."""
        problem = {"place": "", "message": refusal.message, "mend": refusal.mend}
        return {"ok": False, "slug": None, "version": None, "errors": [problem], "warnings": []}


def line(problem: dict[str, str]) -> str:
    """Return one problem as a line."""
    place = f"{problem['place']}: " if problem["place"] else ""
    return f"{place}{problem['message']} {problem['mend'] or ''}".strip()
