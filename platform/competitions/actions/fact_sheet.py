"""What organizers do to the questions of the fact sheet."""

import datetime as dt
from dataclasses import dataclass
from typing import Any, ClassVar

from accounts.refusals import Refused
from competitions import fact_sheets
from competitions.actions.base import Action, Preview
from competitions.models import Answer, Competition, Question


@dataclass
class OfQuestion(Action):
    """An action on one question of a competition; `question` carries what is wished."""

    question: Question

    @property
    def competition(self) -> Competition:
        """The contest that asks."""
        return self.question.competition

    def details(self) -> dict[str, Any]:
        """The question's id."""
        return {"question": self.question.pk}

    @property
    def label(self) -> str:
        """The question in a sentence of the log."""
        text = self.question.text
        return f"“{text if len(text) <= 150 else text[:149] + '…'}”"


def _losing(competition: Competition, question: Question) -> int:
    """How many entrants that take a place now would have to answer the question first."""
    placed = competition.entrants.filter(is_baseline=False, held_a_role=False, owes_answers=False)
    fitting = {
        entrant
        for entrant, value in Answer.objects.filter(question=question.pk).values_list("entrant", "value")
        if not fact_sheets.misfit(question, value)
    }
    return len(set(placed.values_list("pk", flat=True)) - fitting)


def _told(count: int) -> list[str]:
    if not count:
        return []
    who = "1 entrant has" if count == 1 else f"{count} entrants have"
    return [f"{who} not answered it and take{'s' if count == 1 else ''} no place on any board until then."]


@dataclass
class AddQuestion(OfQuestion):
    """Ask one more question."""

    name: ClassVar[str] = "add-question"

    def check(self, now: dt.datetime) -> None:
        """It must be one that can be answered, and there must not be too many."""
        fact_sheets.check_question(self.question)
        if self.competition.questions.count() >= fact_sheets.MOST_QUESTIONS:
            raise Refused(f"A fact sheet has at most {fact_sheets.MOST_QUESTIONS} questions.", status=409)

    def preview(self, now: dt.datetime) -> Preview:
        """Who would have to answer it first."""
        losing = _losing(self.competition, self.question) if self.question.is_required else 0
        return Preview(_told(losing))

    def change(self, now: dt.datetime) -> str:
        """Put it at the end."""
        self.question.order = fact_sheets.last_place(self.competition)
        self.question.save()
        fact_sheets.refresh_owing(self.competition)
        return f"The question {self.label} was added to the fact sheet."


@dataclass
class EditQuestion(OfQuestion):
    """Change a question; answers that do not fit it any more are removed."""

    name: ClassVar[str] = "edit-question"

    def _misfits(self) -> list[int]:
        answers = Answer.objects.filter(question=self.question).values_list("pk", "value")
        return [pk for pk, value in answers if fact_sheets.misfit(self.question, value)]

    def check(self, now: dt.datetime) -> None:
        """It must be one that can be answered."""
        fact_sheets.check_question(self.question)

    def preview(self, now: dt.datetime) -> Preview:
        """What becomes of the answers that are there, and of places."""
        sentences = []
        misfits = len(self._misfits())
        answered = self.question.answers.count()
        if misfits:
            sentences.append(
                f"{misfits} of {answered} answers do not fit the question any more and are removed for good. "
                "Export them first if you want to keep them."
            )
        elif answered and self._changes_meaning():
            sentences.append(
                f"{answered} answers are there already. They stay, as answers to the question as it will be."
            )
        losing = _losing(self.competition, self.question) if self.question.is_required else 0
        return Preview([*sentences, *_told(losing)])

    def _changes_meaning(self) -> bool:
        before = Question.objects.get(pk=self.question.pk)
        return any(getattr(before, name) != getattr(self.question, name) for name in ("text", "kind", "unit"))

    def change(self, now: dt.datetime) -> str:
        """Store it, and remove the answers that do not fit."""
        misfits = self._misfits()
        self.question.save()
        for some in fact_sheets.batched(misfits):
            Answer.objects.filter(pk__in=some).delete()
        fact_sheets.refresh_owing(self.competition)
        removed = f"; {len(misfits)} answers did not fit any more and were removed" if misfits else ""
        return f"The question {self.label} of the fact sheet was changed{removed}."


@dataclass
class RemoveQuestion(OfQuestion):
    """Ask no more, and remove the answers."""

    name: ClassVar[str] = "remove-question"

    def check(self, now: dt.datetime) -> None:
        """Nothing is against it; what goes with it, the preview says."""

    def preview(self, now: dt.datetime) -> Preview:
        """How many answers go with it."""
        count = self.question.answers.count()
        what = "Nobody has answered it." if not count else f"{count} answer{'' if count == 1 else 's'} go with it."
        return Preview([f"The question {self.label} leaves the fact sheet. {what}"])

    def change(self, now: dt.datetime) -> str:
        """Delete it."""
        text = f"The question {self.label} was removed from the fact sheet."
        competition = self.competition
        Question.objects.filter(pk=self.question.pk).delete()
        fact_sheets.refresh_owing(competition)
        return text


@dataclass
class MoveQuestion(OfQuestion):
    """Ask a question one place earlier or later."""

    earlier: bool

    name: ClassVar[str] = "move-question"

    def _swapped(self) -> list[Question]:
        """The questions in their new order."""
        ordered = list(self.competition.questions.all())
        place = next(index for index, one in enumerate(ordered) if one.pk == self.question.pk)
        other = place + (-1 if self.earlier else 1)
        if not 0 <= other < len(ordered):
            raise Refused("The question stands at the end already.", status=409)
        ordered[place], ordered[other] = ordered[other], ordered[place]
        return ordered

    def check(self, now: dt.datetime) -> None:
        """There must be another one on that side."""
        self._swapped()

    def preview(self, now: dt.datetime) -> Preview:
        """Nothing else changes."""
        return Preview([])

    def change(self, now: dt.datetime) -> str:
        """Number all of them anew."""
        for order, question in enumerate(self._swapped()):
            Question.objects.filter(pk=question.pk).exclude(order=order).update(order=order)
        return f"The question {self.label} of the fact sheet was moved {'up' if self.earlier else 'down'}."
