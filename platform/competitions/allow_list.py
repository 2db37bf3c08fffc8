"""Who may join where a list of e-mail addresses decides.

The list is typed by organizers: an address or `@domain` a line. Only addresses count of which their owner proved
that they are theirs, else anybody could register with an address of the list.
"""

import re
from collections.abc import Collection

from accounts.people import Person, verified_emails
from competitions.models import Competition

ADDRESS = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")
DOMAIN = re.compile(r"@[^\s@]+\.[^\s@]+")


def entries(text: str) -> list[str]:
    """The entries of a typed list, in lower case, each once; lines, commas and semicolons separate them."""
    parts = re.split(r"[\s,;]+", text.casefold())
    return list(dict.fromkeys(part for part in parts if part))


def mistakes(text: str) -> list[str]:
    """Those entries of a typed list that are neither an address nor `@domain`."""
    return [one for one in entries(text) if not (ADDRESS.fullmatch(one) or DOMAIN.fullmatch(one))]


def names(text: str, emails: Collection[str]) -> bool:
    """Whether a typed list names one of the addresses, or its domain; a domain does not name those below it."""
    listed = set(entries(text))
    wanted = {email.casefold() for email in emails}
    return bool(listed & wanted) or bool(listed & {"@" + email.rpartition("@")[2] for email in wanted})


def admits(competition: Competition, user: Person) -> bool:
    """Whether one of the person's verified addresses is on the competition's list. At most one query."""
    if not user.is_authenticated or not competition.allowed_emails.strip():
        return False
    return names(competition.allowed_emails, verified_emails(user))
