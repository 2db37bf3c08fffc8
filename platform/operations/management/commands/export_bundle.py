"""`./podium manage export_bundle SLUG ZIP`: write a competition as a bundle of version 2."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from accounts.refusals import Refused
from bundles.exporting import write_bundle
from bundles.exporting.action import exported
from competitions import clock
from competitions.actions.base import record
from operations.commands import OK, PodiumCommand
from operations.management.commands.submit import competition_named


class Command(PodiumCommand):
    """Export a competition as a bundle."""

    help = "Write a competition as a bundle of version 2. With solutions it holds the labels: keep it like them."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("competition", metavar="SLUG")
        parser.add_argument("path", type=Path, metavar="ZIP", help="the file to write")
        parser.add_argument(
            "--with-solutions",
            action="store_true",
            help="with the labels, and the archives of the reference entries",
        )

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Write it, readable by nobody else."""
        contest, path = competition_named(options["competition"]), options["path"]
        if path.exists():
            raise Refused(f"There is a file {path} already.", status=409, mend="Choose another name.")
        try:
            path.touch(mode=0o600)
            unsayable = write_bundle(contest, path, with_solutions=options["with_solutions"])
        except OSError as problem:
            raise Refused(f"{path} cannot be written: {problem.strerror}.") from problem
        except Refused:
            path.unlink()
            raise
        text = exported(contest, with_solutions=options["with_solutions"])
        record(contest, by=None, action="export_bundle", text=text, at=clock.now(contest))
        return {"ok": True, "path": str(path), "bytes": path.stat().st_size, "unsayable": unsayable}, OK

    def explain(self, result: dict[str, Any]) -> str:
        """Return where it is, and what it does not say."""
        if not result["ok"]:
            return str(result["errors"][0]["message"])
        lines = [f"Not in the bundle: {sentence}" for sentence in result["unsayable"]]
        return "\n".join([*lines, f"Written to {result['path']}."])

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the refusal in the fields of a report."""
        return {"ok": False, "errors": [{"place": "", "message": str(refusal), "mend": refusal.mend}]}
