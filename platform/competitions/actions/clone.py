"""A new competition with the configuration of one that stands."""

import datetime as dt
from dataclasses import dataclass, field
from typing import Any, ClassVar

from accounts.refusals import Refused
from competitions import clock, policy
from competitions.actions.addresses import slug_of
from competitions.actions.base import Preview, record
from competitions.actions.copying import copied
from competitions.actions.dates import told
from competitions.actions.queue import OfCompetition
from competitions.models import Competition, HeldRole

MOST_YEARS = 50


@dataclass
class Clone(OfCompetition):
    """Make a draft with the same pages, phases, datasets and questions; `by` owns it.

    `start`: when its first phase opens, all other dates moved by as much; None leaves the dates as they are.
    """

    title: str
    slug: str
    start: dt.datetime | None = None
    made: Competition = field(init=False)

    name: ClassVar[str] = "clone"

    def permit(self) -> None:
        """Who changes the competition, and makes competitions."""
        super().permit()
        if self.by is None or not policy.may_create_competition(self.by):
            mend = "The operator of this site grants that."
            raise Refused("You may not make competitions here.", status=403, mend=mend)

    def _first_opening(self) -> dt.datetime | None:
        return self.contest.phases().order_by("opens_at").values_list("opens_at", flat=True).first()

    def _shift(self) -> dt.timedelta:
        first = self._first_opening()
        return self.start - first if self.start is not None and first is not None else dt.timedelta(0)

    def check(self, now: dt.datetime) -> None:
        """It must have a title, and dates that stay in the calendar."""
        if not self.title.strip():
            raise Refused("A competition needs a title.")
        if self.contest.rehearses_id is not None:
            raise Refused("A rehearsal is not cloned.", status=409, mend="Clone the competition itself.")
        if abs(self._shift()) > MOST_YEARS * dt.timedelta(days=365):
            raise Refused(f"Dates move by at most {MOST_YEARS} years.")
        dates = [self.contest.teams_close_at, self.contest.merges_close_at]
        for opens_and_closes in self.contest.phases().values_list("opens_at", "closes_at"):
            dates += opens_and_closes
        if any(date is not None and not clock.can_move(date, self._shift()) for date in dates):
            raise Refused("Some of its dates would lie outside of the calendar.", mend="Choose another start.")

    def preview(self, now: dt.datetime) -> Preview:
        """What comes along and what does not."""
        first, sentences = self._first_opening(), []
        if first is not None:
            sentences.append(f"Its first phase opens on {told(first + self._shift())}.")
        return Preview(
            [
                "Pages with their pictures, phases, datasets, prizes and questions are copied.",
                "People, teams, submissions, the e-mail list and the audit log are not.",
                f"Whoever ever held a role in {self.contest.title} takes no rank in the copy either.",
                *sentences,
            ]
        )

    def change(self, now: dt.datetime) -> str:
        """Copy it."""
        assert self.by is not None
        self.made = copied(
            self.contest,
            slug=self.slug or slug_of(self.title),
            title=self.title,
            owner=self.by,
            shift=self._shift(),
        )
        # They may know its hidden data, which the copy uses again.
        held = self.contest.held_roles.values_list("user", flat=True)
        HeldRole.objects.bulk_create(
            [HeldRole(competition=self.made, user_id=user) for user in held], ignore_conflicts=True
        )
        text = f"The competition was set up as a copy of {self.contest.title}."
        record(self.made, by=self.by, action="create", text=text, at=now, copy_of=self.contest.slug)
        return f"It was copied as {self.title}."

    def details(self) -> dict[str, Any]:
        """The copy's address."""
        return {"copy": self.made.slug}
