"""`./podium manage worker_token NAME`: a token for a compute worker, shown once."""

import os
import shlex
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from accounts.refusals import Refused
from config.home import podium_home
from operations.commands import OK, PodiumCommand
from operations.installation import address_of_site
from operations.worker_start import slot_names
from submissions.models import Worker


class Command(PodiumCommand):
    """Make a worker. One that exists gets a new token only with --replace; its old token ends at once."""

    help = "Make a token for a compute worker. It is shown once; the site keeps only its hash."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("name", help="how the site calls the worker")
        parser.add_argument("--resource-class", default="default", help="the class of machine (default: default)")
        parser.add_argument("--trusted", action="store_true", help="may run blind phases")
        parser.add_argument(
            "--slots", type=int, default=1, metavar="N", help="how many runs its machine takes at once"
        )
        parser.add_argument("--replace", action="store_true", help="end the tokens that these workers have now")

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Make the tokens, one for each slot."""
        if options["slots"] < 1:
            raise CommandError("--slots is how many runs the machine takes at once: 1, 2, 3 ...", returncode=2)
        names = slot_names(options["name"], options["slots"])
        if not options["replace"]:
            refuse_existing(names)
        with transaction.atomic():
            tokens = [
                Worker.with_new_token(
                    name, resource_class=options["resource_class"], is_trusted=options["trusted"]
                )[1]
                for name in names
            ]
        result = {
            "worker": options["name"],
            "workers": names,
            "token": ",".join(tokens),
            "resource_class": options["resource_class"],
            "trusted": options["trusted"],
            "url": os.environ.get("PODIUM_URL") or address_of_site(podium_home()) or settings.PODIUM_URL,
        }
        return result, OK

    def explain(self, result: dict[str, Any]) -> str:
        """Return the lines to type on the worker's machine."""
        url, name = shlex.quote(result["url"]), shlex.quote(result["worker"])
        return (
            "On the worker's machine:\n"
            f"  PODIUM_URL={url} PODIUM_WORKER_TOKEN={result['token']} ./podium worker --name {name}"
        )

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the refusal as JSON."""
        return {"error": "refused", "message": str(refusal)}


def refuse_existing(names: list[str]) -> None:
    """Refuse when one of these workers exists, so that nobody ends the token of a machine that works."""
    there = Worker.objects.filter(name__in=names, revoked_at=None).values_list("name", flat=True)
    if there:
        raise Refused(
            f"There is a worker {' and '.join(there)} already, whose token would end at once.",
            status=409,
            mend="Choose another name, or give it a new token with --replace.",
        )
