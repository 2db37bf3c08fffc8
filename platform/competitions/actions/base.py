"""What every action of an organizer or of the clock has in common."""

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db import transaction

from accounts.models import User
from accounts.refusals import Refused
from competitions import clock, policy
from competitions.models import AuditEntry, Competition


def record(
    competition: Competition, *, by: User | None, action: str, text: str, at: dt.datetime, **data: Any
) -> AuditEntry:
    """Write one line of the audit log; `by` is None for the clock and for the operator's commands."""
    return AuditEntry.objects.create(
        competition=competition, user=by, at=at, action=action, text=text[:300], data=data
    )


@dataclass(frozen=True)
class Changed:
    """One value that would change: its name, as it is and as it would be, in words."""

    label: str
    old: str
    new: str


@dataclass(frozen=True)
class Preview:
    """What an action would do: in sentences, in old and new values, and how many runs it scores or runs again."""

    sentences: list[str]
    rescored: int = 0
    rerun: int = 0
    changes: Sequence[Changed] = ()


@dataclass
class Action(ABC):
    """A change that is checked, can be previewed, happens in one transaction and leaves one audit entry.

    `by` is who asks; None is the clock, or the operator at a terminal, who may do everything.
    """

    name: ClassVar[str]

    by: User | None

    @property
    @abstractmethod
    def competition(self) -> Competition:
        """The competition whose editors may do it and whose audit log tells of it."""

    @abstractmethod
    def check(self, now: dt.datetime) -> None:
        """Raise Refused where a rule is against it."""

    @abstractmethod
    def preview(self, now: dt.datetime) -> Preview:
        """What it would do."""

    @abstractmethod
    def change(self, now: dt.datetime) -> str:
        """Do it, inside a transaction; returns the sentence for the audit log."""

    def details(self) -> dict[str, Any]:
        """What the audit entry keeps beside its sentence."""
        return {}

    def permit(self) -> None:
        """Refuse who may not act on this competition."""
        if self.by is not None and not policy.may_edit(self.by, self.competition):
            raise Refused(f"Only organizers of {self.competition.title} may do this.", status=403)

    def execute(self) -> str:
        """Permit, check and change in one transaction; returns the sentence of the audit log."""
        self.permit()
        now = clock.now(self.competition)
        with transaction.atomic():
            # One action after another on a competition: what was checked still holds when it is changed.
            Competition.objects.select_for_update(no_key=True).get(pk=self.competition.pk)
            self.check(now)
            text = self.change(now)
            record(self.competition, by=self.by, action=self.name, text=text, at=now, **self.details())
        return text
