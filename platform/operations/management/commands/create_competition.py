"""`./podium manage create_competition`: a whole competition from a template, as a draft."""

import datetime as dt
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from accounts.refusals import Refused
from competitions.actions.create import blueprint_named, create
from competitions.blueprints import BLUEPRINTS
from competitions.models import Competition
from datasets.models import Dataset
from operations.commands import OK, PodiumCommand, user_named


class Command(PodiumCommand):
    """Set up rounds, phases, budgets and rules; datasets can be given by round, or added later."""

    help = f"Set up a competition from a template: {', '.join(BLUEPRINTS)}."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("--template", required=True, metavar="NAME", help=", ".join(BLUEPRINTS))
        parser.add_argument("--slug", required=True, help="its part of the address")
        parser.add_argument("--owner", required=True, metavar="NAME", help="the user who organizes it")
        parser.add_argument("--start", metavar="DATE", help="YYYY-MM-DD, 00:00 UTC (default: tomorrow)")
        parser.add_argument("--title", default="")
        parser.add_argument(
            "--dataset",
            action="append",
            default=[],
            metavar="ROUND=SLUG",
            help="a dataset of all phases of a round; repeat it for more",
        )

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Create it."""
        owner = user_named(options["owner"])
        datasets: dict[int, list[Dataset]] = {}
        for text in options["dataset"]:
            number, found = dataset_of(text)
            datasets.setdefault(number, []).append(found)
        competition = create(
            blueprint_named(options["template"]),
            slug=options["slug"],
            owner=owner,
            start=start_of(options["start"]),
            title=options["title"],
            datasets=datasets,
        )
        return result_of(competition), OK

    def explain(self, result: dict[str, Any]) -> str:
        """Return the competition and its phases, a line each."""
        if not result["ok"]:
            return str(result["message"])
        lines = [f"{result['title']} is a draft at /competitions/{result['slug']}/."]
        lines += [f"  {phase['number']:>2}. {phase['title']}: {phase['opens_at']}" for phase in result["phases"]]
        return "\n".join(lines)

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the refusal as an object."""
        return {"ok": False, "slug": None, "title": "", "phases": [], "message": str(refusal)}


def start_of(text: str | None) -> dt.datetime:
    """Return the start: midnight UTC of that day, or of tomorrow."""
    if text is None:
        midnight = timezone.now().astimezone(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight + dt.timedelta(days=1)
    try:
        return dt.datetime.combine(dt.date.fromisoformat(text), dt.time(), dt.UTC)
    except ValueError as problem:
        raise CommandError(f"--start: {text!r} is not a date like 2027-01-31.", returncode=2) from problem


def dataset_of(text: str) -> tuple[int, Dataset]:
    """Return the round and the dataset that `ROUND=SLUG` names."""
    number, _, slug = text.partition("=")
    if not number.isdecimal() or not slug:
        raise CommandError(f"--dataset: {text!r} is not like 1=madeline.", returncode=2)
    found = Dataset.objects.filter(slug=slug).first()
    if found is None:
        raise Refused(
            f"There is no dataset {slug}.", status=404, mend="./podium manage import_dataset brings one in."
        )
    return int(number), found


def result_of(competition: Competition) -> dict[str, Any]:
    """Return the JSON object of a competition that was made."""
    phases = [
        {
            "number": phase.number,
            "title": phase.title,
            "kind": phase.kind,
            "opens_at": phase.opens_at.isoformat(),
            "closes_at": phase.closes_at.isoformat() if phase.closes_at else None,
        }
        for phase in competition.phases()
    ]
    return {"ok": True, "slug": competition.slug, "title": competition.title, "phases": phases}
