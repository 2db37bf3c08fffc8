"""People."""

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """Somebody with an account. Roles belong to a competition, not to the person."""

    affiliation = models.CharField(max_length=120, blank=True)
    time_zone = models.CharField(max_length=64, blank=True, help_text="Where times are typed; IANA name.")

    @property
    def display_name(self) -> str:
        """The name shown to others: the full name where there is one, else the user name."""
        return self.get_full_name() or self.username
