"""Telling participants something."""

import datetime as dt
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.refusals import Refused
from competitions import telling
from competitions.actions.base import Preview
from competitions.actions.participants import counted, named
from competitions.actions.queue import OfCompetition
from competitions.models import Announcement, Delivery, Participant, Phase
from competitions.telling import bell
from competitions.telling.delivery import KEPT_FOR

Audience = Announcement.Audience
LONGEST_SUBJECT = 150
LONGEST_BODY = 20_000
ONCE_IN = dt.timedelta(minutes=2)


@dataclass
class Announce(OfCompetition):
    """Send a message to all participants, to those who submitted in a phase, or to chosen people."""

    name: ClassVar[str] = "announce"

    subject: str
    body: str
    audience: str = Audience.EVERYBODY
    phase: Phase | None = None
    people: QuerySet[Participant] | None = None
    by_mail: bool = True
    made: Announcement | None = field(default=None, init=False)
    told: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.subject, self.body = " ".join(self.subject.split()), self.body.strip()

    def recipients(self) -> QuerySet[Participant]:
        """Who is told."""
        if self.audience == Audience.PERSON:
            chosen = self.people if self.people is not None else Participant.objects.none()
            return chosen.filter(competition=self.contest, user__is_active=True)
        return telling.recipients(self.contest, self.phase if self.audience == Audience.PHASE else None)

    def check(self, now: dt.datetime) -> None:
        """It needs words and somebody to read them, and goes out once."""
        if not self.subject or not self.body:
            raise Refused("An announcement needs a subject and a text.")
        if len(self.subject) > LONGEST_SUBJECT or len(self.body) > LONGEST_BODY:
            raise Refused(
                f"A subject has {LONGEST_SUBJECT} characters at most, a text {LONGEST_BODY:,}.",
                mend="Put the rest on a page of the competition and link to it.",
            )
        if self.audience not in Audience.values:
            raise Refused(f"There is no audience {self.audience!r}.")
        if self.audience == Audience.PHASE and self.phase is None:
            raise Refused("Choose the phase.")
        if self.audience != Audience.EVERYBODY and not self.recipients().exists():
            where = f" to {self.phase.title}" if self.audience == Audience.PHASE and self.phase else ""
            why = f"Nobody has submitted{where} yet." if where else "Nobody was chosen."
            raise Refused(why, status=409)
        same = self.contest.announcements.filter(
            sent_at__gt=timezone.now() - ONCE_IN,
            subject=self.subject,
            body=self.body,
            audience=self.audience,
            phase=self._phase(),
            sent_by=self.by,
        )
        if self.audience == Audience.PERSON:
            same = same.filter(deliveries__user__in=self.recipients().values("user"))
        if same.exists():
            raise Refused("This was sent a moment ago.", status=409, mend="It stands among the announcements.")

    def _phase(self) -> Phase | None:
        return self.phase if self.audience == Audience.PHASE else None

    def preview(self, now: dt.datetime) -> Preview:
        """How many are told, and how."""
        people = self.recipients()
        many = people.count()
        told = {
            Audience.EVERYBODY: f"All participants are told: {counted(many, 'person', 'people')}.",
            Audience.PHASE: f"Those who submitted to {self.phase.title if self.phase else 'the phase'} are told: "
            f"{counted(many, 'person', 'people')}.",
            Audience.PERSON: f"{counted(many, 'person is', 'people are')} told: {named(people)}.",
        }
        where = {
            Audience.EVERYBODY: "Whoever may read the competition can read it on the announcements page.",
            Audience.PHASE: "On the site they alone see it, and the organizers.",
            Audience.PERSON: "On the site they alone see it, and the organizers.",
        }
        audience = Audience(self.audience)
        return Preview([told[audience], where[audience], self._mails(people, many)])

    def _mails(self, people: QuerySet[Participant], many: int) -> str:
        if self.contest.rehearses_id is not None:
            return "No mail leaves a rehearsal."
        if not self.by_mail:
            return "No mail is sent."
        mails = people.filter(wants_mail=True).exclude(user__email="").count()
        sentence = f"{counted(mails, 'mail is', 'mails are')} sent."
        if mails < many:
            rest = counted(many - mails, "person has no address or wants", "people have no address or want")
            sentence += f" {rest} no mail."
        return sentence

    def change(self, now: dt.datetime) -> str:
        """Keep it with a row for everybody who is told; mails go after the transaction."""
        people = telling.addressees(self.contest, self.recipients())
        self.told = len(people)
        self.made = telling.tell(
            self.contest,
            people,
            by=self.by,
            subject=self.subject,
            body=self.body,
            audience=self.audience,
            phase=self._phase(),
            by_mail=self.by_mail,
        )
        to = {
            Audience.EVERYBODY: "all participants",
            Audience.PHASE: f"those who submitted to {self.phase.title}" if self.phase else "",
            Audience.PERSON: "chosen participants",
        }[Audience(self.audience)]
        return f"“{self.subject}” was sent to {to}: {counted(self.told, 'person', 'people')}."

    def details(self) -> dict[str, Any]:
        """Which announcement it is, and how many were told."""
        return {"announcement": self.made.pk if self.made else None, "people": self.told, "by_mail": self.by_mail}


@dataclass
class SendAgain(OfCompetition):
    """Let those mails of an announcement that could not be sent wait once more."""

    name: ClassVar[str] = "send_mails_again"

    announcement: Announcement
    many: int = field(default=0, init=False)

    def check(self, now: dt.datetime) -> None:
        """Some must have failed, and it must be news still."""
        if self.announcement.sent_at < timezone.now() - KEPT_FOR:
            raise Refused("This announcement is too old to be mailed.", status=409, mend="Write a new one.")
        if not self._failed().exists():
            raise Refused("No mail of this announcement has failed.", status=409)

    def _failed(self) -> QuerySet[Delivery]:
        return self.announcement.deliveries.filter(state=Delivery.State.FAILED)

    def preview(self, now: dt.datetime) -> Preview:
        """How many are tried."""
        return Preview([f"{counted(self._failed().count(), 'mail is', 'mails are')} sent again."])

    def change(self, now: dt.datetime) -> str:
        """They wait, with all their tries before them."""
        self.many = self._failed().update(state=Delivery.State.WAITING, tries=0, deadline=None, problem="")
        transaction.on_commit(bell.ring)
        return f"{counted(self.many, 'mail waits', 'mails wait')} again: “{self.announcement.subject}”."

    def details(self) -> dict[str, Any]:
        """Which announcement, and how many."""
        return {"announcement": self.announcement.pk, "mails": self.many}
