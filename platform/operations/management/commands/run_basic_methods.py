"""`./podium manage run_basic_methods`: lets the platform run the basic methods on a competition's datasets."""

from typing import Any

from django.core.management.base import CommandParser

from accounts.refusals import Refused
from analysis.basic.running import RemoveBasicMethods, RunBasicMethods, entries, takes_basic_methods
from competitions.models import Competition, Phase
from operations.commands import OK, PodiumCommand
from operations.management.commands.submit import competition_named, phase_of, wait_for


class Command(PodiumCommand):
    """Run them in one phase or in all that take them; only what is missing is run."""

    help = "Run the basic methods on the datasets of a competition, to learn how hard these are."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("slug", metavar="SLUG", help="the competition")
        parser.add_argument(
            "--phase", type=int, metavar="N", help="the phase's number (default: all that take them)"
        )
        parser.add_argument("--tuned", action="store_true", help="also with tuned hyper-parameters")
        parser.add_argument("--remove", action="store_true", help="remove them and their scores instead")
        parser.add_argument("--wait", action="store_true", help="wait until every run has ended")

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Run or remove them; with --wait, follow the runs to their end."""
        contest = competition_named(options["slug"])
        phases = phases_of(contest, options["phase"])
        if options["remove"]:
            sentence = RemoveBasicMethods(by=None, contest=contest, phases=phases).execute()
        else:
            action = RunBasicMethods(by=None, contest=contest, phases=phases, tuned=options["tuned"])
            sentence = action.execute()
        own = [one.submission for one in entries(contest) if one.submission.phase in phases]
        for submission in own if options["wait"] else []:
            wait_for(submission)
        return {"ok": True, "sentence": sentence, "submissions": [submission.pk for submission in own]}, OK

    def explain(self, result: dict[str, Any]) -> str:
        """Return what happened."""
        return str(result["sentence"])

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the refusal as an object."""
        return {"ok": False, "sentence": str(refusal), "submissions": []}


def phases_of(contest: Competition, number: int | None) -> list[Phase]:
    """The phase of that number, or all that take basic methods."""
    if number is not None:
        return [phase_of(contest, number)]
    phases = [phase for phase in contest.phases() if takes_basic_methods(phase)]
    if not phases:
        raise Refused(f"No phase of {contest.title} has datasets that the basic methods can run on.", status=409)
    return phases
