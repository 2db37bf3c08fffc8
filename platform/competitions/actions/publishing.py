"""Publishing a competition, taking it back, and closing it for good: what state it is in."""

import datetime as dt
from dataclasses import dataclass
from typing import ClassVar

from accounts.refusals import Refused
from competitions import checklist
from competitions.actions.base import Preview
from competitions.actions.queue import OfCompetition
from competitions.models import Competition, Participant

State, Registration = Competition.State, Competition.Registration

READERS = {
    Competition.Visibility.PUBLIC: "Everybody will be able to read it, and it stands in the list of competitions.",
    Competition.Visibility.UNLISTED: "Whoever knows its address will be able to read it; it stands in no list.",
    Competition.Visibility.PRIVATE: "Only those on its e-mail list and its participants will be able to read it.",
}
JOINERS = {
    Registration.OPEN: "Anybody who can read it may join at once.",
    Registration.APPROVAL: "Whoever wants to take part waits for an organizer's answer.",
    Registration.ALLOW_LIST: "People with a verified address on the e-mail list may join.",
    Registration.CLOSED: "Nobody may join: registration is closed.",
}


@dataclass
class ChangeState(OfCompetition):
    """A step from one state to another. `came_from` are the states from which it is possible."""

    came_from: ClassVar[tuple[str, ...]]
    goes_to: ClassVar[str]
    not_now: ClassVar[str]
    done: ClassVar[str]

    def check(self, now: dt.datetime) -> None:
        """It must be in a state from which the step is possible; a rehearsal is never published."""
        state = Competition.objects.values_list("state", flat=True).get(pk=self.contest.pk)
        if state not in self.came_from:
            raise Refused(self.not_now, status=409)
        if self.contest.rehearses_id is not None:
            raise Refused("A rehearsal is for its organizers alone.", status=409)

    def remember(self, now: dt.datetime) -> None:
        """Keep that people could know it, from the first time on."""
        first = Competition.objects.filter(pk=self.contest.pk, published_at=None)
        if first.update(published_at=now):
            self.contest.published_at = now

    def change(self, now: dt.datetime) -> str:
        """Set the state, if nobody else has done so."""
        found = Competition.objects.filter(pk=self.contest.pk, state__in=self.came_from)
        if not found.update(state=self.goes_to):
            raise Refused(self.not_now, status=409)
        self.contest.state = self.goes_to
        return self.done


@dataclass
class Publish(ChangeState):
    """Let people read it and join."""

    name: ClassVar[str] = "publish"
    came_from: ClassVar[tuple[str, ...]] = (State.DRAFT,)
    goes_to: ClassVar[str] = State.PUBLISHED
    not_now: ClassVar[str] = "It is published already."
    done: ClassVar[str] = "The competition was published."

    def check(self, now: dt.datetime) -> None:
        """Nothing that it needs may be missing."""
        super().check(now)
        missing = checklist.missing(checklist.gathered(self.contest, now))
        if missing:
            more = f" {len(missing) - 1} more things are missing." if len(missing) > 1 else ""
            raise Refused(f"{missing[0].text}.{more}", status=409, mend=missing[0].mend)

    def preview(self, now: dt.datetime) -> Preview:
        """Who will read it, who may join, when it begins, and what could still be better."""
        contest = self.contest
        sentences = [
            READERS[Competition.Visibility(contest.visibility)],
            JOINERS[Registration(contest.registration)],
        ]
        phases = list(contest.phases())
        opened = [phase for phase in phases if phase.is_open(now)]
        if opened:
            sentences.append(f"{opened[0].title} is open already: people may submit at once.")
        advice = checklist.advised(checklist.gathered(contest, now))
        sentences += [f"Not done, and not needed: {item.text.rstrip('.')}." for item in advice]
        return Preview(sentences)

    def change(self, now: dt.datetime) -> str:
        """Set the state, and the moment when it is the first time."""
        text = super().change(now)
        self.remember(now)
        return text


@dataclass
class Unpublish(ChangeState):
    """Make it a draft again, which its organizers alone see."""

    name: ClassVar[str] = "unpublish"
    came_from: ClassVar[tuple[str, ...]] = (State.PUBLISHED,)
    goes_to: ClassVar[str] = State.DRAFT
    not_now: ClassVar[str] = "It is not published."
    done: ClassVar[str] = "The competition was taken back: it is a draft again."

    def preview(self, now: dt.datetime) -> Preview:
        """Whom it shuts out, and what goes on nevertheless."""
        people = self.contest.participants.filter(state=Participant.State.APPROVED).count()
        many = "Its participant is" if people == 1 else f"Its {people:,} participants are"
        shut = f"{many} shut out until it is published again." if people else "It has no participants yet."
        return Preview(
            [
                shut,
                "Its pages, boards and downloads are for its organizers alone; links to it lead nowhere.",
                "Runs that wait or run go on, and so do the hand-overs between phases: the clock does not stop.",
            ]
        )

    def change(self, now: dt.datetime) -> str:
        """Set the state; one that commands or the admin published is remembered as published, too."""
        self.remember(now)
        return super().change(now)


@dataclass
class Archive(ChangeState):
    """Close it for good: it stays readable, and takes nothing more."""

    name: ClassVar[str] = "archive"
    came_from: ClassVar[tuple[str, ...]] = (State.PUBLISHED,)
    goes_to: ClassVar[str] = State.ARCHIVED
    not_now: ClassVar[str] = "Only a published competition is archived."
    done: ClassVar[str] = "The competition was archived."

    def preview(self, now: dt.datetime) -> Preview:
        """What stays, and what ends."""
        sentences = ["Its pages and boards stay for those who can read it now. Nobody joins or submits any more."]
        running = [phase.title for phase in self.contest.phases() if not phase.has_ended(now)]
        if running:
            sentences.append(f"Not over yet: {', '.join(running)}. Submissions to them are refused.")
        return Preview([*sentences, "It can be opened again."])


@dataclass
class Unarchive(ChangeState):
    """Open an archived competition again."""

    name: ClassVar[str] = "unarchive"
    came_from: ClassVar[tuple[str, ...]] = (State.ARCHIVED,)
    goes_to: ClassVar[str] = State.PUBLISHED
    not_now: ClassVar[str] = "It is not archived."
    done: ClassVar[str] = "The competition was opened again."

    def preview(self, now: dt.datetime) -> Preview:
        """What is possible again."""
        return Preview(["People may join, as registration allows, and submit to phases that are open."])
