"""Pausing a competition's queue: what runs ends, what waits stays where it is."""

import datetime as dt
from dataclasses import dataclass
from typing import ClassVar

from accounts.refusals import Refused
from competitions.actions.base import Action, Preview
from competitions.models import Competition


@dataclass
class OfCompetition(Action):
    """An action on a whole competition."""

    contest: Competition

    @property
    def competition(self) -> Competition:
        """The contest itself."""
        return self.contest


@dataclass
class PauseQueue(OfCompetition):
    """Give no waiting run of the competition to a worker until the queue goes on."""

    name: ClassVar[str] = "pause_queue"

    def check(self, now: dt.datetime) -> None:
        """It must run."""
        if self.contest.queue_paused_at is not None:
            raise Refused("The queue is paused already.", status=409)

    def preview(self, now: dt.datetime) -> Preview:
        """What goes on and what waits."""
        return Preview(
            [
                "Runs that a worker has go on to their end. Those that wait keep their places and say why.",
                "Deadlines do not move by this.",
            ]
        )

    def change(self, now: dt.datetime) -> str:
        """Set the moment of the pause."""
        self.contest.queue_paused_at = now
        self.contest.save(update_fields=["queue_paused_at"])
        return "The queue was paused."


@dataclass
class ResumeQueue(OfCompetition):
    """Let the queue of the competition go on."""

    name: ClassVar[str] = "resume_queue"

    def check(self, now: dt.datetime) -> None:
        """It must be paused."""
        if self.contest.queue_paused_at is None:
            raise Refused("The queue is not paused.", status=409)

    def preview(self, now: dt.datetime) -> Preview:
        """What happens next."""
        return Preview(["Waiting runs go to workers again, in the order in which they wait."])

    def change(self, now: dt.datetime) -> str:
        """Remove the pause; the reconciler rings within seconds."""
        self.contest.queue_paused_at = None
        self.contest.save(update_fields=["queue_paused_at"])
        return "The queue goes on."
