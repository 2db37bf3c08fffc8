"""`./podium manage run_on`: lets the runs that count in a phase go on beyond their budget, for learning curves."""

from typing import Any

from django.core.management.base import CommandParser

from accounts.refusals import Refused
from analysis.run_on import RemoveRunOns, RunOnBeyond, of_phases
from operations.commands import OK, PodiumCommand
from operations.management.commands.submit import competition_named, phase_of, wait_for


class Command(PodiumCommand):
    """Let the runs of a phase that is over go on; only what is missing is run."""

    help = "Let the runs that count in a phase go on beyond their budget, to learn what more time would bring."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("slug", metavar="SLUG", help="the competition")
        parser.add_argument("--phase", type=int, metavar="N", required=True, help="the phase's number")
        parser.add_argument("--factor", type=int, metavar="K", default=3, help="times the budget (default: 3)")
        parser.add_argument("--remove", action="store_true", help="remove what went on instead")
        parser.add_argument("--wait", action="store_true", help="wait until every run has ended")

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Run or remove them; with --wait, follow the runs to their end."""
        phase = phase_of(competition_named(options["slug"]), options["phase"])
        if options["remove"]:
            sentence = RemoveRunOns(by=None, phase=phase).execute()
        else:
            sentence = RunOnBeyond(by=None, phase=phase, factor=options["factor"]).execute()
        own = {one.run.submission_id: one.run.submission for one in of_phases([phase])}
        for submission in own.values() if options["wait"] else []:
            wait_for(submission)
        return {"ok": True, "sentence": sentence, "submissions": list(own)}, OK

    def explain(self, result: dict[str, Any]) -> str:
        """Return what happened."""
        return str(result["sentence"])

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the refusal as an object."""
        return {"ok": False, "sentence": str(refusal), "submissions": []}
