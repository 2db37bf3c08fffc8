"""`./podium manage import_bundle ZIP --organizer USER`: make a competition of a bundle of Codabench or CodaLab."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from accounts.refusals import Refused
from bundles.importing import import_bundle
from operations.commands import AT_FAULT, OK, PodiumCommand, user_named

LABELS = "labels_are_readable"


class Command(PodiumCommand):
    """Import a competition from a bundle."""

    help = "Import a competition bundle of Codabench (version 2) or CodaLab (version 1.5)."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("path", type=Path, metavar="ZIP", help="the bundle")
        parser.add_argument("--organizer", required=True, metavar="USER", help="who owns the competition")
        parser.add_argument("--dry-run", action="store_true", help="report, but keep nothing")
        parser.add_argument(
            "--date-order", choices=("mdy", "dmy"), help="how dates like 8-05-2026 are meant (default: mdy)"
        )
        parser.add_argument(
            "--map-image",
            action="append",
            default=[],
            metavar="A=B",
            help="run programs that ask for the image A in B (can be given several times)",
        )
        parser.add_argument(
            "--answer",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="answer a question of the report (can be given several times)",
        )
        parser.add_argument(
            "--labels-are-readable",
            action="store_true",
            help="import although participants' code could read the labels; the front page will say so",
        )

        parser.add_argument(
            "--with-solutions", action="store_true", help="run the bundle's solutions as reference entries"
        )

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Import, or with --dry-run only say what would be imported."""
        answers = pairs(options["answer"], "--answer KEY=VALUE")
        if options["labels_are_readable"]:
            answers[LABELS] = "yes"
        report = import_bundle(
            options["path"],
            organizer=user_named(options["organizer"]),
            answers=answers,
            date_order=options["date_order"],
            image_map=pairs(options["map_image"], "--map-image A=B"),
            dry_run=options["dry_run"],
            with_solutions=options["with_solutions"],
        )
        result = {**report.as_json(), "dry_run": options["dry_run"]}
        return result, OK if report.ok else AT_FAULT

    def explain(self, result: dict[str, Any]) -> str:
        """Return what was found, every warning and error on its own line, and what became of the bundle."""
        lines = list(result["found"])
        for kind in ("warnings", "errors"):
            lines += [f"{kind.removesuffix('s')}: {line(problem)}" for problem in result[kind]]
        for question in result["questions"]:
            lines.append(f"question {question['key']}: {question['text']}")
        if not result["ok"]:
            lines.append("The bundle was not imported.")
        elif result["dry_run"]:
            lines.append(f"The bundle is in order. It would be imported as {result['slug']}.")
        else:
            lines.append(f"Imported as {result['slug']}, a draft that its organizers alone see.")
        return "\n".join(lines)

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the refusal in the fields of a report."""
        problem = {"place": "", "message": refusal.message, "mend": refusal.mend}
        nothing: dict[str, Any] = {"warnings": [], "questions": [], "found": [], "version": "", "dry_run": False}
        return {"ok": False, "slug": None, "errors": [problem], **nothing}


def pairs(given: list[str], usage: str) -> dict[str, str]:
    """Return the options A=B as a mapping; one without its sign is an error of usage."""
    found = {}
    for text in given:
        key, sign, value = text.rpartition("=")
        if not sign or not key or not value:
            raise CommandError(f"{text} is not written like {usage}.", returncode=2)
        found[key] = value
    return found


def line(problem: dict[str, str]) -> str:
    """Return one problem as a line."""
    place = f"{problem['place']}: " if problem["place"] else ""
    return f"{place}{problem['message']} {problem['mend']}".strip()
