"""Two people at one form: whoever saves what the other has changed meanwhile is told so."""

import hashlib

from accounts.refusals import Refused


def fingerprint(*values: object) -> str:
    """A short text that changes when one of the values does; a form carries it from its showing to its sending."""
    text = "\x1f".join(str(value) for value in values)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def require_unchanged(seen: str, *values: object, what: str) -> None:
    """Refuse where the values are not those that were shown; `seen` is empty where nothing was shown."""
    if seen and seen != fingerprint(*values):
        mend = "Copy what you wrote, open the page again, and put it in there."
        raise Refused(f"Somebody else has changed {what} in the meantime.", status=409, mend=mend)
