"""`./podium manage import_benchmark PATH … --owner USER`: read results in MementoML's format and keep them."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from accounts.refusals import Refused
from analysis.benchmarks.actions import import_files
from operations.commands import OK, PodiumCommand, user_named


class Command(PodiumCommand):
    """Import a benchmark from files, folders or zips."""

    help = "Import a benchmark in MementoML's format: a file of results, and files of the configurations."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("paths", type=Path, nargs="+", help="CSV or Parquet files, folders or zips of them")
        parser.add_argument("--owner", required=True, metavar="USER", help="the organizer it belongs to")
        parser.add_argument("--title", help="what it is called (default: the name of the first path)")
        parser.add_argument("--source", default="", help="where it comes from")
        parser.add_argument("--algorithm", default="", help="of results without a column model")
        parser.add_argument(
            "--first-index", type=int, metavar="N", help="the param_index that 0 of the results stands for"
        )
        parser.add_argument("--public", action="store_true", help="everybody may see it")

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Read and keep it."""
        for path in options["paths"]:
            if not path.exists():
                raise Refused(f"There is no file or folder {path}.", status=404)
        benchmark = import_files(
            owner=user_named(options["owner"]),
            title=options["title"] or options["paths"][0].stem,
            paths=options["paths"],
            source=options["source"],
            algorithm=options["algorithm"],
            first_index=options["first_index"],
            is_public=options["public"],
            tell=lambda share, what: self.stderr.write(what),
        )
        place = benchmark.get_absolute_url()
        return {"ok": True, "benchmark": benchmark.pk, "place": place, **benchmark.facts}, OK

    def explain(self, result: dict[str, Any]) -> str:
        """Return what was read, or why nothing was."""
        if not result["ok"]:
            return f"{result['message']} {result['mend']}".strip()
        algorithms = ", ".join(
            f"{name} ({one['configurations']} configurations)" for name, one in result["algorithms"].items()
        )
        size = f"{result['kept']:,} records of {result['datasets']} datasets and {result['splits']} splits"
        lines = [
            f"{size}: {algorithms}.",
            *result["notes"],
            f"Its page is {result['place']}",
        ]
        return "\n".join(lines)

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the refusal as an object."""
        return {"ok": False, "message": refusal.message, "mend": refusal.mend}
