"""Answering those who want to take part: one of them, or many at once."""

import datetime as dt
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django.db.models import Q, QuerySet

from accounts.models import User
from accounts.refusals import Refused
from competitions import telling
from competitions.actions.base import Preview
from competitions.actions.queue import OfCompetition
from competitions.models import Competition, Entrant, Participant, TeamMember
from competitions.policy import IN_TEAM

State = Participant.State
NAMED = 5
AT_ONCE = 500


def counted(many: int, one: str, more: str = "") -> str:
    """`1 person`, `12 people`."""
    return f"{many:,} {one if many == 1 else more or one + 's'}"


def called(person: User) -> str:
    """A person's name as the log keeps it, with the user name where it is another."""
    name, username = person.display_name, person.get_username()
    return name if name == username else f"{name} ({username})"


def named(people: QuerySet[Participant]) -> str:
    """The first names of a selection, and how many more there are; at most two queries."""
    first = [called(one.user) for one in people.select_related("user").order_by("pk")[: NAMED + 1]]
    if len(first) <= NAMED:
        return " and ".join([", ".join(first[:-1]), first[-1]]) if len(first) > 1 else "".join(first)
    return f"{', '.join(first[:NAMED])} and {people.count() - NAMED:,} more"


@dataclass
class Decide(OfCompetition):
    """An answer to the chosen people. Those whom it does not concern, such as approved ones, stay as they are.

    `words` are added to the message that they get; with `tells` off they get none.
    """

    people: QuerySet[Participant]
    words: str = ""
    tells: bool = True
    concerned: list[int] = field(default_factory=list, init=False)
    mails: int = field(default=0, init=False)

    verb: ClassVar[str]
    before: ClassVar[tuple[str, ...]]
    after: ClassVar[str]
    subject: ClassVar[str]
    sentence: ClassVar[str]

    def rows(self) -> QuerySet[Participant]:
        """Those of the chosen whom the answer changes."""
        return self.people.filter(competition=self.contest, state__in=self.before)

    def check(self, now: dt.datetime) -> None:
        """Somebody must be concerned."""
        if not self.rows().exists():
            mend = "Tick people in the table whose state allows it."
            raise Refused(f"Nobody of those chosen can be {self.verb} now.", status=409, mend=mend)
        if len(self.words) > 2000:
            raise Refused("These words are too long: 2,000 characters are the most.")

    def preview(self, now: dt.datetime) -> Preview:
        """Whom it concerns, what changes for them, and what they are told."""
        rows = self.rows()
        many, others = rows.count(), self.people.filter(competition=self.contest).count()
        sentences = [f"{counted(many, 'person is', 'people are')} {self.verb}: {named(rows)}."]
        if others > many:
            rest = counted(others - many, "other stays as it is", "others stay as they are")
            sentences.append(f"Of those chosen, {rest}.")
        return Preview([*sentences, *self.consequences(rows), *self._told(rows)])

    def consequences(self, rows: QuerySet[Participant]) -> list[str]:
        """What follows, in sentences."""
        return []

    def _told(self, rows: QuerySet[Participant]) -> list[str]:
        if not self.tells:
            return ["They are not told."]
        if self.contest.rehearses_id is not None:
            return ["They find it on the site. No mail leaves a rehearsal."]
        mails = rows.filter(wants_mail=True).exclude(user__email="").count()
        return [f"They find it on the site; {counted(mails, 'gets', 'get')} it by mail, too."]

    def change(self, now: dt.datetime) -> str:
        """Answer them, and tell them so."""
        self.concerned = list(self.rows().values_list("pk", flat=True))
        who = named(self.rows())
        told = telling.addressees(self.contest, self.rows()) if self.tells else []
        for start in range(0, len(self.concerned), AT_ONCE):
            chunk = self.concerned[start : start + AT_ONCE]
            Participant.objects.filter(pk__in=chunk).update(state=self.after)
        if told:
            self._tell(told)
        return f"{counted(len(self.concerned), 'person was', 'people were')} {self.verb}: {who}."

    def _tell(self, people: list[telling.Addressee]) -> None:
        title = self.contest.title
        body = self.sentence.format(title=title)
        if self.words.strip():
            body = f"{body}\n\n{self.words.strip()}"
        telling.tell(self.contest, people, by=self.by, subject=self.subject.format(title=title), body=body)

    def details(self) -> dict[str, Any]:
        """Their rows, and whether they were told."""
        return {"participants": self.concerned, "told": self.tells}


@dataclass
class Approve(Decide):
    """Let people take part."""

    name: ClassVar[str] = "approve_participants"
    verb = "approved"
    before = (State.PENDING, State.REJECTED, State.REMOVED)
    after = State.APPROVED
    subject = "You take part"
    sentence = "The organizers of {title} approved you: you take part now."

    def check(self, now: dt.datetime) -> None:
        """An archive takes nobody in."""
        if self.contest.state == Competition.State.ARCHIVED:
            raise Refused(f"{self.contest.title} is archived; nobody is approved any more.", status=409)
        super().check(now)


@dataclass
class Reject(Decide):
    """Answer wishes to take part with no."""

    name: ClassVar[str] = "reject_participants"
    verb = "rejected"
    before = (State.PENDING,)
    after = State.REJECTED
    subject = "You were not accepted"
    sentence = "The organizers of {title} did not accept your wish to take part."


@dataclass
class Remove(Decide):
    """End people's taking part."""

    name: ClassVar[str] = "remove_participants"
    verb = "removed"
    before = (State.APPROVED,)
    after = State.REMOVED
    subject = "You do not take part any more"
    sentence = "The organizers of {title} removed you from its participants."

    def consequences(self, rows: QuerySet[Participant]) -> list[str]:
        """What stays of those who have submitted."""
        sentences = ["They submit nothing any more, and do not get the competition's data."]
        people = rows.values("user")
        teams = TeamMember.objects.filter(user__in=people, state__in=IN_TEAM, team__competition=self.contest)
        entrants = Entrant.objects.filter(competition=self.contest, submissions__isnull=False)
        mine = Q(user__in=people) | Q(team__in=teams.values("team"))
        submitted = entrants.filter(mine).distinct().count()
        if submitted:
            have = counted(submitted, "entrant of theirs has", "entrants of theirs have")
            sentences.append(
                f"{have} submitted: that stays, with its place. Withdraw an entrant to take it off the board."
            )
        if teams.exists():
            sentences.append("They stay in their teams, whose other members go on.")
        return sentences


DECISIONS: dict[str, type[Decide]] = {"approve": Approve, "reject": Reject, "remove": Remove}
