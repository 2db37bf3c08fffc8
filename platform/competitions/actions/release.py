"""What becomes public, and when: scores, names of blind datasets, boards; and a phase that never closes."""

import datetime as dt
from dataclasses import dataclass
from typing import ClassVar

from django.db.models import Max

from accounts.refusals import Refused
from competitions.actions.base import Action, Preview
from competitions.models import Competition, Phase, Task


@dataclass
class OfPhase(Action):
    """An action on one phase."""

    phase: Phase

    @property
    def competition(self) -> Competition:
        """The contest of the phase."""
        return self.phase.round.competition

    def details(self) -> dict[str, object]:
        """The phase's number."""
        return {"phase": self.phase.number}


@dataclass
class Release(OfPhase):
    """Make the test scores of a phase public before it would do so by itself."""

    name: ClassVar[str] = "release"

    def check(self, now: dt.datetime) -> None:
        """A phase that runs gives nothing away."""
        if self.phase.is_released(now):
            raise Refused(f"{self.phase.title} is released already.", status=409)
        if not self.phase.has_ended(now):
            raise Refused(f"{self.phase.title} has not ended yet.", status=409, mend="Release it after its close.")

    def preview(self, now: dt.datetime) -> Preview:
        """What everybody would see."""
        return Preview([f"Everybody will see the test scores and the places of {self.phase.title}."])

    def change(self, now: dt.datetime) -> str:
        """Set the moment of the release."""
        self.phase.released_at = now
        self.phase.save(update_fields=["released_at"])
        return f"{self.phase.title} was released."


@dataclass
class Reveal(OfPhase):
    """Give the datasets of a blind phase their names, and make their public files available."""

    name: ClassVar[str] = "reveal"

    def _hidden(self) -> list[Task]:
        tasks = self.phase.tasks.filter(revealed_at=None).select_related("dataset", "phase")
        return list(tasks.prefetch_related("dataset__versions"))

    def check(self, now: dt.datetime) -> None:
        """Only a blind phase that has closed has something to reveal."""
        if not self.phase.is_blind:
            raise Refused(f"{self.phase.title} hides no datasets.", status=409)
        if not self.phase.has_ended(now):
            mend = "Its datasets get their names when it has closed."
            raise Refused(f"{self.phase.title} has not ended yet.", status=409, mend=mend)
        if not self._hidden():
            raise Refused(f"The datasets of {self.phase.title} are revealed already.", status=409)

    def preview(self, now: dt.datetime) -> Preview:
        """Which dataset gets which name."""
        named = [f"{task.name} is {task.dataset_name}" for task in self._hidden()]
        return Preview(
            [
                f"Everybody will know the datasets of {self.phase.title}: {', '.join(named)}.",
                "Participants can download their public files. Solutions stay on the site.",
            ]
        )

    def change(self, now: dt.datetime) -> str:
        """Set the moment at which the names became known."""
        tasks = self._hidden()
        self.phase.tasks.filter(revealed_at=None).update(revealed_at=now)
        return f"The datasets of {self.phase.title} were revealed: {', '.join(t.dataset_name for t in tasks)}."


BOARD_SENTENCES = {
    Phase.Board.SHOWN: "Everybody will see the leaderboard of {title} as it is.",
    Phase.Board.FROZEN: "The leaderboard of {title} will stay as it is now. Entrants still see their own scores.",
    Phase.Board.HIDDEN: "Only organizers will see the leaderboard of {title}.",
}
BOARD_WORDS = {
    Phase.Board.SHOWN: "shown to everybody",
    Phase.Board.FROZEN: "frozen",
    Phase.Board.HIDDEN: "hidden",
}


@dataclass
class SetBoard(OfPhase):
    """Show, freeze or hide the leaderboard of a phase."""

    board: str

    name: ClassVar[str] = "set_board"

    def check(self, now: dt.datetime) -> None:
        """The state must be one, and another than now."""
        if self.board not in Phase.Board.values:
            raise Refused(f"There is no state {self.board!r} of a leaderboard.")
        if self.board == self.phase.board:
            word = BOARD_WORDS[Phase.Board(self.board)]
            raise Refused(f"The leaderboard of {self.phase.title} is {word} already.", status=409)

    def preview(self, now: dt.datetime) -> Preview:
        """What everybody would see."""
        return Preview([BOARD_SENTENCES[Phase.Board(self.board)].format(title=self.phase.title)])

    def change(self, now: dt.datetime) -> str:
        """Set the state; the rows follow by the phase's own signal."""
        self.phase.board = self.board
        self.phase.save(update_fields=["board"])
        return f"The leaderboard of {self.phase.title} is now {BOARD_WORDS[Phase.Board(self.board)]}."


SAME_RULES = (
    "tie_rule",
    "convention",
    "any_time",
    "wall_seconds",
    "cores",
    "memory_bytes",
    "image",
    "resource_class",
    "repeats",
    "score_digits",
    "trusted_workers_only",
    "track",
    "accepts",
    "hidden_columns",
    "hides_output",
    "shows_details",
    "scores_failed_ingestion",
)


@dataclass
class OpenForEver(OfPhase):
    """An everlasting open phase on the datasets of a released phase, beside its official board."""

    name: ClassVar[str] = "open_for_ever"

    def check(self, now: dt.datetime) -> None:
        """The phase must be released, its datasets known, and it must have no such phase yet."""
        if not self.phase.is_hidden or not self.phase.is_released(now):
            mend = "It goes with a Final or AutoML phase that is released."
            raise Refused(f"{self.phase.title} is not released.", status=409, mend=mend)
        if self.phase.is_blind and self.phase.tasks.filter(revealed_at=None).exists():
            raise Refused(f"The datasets of {self.phase.title} are hidden.", status=409, mend="Reveal them first.")
        if self.phase.children.filter(kind=Phase.Kind.OPEN).exists():
            raise Refused(f"{self.phase.title} has an open phase already.", status=409)

    def preview(self, now: dt.datetime) -> Preview:
        """What would be there."""
        return Preview(
            [
                f"A phase without end opens now on the datasets of {self.phase.title}. Everybody may submit to it "
                "and sees test scores at once.",
                f"It has a leaderboard of its own; the official one of {self.phase.title} does not change.",
            ]
        )

    def change(self, now: dt.datetime) -> str:
        """Make the phase with the same tasks, budget and rules."""
        last = self.competition.phases().aggregate(last=Max("number"))["last"] or 0
        phase = Phase.objects.create(
            round=self.phase.round,
            number=last + 1,
            kind=Phase.Kind.OPEN,
            title=f"Open after {self.phase.title}"[:80],
            description=f"Everybody may go on with the datasets of {self.phase.title}, without end and without a "
            "prize. The official leaderboard stays as it is.",
            opens_at=now,
            parent=self.phase,
            feedback_part=Phase.Part.TEST,
            **{name: getattr(self.phase, name) for name in SAME_RULES},
        )
        for task in self.phase.tasks.all():
            Task.objects.create(phase=phase, **task.asked())
        return f"{phase.title} was opened, without an end."
