"""`./podium manage report SLUG`: a competition's whole analysis as one page of HTML."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from accounts.refusals import Refused
from analysis import work
from analysis.inputs.audience import Audience
from analysis.report import HTML, REPORT
from operations.commands import OK, PodiumCommand
from operations.management.commands.analyse import audience_option
from operations.management.commands.submit import competition_named


class Command(PodiumCommand):
    """Write the report; what is kept of its sections is not computed again."""

    help = "Write a competition's whole analysis as one self-contained HTML page, to keep or to print as PDF."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("slug", metavar="SLUG", help="the competition")
        parser.add_argument(
            "output", metavar="OUT.html", type=Path, nargs="?", help="the file (default: SLUG-report.html)"
        )
        audience_option(parser)

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Compute, draw and write it."""
        contest = competition_named(options["slug"])
        audience = Audience(sees_hidden=options["audience"] == "organizers")
        result = work.compute_now(contest, REPORT, audience, lambda share, what: print(what, file=sys.stderr))
        if result is None:
            raise Refused(f"There is nothing to analyse in {contest.title} yet.", mend=REPORT.waits, status=409)
        target = options["output"] or Path(f"{contest.slug}-report.html")
        content = str(result.extras[HTML]).encode()
        target.write_bytes(content)
        return {"ok": True, "path": str(target), "bytes": len(content), "as": options["audience"]}, OK

    def explain(self, result: dict[str, Any]) -> str:
        """Return where it is."""
        return f"{result['path']}, {result['bytes'] / 1e6:.1f} MB."

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the refusal as an object."""
        return {"ok": False, "path": None, "message": f"{refusal} {refusal.mend}".strip()}
