"""Who may make an account."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Registration is open unless strangers' code would run unconfined (design, section 6)."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Answer whether the registration form is offered now."""
        from accounts.signals import registration_asked

        answers = registration_asked.send(sender=type(self))
        return all(allowed for _, allowed in answers)
