"""`./podium manage replay_2016`: the challenge of 2015/16 from its published scores, as a competition."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from accounts.models import User
from accounts.refusals import Refused
from analysis.replay.loading import load
from analysis.replay.source import read
from operations.commands import OK, PodiumCommand, user_named


class Command(PodiumCommand):
    """Load it, or go on where an earlier call stopped; what is there already stays as it is."""

    help = "Load the AutoML challenge of 2015/16 from the files its organizers published, to analyse it here."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("folder", type=Path, help="where the published files lie, in whatever folders")
        parser.add_argument("--owner", metavar="NAME", default="", help="who organizes it (default: the operator)")

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Load it, telling what is at work on standard error."""
        owner = user_named(options["owner"]) if options["owner"] else operator()
        done = load(read(options["folder"]), owner=owner, tell=lambda sentence: print(sentence, file=sys.stderr))
        contest = done.competition
        return {
            "ok": True,
            "slug": contest.slug,
            "title": contest.title,
            "url": contest.get_absolute_url(),
            "was_there": done.was_there,
            "rounds": done.rounds,
            "entrants": contest.entrants.count(),
            "predictions_scored": done.scored,
        }, OK

    def explain(self, result: dict[str, Any]) -> str:
        """Return what there is now."""
        if not result["ok"]:
            return str(result["message"])
        if result["was_there"]:
            return f"{result['title']} is at {result['url']} already; nothing was changed."
        return (
            f"{result['title']} is at {result['url']}: {len(result['rounds'])} rounds loaded, "
            f"{result['entrants']} entrants, {result['predictions_scored']} prediction files scored. "
            f"Its analyses: {result['url']}analysis/"
        )

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the refusal as an object."""
        return {"ok": False, "slug": None, "message": f"{refusal} {refusal.mend}".strip()}


def operator() -> User:
    """The first superuser; Refused where there is none."""
    found = User.objects.filter(is_superuser=True).order_by("pk").first()
    if found is None:
        raise Refused("There is no operator yet.", mend="Name who organizes it: --owner NAME.", status=404)
    return found
