"""`./podium manage check_boards`: compares every stored row of the leaderboards with its recomputation."""

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from accounts.refusals import Refused
from competitions.models import Phase
from leaderboards import board, columns
from operations.commands import OK, OUR_FAULT, PodiumCommand


class Command(PodiumCommand):
    """Says which rows differ from what the scores give; --mend writes them again."""

    help = "Compare the stored rows of the leaderboards with their recomputation from the scores."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("--competition", metavar="SLUG", help="only this one")
        parser.add_argument("--mend", action="store_true", help="write again what differs")

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Compare phase by phase, each in a transaction, so that no score comes in between."""
        phases = Phase.objects.filter(submissions__isnull=False).distinct().order_by("pk")
        if options["competition"]:
            phases = phases.filter(round__competition__slug=options["competition"])
        differences: list[dict[str, str]] = []
        checked = 0
        for phase in phases.select_related("round__competition"):
            with transaction.atomic():
                Phase.objects.select_for_update(no_key=True).get(pk=phase.pk)
                keeper = columns if columns.is_programmed(phase) else board
                expected, stored = keeper.recomputed(phase), keeper.stored(phase)
                checked += len(expected)
                found = differing(phase, expected, stored)
                if found and options["mend"]:
                    keeper.refresh(phase)
            differences += found
        mended = bool(differences) and options["mend"]
        is_ok = mended or not differences
        result = {"ok": is_ok, "rows": checked, "mended": mended, "differences": differences}
        if options["json"] or is_ok:
            return result, OK if is_ok else OUR_FAULT
        self.stderr.write(self.explain(result))  # the base class keeps silent where the fault is ours
        return result, OUR_FAULT

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the refusal as JSON; no rule is against reading."""
        return {"error": "refused", "message": str(refusal)}

    def explain(self, result: dict[str, Any]) -> str:
        """Return a line for each difference, and the count."""
        lines = [
            f"{one['competition']}, {one['phase']}, {one['part']}: entrant {one['entrant']}: {one['what']}"
            for one in result["differences"]
        ]
        told = "Every row is as its scores give it." if not lines else f"{len(lines)} rows differ."
        mended = " They were written again." if result["mended"] else ""
        return "\n".join([*lines, f"{result['rows']} rows checked. {told}{mended}"])


def differing(
    phase: Phase, expected: dict[tuple[str, int], dict[str, Any]], stored: dict[tuple[str, int], dict[str, Any]]
) -> list[dict[str, str]]:
    """What differs between two sets of rows, a dictionary for each row.

    Rows are known by part and entrant, on boards of columns by the board's key and the submission.
    """
    found = []
    for part, entrant in sorted({*expected, *stored}):
        should, row = expected.get((part, entrant)), stored.get((part, entrant))
        if should == row:
            continue
        if should is None or row is None:
            what = "has no row" if row is None else "should have no row"
        else:
            what = "other " + ", ".join(name for name in should if should[name] != row[name])
        found.append(
            {
                "competition": phase.competition.slug,
                "phase": phase.title,
                "part": part,
                "entrant": str(entrant),
                "what": what,
            }
        )
    return found
