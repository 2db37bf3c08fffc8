"""What organizers and the clock did to a competition: one entry for each action."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db import models

from competitions.models.contest import Competition


class Kept(Exception):
    """Somebody tried to change what is kept as it was written: a mistake in the calling code."""


class KeptEntries(models.QuerySet["AuditEntry"]):
    """Entries that can be read and added to. The database itself refuses changes, too (`competitions.kept`)."""

    def update(self, **kwargs: Any) -> int:
        """Never done."""
        raise Kept("The audit log is kept as it was written.")

    def bulk_update(self, objs: Iterable["AuditEntry"], *args: Any, **kwargs: Any) -> int:
        """Never done."""
        raise Kept("The audit log is kept as it was written.")

    def delete(self) -> tuple[int, dict[str, int]]:
        """Never done; entries go with their competition alone."""
        raise Kept("Entries of the audit log go with their competition alone.")


class AuditEntry(models.Model):
    """Who did what, when. Entries are written by actions and never changed."""

    competition = models.ForeignKey(Competition, models.CASCADE, related_name="audit")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Empty: the clock.",
    )
    who = models.CharField(
        max_length=150, blank=True, help_text="The user name, which stays when the account goes. Empty: the clock."
    )
    at = models.DateTimeField()
    action = models.SlugField(max_length=40)
    text = models.CharField(max_length=300, help_text="One sentence for people.")
    data = models.JSONField(default=dict)

    objects = KeptEntries.as_manager()

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["competition", "-at", "-id"])]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return self.text

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Write the entry once."""
        if not self._state.adding:
            raise Kept("The audit log is kept as it was written.")
        if self.user is not None:
            self.who = self.user.get_username()
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Never done; entries go with their competition alone."""
        raise Kept("Entries of the audit log go with their competition alone.")
