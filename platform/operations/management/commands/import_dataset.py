"""`./podium manage import_dataset PATH --owner USER`: check a dataset in AutoML format and keep it."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from accounts.refusals import Refused
from datasets.actions import import_dataset
from datasets.checks import Finding, Severity
from operations.commands import AT_FAULT, OK, PodiumCommand, user_named


class Command(PodiumCommand):
    """Import a dataset from a folder or a zip."""

    help = "Check a dataset in AutoML format (folder or zip) and import it."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("path", type=Path, help="the dataset's folder or zip")
        parser.add_argument("--owner", required=True, metavar="USER", help="the organizer it belongs to")
        parser.add_argument("--check-only", action="store_true", help="report, but keep nothing")
        parser.add_argument(
            "--reachable",
            type=Path,
            action="append",
            metavar="PATH",
            help="a file, folder or zip that participants or their code can get; no hidden target may stand in it "
            "(can be given several times)",
        )
        parser.add_argument("--title", help="the title that organizers see (default: its name)")

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Check, and import unless only a check was asked for."""
        report = import_dataset(
            options["path"],
            owner=user_named(options["owner"]),
            check_only=options["check_only"],
            title=options["title"],
            reachable=reachable(options["reachable"] or []),
        )
        return report.to_json(), OK if report.ok else AT_FAULT

    def explain(self, result: dict[str, Any]) -> str:
        """Return every finding on its own line with its severity, the card, and what became of the dataset."""
        lines = [found_line(finding) for finding in sorted(result["findings"], key=weight)]
        if result["card"]:
            lines.append(", ".join(f"{column} {shown(value)}" for column, value in result["card"].items()))
        if result["round"]:
            proposal = result["round"]
            lines.append(f"Round {proposal['number']}, {proposal['name']}: {' '.join(proposal['reasons'])}")
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
        finding = Finding("refused", Severity.ERROR, "", refusal.message, refusal.mend or "")
        nothing: dict[str, Any] = {"slug": None, "version": None, "warnings": [], "card": None, "round": None}
        return {"ok": False, "errors": [problem], "findings": [finding.to_json()], **nothing}


def reachable(paths: list[Path]) -> list[Path]:
    """Return the paths, or refuse the first that does not exist."""
    for path in paths:
        if not path.exists():
            raise Refused(f"There is no file or folder {path}.", status=404)
    return paths


def weight(finding: dict[str, str]) -> int:
    """Return the place of a finding in a report: errors first."""
    return list(Severity).index(Severity(finding["severity"]))


def line(problem: dict[str, str]) -> str:
    """Return one problem as a line."""
    place = f"{problem['place']}: " if problem["place"] else ""
    message = problem["message"] if problem["message"].endswith((".", "!", "?")) else f"{problem['message']}."
    return f"{place}{message} {problem['mend'] or ''}".strip()


def found_line(finding: dict[str, str]) -> str:
    """Return one finding as a line, its severity first."""
    return f"{finding['severity']}: {line({**finding, 'message': finding['sentence']})}"


def shown(value: float | None) -> str:
    """Return a number of the card with three digits that tell, as the chapter's table has them."""
    return "unknown" if value is None else f"{value:.3g}" if isinstance(value, float) else f"{value}"
