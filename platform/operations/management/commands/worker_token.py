"""`./podium manage worker_token NAME`: a token for a compute worker, shown once."""

import os
import shlex
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from accounts.refusals import Refused
from config.home import podium_home
from operations.commands import OK, PodiumCommand
from operations.installation import address_of_site
from submissions.models import Worker


class Command(PodiumCommand):
    """Make a worker, or give an existing one a new token; its old token ends at once."""

    help = "Make a token for a compute worker. It is shown once; the site keeps only its hash."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("name", help="how the site calls the worker")
        parser.add_argument("--resource-class", default="default", help="the class of machine (default: default)")
        parser.add_argument("--trusted", action="store_true", help="may run blind phases")

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Make the token."""
        worker, token = Worker.with_new_token(
            options["name"], resource_class=options["resource_class"], is_trusted=options["trusted"]
        )
        result = {
            "worker": worker.name,
            "token": token,
            "resource_class": worker.resource_class,
            "trusted": worker.is_trusted,
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
