"""`./podium manage encrypt_solutions`: bring every hidden solution under the key that encrypts now."""

from typing import Any

from django.core.management.base import CommandParser

from accounts.refusals import Refused
from datasets import encryption, sealing
from operations.commands import AT_FAULT, OK, PodiumCommand


class Command(PodiumCommand):
    """Encrypt what is not, and encrypt anew what an earlier key encrypted; or decrypt all, or make a key."""

    help = (
        "Encrypt hidden solutions by the first key of PODIUM_SOLUTIONS_KEY. To replace a key, put the new one "
        "before it, separated by a comma, restart the site, run this, and take the old one away."
    )

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument("--new-key", action="store_true", help="print a fresh key and do nothing else")
        choice.add_argument("--decrypt", action="store_true", help="decrypt all, before the key is taken away")

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Make a key, or rewrite what needs it."""
        if options["new_key"]:
            return {"key": encryption.new_key()}, OK
        try:
            done = sealing.reseal(decrypt=options["decrypt"], tell=self.stderr.write)
        except sealing.NothingToDo as problem:
            mend = "./podium manage encrypt_solutions --new-key prints a key."
            raise Refused(str(problem), mend=mend) from problem
        counts = {name: done[name] for name in ("changed", "left", "unknown")}
        return {"ok": not done["unknown"], **counts}, AT_FAULT if done["unknown"] else OK

    def explain(self, result: dict[str, Any]) -> str:
        """Return the key, or what was done."""
        if "key" in result:
            return str(result["key"])
        lines = [f"{result['changed']} files were rewritten, {result['left']} were right already."]
        if result["unknown"]:
            lines.append(f"{result['unknown']} are encrypted by a key that is not in PODIUM_SOLUTIONS_KEY.")
        return "\n".join(lines)

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the refusal."""
        return {"ok": False, "error": refusal.message, "mend": refusal.mend}
