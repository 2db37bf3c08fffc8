"""`./podium manage allow_organizer NAME`: who may make competitions and send datasets."""

from typing import Any

from django.core.management.base import CommandParser

from accounts.refusals import Refused
from operations.commands import OK, PodiumCommand, user_named
from operations.organizers import allow


class Command(PodiumCommand):
    """Give a person, who has registered on the site, the right to organize; or take it back."""

    help = "Let a registered person make competitions and send datasets. Roles stay as they are."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("name", help="the user name")
        parser.add_argument("--take-back", action="store_true", help="take the right back")

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Give or take both permissions."""
        user = user_named(options["name"])
        is_allowed = not options["take_back"]
        allow(user, is_allowed=is_allowed)
        return {"user": user.username, "allowed": is_allowed}, OK

    def explain(self, result: dict[str, Any]) -> str:
        """Return what the person may do now."""
        if result["allowed"]:
            return f"{result['user']} may make competitions and send datasets."
        return f"{result['user']} makes no new competitions any more."

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return why nothing was changed."""
        return {"error": "refused", "message": str(refusal)}
