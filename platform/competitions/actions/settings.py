"""The settings of a competition: its names, who may read it and join, and how large teams are."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Count, Q

from accounts.refusals import Refused
from competitions.actions.base import Preview
from competitions.actions.queue import OfCompetition
from competitions.actions.seen import fingerprint, require_unchanged
from competitions.models import Competition, Participant, Team
from competitions.policy import IN_TEAM

FIELDS = (
    "title",
    "slug",
    "summary",
    "visibility",
    "registration",
    "allowed_emails",
    "max_team_size",
    "teams_close_at",
    "merges_close_at",
)
LABELS = {
    "slug": "address",
    "allowed_emails": "e-mail list",
    "max_team_size": "largest team",
    "teams_close_at": "the end of changes in teams",
    "merges_close_at": "the end of merging",
}


def seen_settings(competition: Competition) -> str:
    """What a form of the settings carries, so that nobody's change is overwritten unseen."""
    return fingerprint(*(getattr(competition, name) for name in FIELDS))


def is_settled(competition: Competition) -> bool:
    """Whether people may know its address: it is, or was, published."""
    return competition.published_at is not None or competition.state != Competition.State.DRAFT


@dataclass
class EditSettings(OfCompetition):
    """Change settings; `values` are the new values of any of `FIELDS`, `seen` is `seen_settings` of when shown."""

    values: Mapping[str, Any]
    seen: str = ""

    name: ClassVar[str] = "edit_settings"

    def _before(self) -> Competition:
        return Competition.objects.get(pk=self.contest.pk)

    def changed(self, before: Competition) -> list[str]:
        """The fields that get another value, in the order of `FIELDS`."""
        return [name for name in FIELDS if name in self.values and self.values[name] != getattr(before, name)]

    def check(self, now: dt.datetime) -> None:
        """The values must make a competition; the address is settled once people may know it."""
        before = self._before()
        require_unchanged(self.seen, *(getattr(before, name) for name in FIELDS), what="the settings")
        changed = self.changed(before)
        if not changed:
            raise Refused("Nothing was changed.", status=409)
        if "slug" in changed and is_settled(before):
            mend = "Its address is in mails and links of others."
            raise Refused("The address of a competition that was published stays.", status=409, mend=mend)
        after = self._after(before)
        try:
            after.full_clean()
        except ValidationError as problem:
            raise Refused(" ".join(problem.messages)) from problem
        if after.teams_close_at and after.merges_close_at and after.merges_close_at > after.teams_close_at:
            raise Refused("Teams cannot merge when they may not change any more.", mend="Let merging end first.")

    def _after(self, before: Competition) -> Competition:
        after = Competition.objects.get(pk=before.pk)
        for name in self.changed(before):
            setattr(after, name, self.values[name])
        return after

    def preview(self, now: dt.datetime) -> Preview:
        """What the change means for people; nothing where it means nothing for them."""
        before = self._before()
        after, changed = self._after(before), self.changed(before)
        sentences = []
        if "slug" in changed:
            sentences.append(f"Links to {before.get_absolute_url()} will lead nowhere.")
        if before.state != Competition.State.DRAFT:
            if "visibility" in changed:
                sentences.append(self._visibility(after))
            if "registration" in changed:
                sentences.append(self._registration(after))
        if "max_team_size" in changed:
            sentences += self._team_size(after)
        if "teams_close_at" in changed and after.teams_close_at is not None and after.teams_close_at <= now:
            sentences.append("Teams neither form nor change from this moment on: the date lies in the past.")
        return Preview(sentences)

    def _visibility(self, after: Competition) -> str:
        if after.visibility == Competition.Visibility.PRIVATE:
            count = self._people(Participant.State.APPROVED, Participant.State.PENDING)
            who = _counted(count, "person who joined or asked to", "people who joined or asked to")
            others = "those on the e-mail list and the organizers"
            return f"Only {who}, {others} will read it. For everybody else it is not there."
        if after.visibility == Competition.Visibility.UNLISTED:
            return "It leaves the lists. Whoever knows its address reads it, also without an account."
        return "It stands in the lists, and everybody reads its pages and its boards, with the names on them."

    def _registration(self, after: Competition) -> str:
        waiting = self._people(Participant.State.PENDING)
        wait = f" {_counted(waiting, 'wish', 'wishes')} to take part still to be answered." if waiting else ""
        if after.registration == Competition.Registration.CLOSED:
            count = self._people(Participant.State.APPROVED)
            return f"Nobody joins any more. {_counted(count, 'participant stays', 'participants stay')}.{wait}"
        if after.registration == Competition.Registration.APPROVAL:
            return "Whoever wants to take part waits for an organizer's answer."
        if after.registration == Competition.Registration.ALLOW_LIST:
            if not after.allowed_emails:
                return f"Nobody can join: the e-mail list is empty.{wait}"
            return f"Only people with a verified address on the list join.{wait}"
        return f"Anybody joins at once.{wait}"

    def _team_size(self, after: Competition) -> list[str]:
        members = Count("members", filter=Q(members__state__in=IN_TEAM))
        teams = Team.objects.filter(competition=self.contest).annotate(many=members)
        larger = teams.filter(many__gt=after.max_team_size).count()
        if not larger:
            return []
        have = _counted(larger, "team has more members than that and stays", "teams have more and stay")
        return [
            f"{have} as now; it takes in nobody else." if larger == 1 else f"{have} as they are, taking in nobody."
        ]

    def _people(self, *states: str) -> int:
        return self.contest.participants.filter(state__in=states).count()

    def change(self, now: dt.datetime) -> str:
        """Save the changed fields."""
        before = self._before()
        changed = self.changed(before)
        after = self._after(before)
        try:
            with transaction.atomic():
                after.save(update_fields=changed)
        except IntegrityError as problem:  # of two who want one address at once
            raise Refused(f"The address {after.slug} is taken.", status=409, mend="Choose another.") from problem
        self._told = {name: [_told(before, name), _told(after, name)] for name in changed}
        for name in changed:
            setattr(self.contest, name, getattr(after, name))
        labels = [LABELS.get(name, name) for name in changed]
        return f"The settings were changed: {', '.join(labels)}."

    def details(self) -> dict[str, Any]:
        """Every changed field with its value before and after; of the e-mail list only its length."""
        return {"changed": self._told}


def _told(competition: Competition, name: str) -> Any:
    value = getattr(competition, name)
    if name == "allowed_emails":
        return len(value.split())
    return value.isoformat() if isinstance(value, dt.datetime) else value


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
