"""Finding people by what others know of them."""

from allauth.account.models import EmailAddress
from django.contrib.auth.models import AnonymousUser

from accounts.models import User

Person = User | AnonymousUser


def verified_emails(user: Person) -> list[str]:
    """The addresses of which the person proved that they are theirs."""
    if not user.is_authenticated:
        return []
    return list(EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True))


def by_name_or_email(text: str) -> User | None:
    """The person with this user name or this verified e-mail address; None for nobody, or for more than one.

    An address that nobody verified finds nobody: whoever registered with it, or with it as a user name, may be
    somebody else.
    """
    text = text.strip()
    active = User.objects.filter(is_active=True)
    if "@" in text:
        address = active.filter(emailaddress__email__iexact=text, emailaddress__verified=True)
        choices = [address.distinct()]
    else:
        choices = [active.filter(username=text), active.filter(username__iexact=text)]
    for choice in choices:
        people = list(choice[:2])
        if people:
            return people[0] if len(people) == 1 else None
    return None
