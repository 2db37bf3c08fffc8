"""Who may join where a list of e-mail addresses decides.

The list is typed by organizers: an address or `@domain` a line. Only addresses count of which their owner proved
that they are theirs, else anybody could register with an address of the list.
"""

import re
from collections.abc import Collection

from django.core.exceptions import ValidationError
from django.db.models import Q

from accounts.people import Person, verified_emails
from competitions.models import Competition

ADDRESS = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")
MOST_ENTRIES = 20_000
DOMAIN = re.compile(r"@[^\s@]+\.[^\s@]+")


def entries(text: str) -> list[str]:
    """The entries of a typed list, in lower case, each once; lines, commas and semicolons separate them."""
    parts = re.split(r"[\s,;]+", text.casefold())
    return list(dict.fromkeys(part for part in parts if part))


def tidied(text: str) -> str:
    """A typed list with one entry a line; raises ValidationError where it has mistakes or is too long."""
    wrong = mistakes(text)
    if wrong:
        more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        rule = "A line is an address like alice@example.org or a domain like @example.org."
        raise ValidationError(f"Neither an address nor a domain: {', '.join(wrong[:3])}{more}. {rule}")
    found = entries(text)
    if len(found) > MOST_ENTRIES:
        raise ValidationError(f"A list has at most {MOST_ENTRIES:,} entries.")
    return "\n".join(found)


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


def admitting(user: Person) -> set[int]:
    """The ids of the private competitions whose list names a verified address of the person. Two queries."""
    emails = verified_emails(user)
    if not emails:
        return set()
    near = Q()
    for email in emails:
        near |= Q(allowed_emails__icontains=email.rpartition("@")[2])
    private = Competition.objects.filter(near, visibility=Competition.Visibility.PRIVATE)
    return {pk for pk, text in private.values_list("pk", "allowed_emails") if names(text, emails)}
