"""What Podium's own management commands share: JSON as the last line, and exit codes with a meaning."""

import json
import sys
import traceback
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from accounts.refusals import Refused
from operations import tables

OK, AT_FAULT, USAGE, OUR_FAULT = 0, 1, 2, 3


class PodiumCommand(BaseCommand):
    """A command with `--json`: one object as the last line of standard output, all else on standard error.

    Subclasses define `options`, `act` and `explain`. Exit codes: 0 ok, 1 the input is at fault, 2 usage,
    3 our own fault.
    """

    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the command's own options and `--json`."""
        self.options(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")

    def options(self, parser: CommandParser) -> None:
        """Add the command's own options."""
        raise NotImplementedError

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Do it; returns the object to print and the exit code. Raises Refused when a rule is against it."""
        raise NotImplementedError

    def explain(self, result: dict[str, Any]) -> str:
        """Return the result as text for a person."""
        raise NotImplementedError

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the object to print when a rule was against it."""
        raise NotImplementedError

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the command and end with its exit code."""
        try:
            result, code = self.act(**options)
        except Refused as refusal:
            result, code = self.refused(refusal), AT_FAULT
        except (CommandError, KeyboardInterrupt):
            raise
        except Exception as error:
            if tables.misses_a_table(error):
                raise CommandError(f"{tables.SENTENCE} {tables.MEND}", returncode=AT_FAULT) from error
            traceback.print_exc()
            result = {"error": type(error).__name__, "message": f"Our own fault: {error}"}
            code = OUR_FAULT
        if options["json"]:
            self.stdout.write(json.dumps(result))
        elif code != OUR_FAULT:
            (self.stdout if code == OK else self.stderr).write(self.explain(result))
        if code:
            sys.exit(code)


def user_named(name: str) -> User:
    """Return the user, or refuse with the name that is not known."""
    user = User.objects.filter(username=name).first()
    if user is None:
        raise Refused(f"There is no user {name}.", status=404, mend="./podium manage createsuperuser makes one.")
    return user
