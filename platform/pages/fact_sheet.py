"""The questions of a fact sheet as a form shows them, with what was answered or sent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.http import QueryDict

from competitions.fact_sheets import Value
from competitions.models import Entrant, Question


@dataclass(frozen=True)
class ShownQuestion:
    """A question with the texts that stand in its field, and what is wrong with them."""

    question: Question
    texts: Sequence[str]
    problem: str = ""

    @property
    def field(self) -> str:
        """The name of its field."""
        return field_of(self.question)

    @property
    def text(self) -> str:
        """What stands in a field of one line."""
        return self.texts[0] if self.texts else ""

    @property
    def is_answered(self) -> bool:
        """Whether anything stands there."""
        return any(self.texts)


def field_of(question: Question) -> str:
    """The name of the question's field."""
    return f"question{question.pk}"


def as_texts(value: Value | None) -> list[str]:
    """An answer as the texts of its field."""
    if value is None:
        return []
    if isinstance(value, list):
        return value
    return [number_text(value) if isinstance(value, int | float) else value]


def number_text(value: float) -> str:
    """A number without a decimal point where it has none, and with all its digits."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def answers_of(entrant: Entrant | None) -> dict[int, Value]:
    """The entrant's answers by the id of their question: one query."""
    return dict(entrant.answers.values_list("question", "value")) if entrant else {}


def as_answered(questions: Iterable[Question], answers: Mapping[int, Value]) -> list[ShownQuestion]:
    """The questions with the answers that are stored."""
    return [ShownQuestion(question, as_texts(answers.get(question.pk))) for question in questions]


def sent_texts(questions: Iterable[Question], sent: QueryDict) -> dict[int, list[str]]:
    """What a form sent, by the id of the question."""
    return {question.pk: sent.getlist(field_of(question)) for question in questions}


def as_sent(
    questions: Iterable[Question], sent: Mapping[int, Sequence[str]], problems: Mapping[int, str]
) -> list[ShownQuestion]:
    """The questions with what was sent, and what is wrong with it."""
    return [
        ShownQuestion(question, sent.get(question.pk, ()), problems.get(question.pk, "")) for question in questions
    ]
