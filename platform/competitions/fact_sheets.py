"""Fact sheets: what an answer may be, who owes one, and how an entrant answers."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet

from accounts.models import User
from accounts.refusals import Refused
from competitions import policy, signals
from competitions.actions.people import locked_entrant
from competitions.models import Answer, Competition, Entrant, Question

MOST_QUESTIONS = 50
MOST_CHOICES = 30
LONGEST_CHOICE = 120
LONGEST_ANSWER = 5000
LARGEST_NUMBER = 1e15  # on either side of zero; sums and plots of larger ones overflow
SMALLEST_NUMBER = 1e-15  # but for zero
AT_ONCE = 500  # entrants brought up to date by one query

Value = str | float | list[str]


def read(question: Question, texts: Sequence[str]) -> Value | None:
    """The answer that a form sent, None for none; raises Refused with what is wrong with it."""
    given = [text.replace("\r\n", "\n").replace("\0", "").strip() for text in texts]
    given = [text for text in given if text]
    if not given:
        return None
    value: Value | None
    if question.kind == Question.Kind.CHOICES:
        value = [choice for choice in question.choices if choice in given]
        if len(value) != len(set(given)):
            raise Refused("Choose among the answers that are offered.")
    elif question.kind == Question.Kind.NUMBER:
        value = _number(given[0])
    else:
        value = given[0]
    problem = misfit(question, value)
    if problem:
        raise Refused(problem)
    return value


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError as problem:
        raise Refused(f"{text[:40]!r} is not a number.", mend="Write it like 12 or 0.5.") from problem
    if not math.isfinite(value):
        raise Refused("This has to be a finite number.")
    if value and not SMALLEST_NUMBER <= abs(value) <= LARGEST_NUMBER:
        raise Refused(
            f"This has to be zero, or from {SMALLEST_NUMBER:g} to {LARGEST_NUMBER:g} on either side of it.",
            mend="Use another unit.",
        )
    return value


def misfit(question: Question, value: object) -> str:
    """Why a value is no answer to the question as it stands; empty where it is one."""
    if question.kind == Question.Kind.NUMBER:
        return _number_misfit(question, value)
    if question.kind == Question.Kind.CHOICES:
        chosen: list[object] = value if isinstance(value, list) else []
        if chosen and all(choice in question.choices for choice in chosen):
            return ""
        return "Choose among the answers that are offered."
    if not isinstance(value, str):
        return "This has to be a text."
    if question.kind == Question.Kind.CHOICE:
        return "" if value in question.choices else "Choose one of the answers that are offered."
    return "" if len(value) <= LONGEST_ANSWER else f"An answer has at most {LONGEST_ANSWER:,} characters."


def _number_misfit(question: Question, value: object) -> str:
    if not isinstance(value, int | float):
        return "This has to be a number."
    if question.minimum is not None and value < question.minimum:
        return f"This has to be at least {question.minimum:g}."
    if question.maximum is not None and value > question.maximum:
        return f"This has to be at most {question.maximum:g}."
    return ""


def read_all(
    questions: Iterable[Question], sent: Mapping[int, Sequence[str]]
) -> tuple[dict[int, Value | None], dict[int, str]]:
    """The answers that a form sent by the id of their question, and what is wrong with those that are not."""
    values: dict[int, Value | None] = {}
    problems: dict[int, str] = {}
    for question in questions:
        try:
            values[question.pk] = read(question, sent.get(question.pk, ()))
        except Refused as refused:
            problems[question.pk] = str(refused)
    return values, problems


def answer(competition: Competition, user: User, values: Mapping[int, Value | None]) -> Entrant:
    """Store the answers of the entrant for whom the person speaks; None takes one away.

    Returns the entrant, with a place on the boards once every required question is answered.
    """
    if not policy.may_submit(user, competition):
        raise Refused(f"Only participants of {competition.title} answer its fact sheet.", status=403)
    with transaction.atomic():
        # A question that changes meanwhile waits, or is seen here as it has become.
        Competition.objects.select_for_update(no_key=True).get(pk=competition.pk)
        entrant = locked_entrant(competition, user)
        for question in competition.questions.filter(pk__in=values):
            value = values[question.pk]
            if value is None:
                Answer.objects.filter(question=question, entrant=entrant).delete()
            elif not misfit(question, value):
                Answer.objects.update_or_create(question=question, entrant=entrant, defaults={"value": value})
        _set_owing(entrant)
    return entrant


def _set_owing(entrant: Entrant) -> None:
    owing = owes(entrant)
    if owing != entrant.owes_answers:
        entrant.owes_answers = owing
        entrant.save(update_fields=["owes_answers"])


def missing(entrant: Entrant | None, questions: Iterable[Question]) -> list[Question]:
    """The required ones among these questions that the entrant has not answered."""
    required = [question for question in questions if question.is_required]
    if entrant is None or not required:
        return required
    answered = set(entrant.answers.values_list("question", flat=True))
    return [question for question in required if question.pk not in answered]


def owes(entrant: Entrant) -> bool:
    """Whether a required question of the competition has no answer of the entrant.

    Baselines owe none, nor does anybody in a rehearsal, whose entrants cannot answer.
    """
    if entrant.is_baseline or entrant.competition.rehearses_id is not None:
        return False
    required = Question.objects.filter(competition=entrant.competition_id, is_required=True)
    return required.exclude(answers__entrant=entrant).exists() if entrant.pk else required.exists()


def owing(competition: Competition) -> QuerySet[Entrant]:
    """The entrants that owe an answer as the questions are now."""
    required = competition.questions.filter(is_required=True).count()
    answered = Count("answers", filter=Q(answers__question__is_required=True))
    of_contest = competition.entrants.filter(is_baseline=False, competition__rehearses=None)
    return of_contest.annotate(answered=answered).filter(answered__lt=required)


def refresh_owing(competition: Competition) -> int:
    """Bring `owes_answers` of all entrants in line with the questions, and the boards with it.

    Call inside the transaction that changed a question. Returns how many entrants changed.
    """
    now_owing = set(owing(competition).values_list("pk", flat=True))
    before = set(competition.entrants.filter(owes_answers=True).values_list("pk", flat=True))
    for ids, value in ((now_owing - before, True), (before - now_owing, False)):
        for some in batched(ids):
            Entrant.objects.filter(pk__in=some).update(owes_answers=value)
    changed = len(now_owing ^ before)
    if changed:
        signals.places_changed.send(sender=Competition, competition=competition)
    return changed


def batched(ids: Iterable[int]) -> Iterator[list[int]]:
    """The ids in pieces that any database takes in one query."""
    ordered = sorted(ids)
    for start in range(0, len(ordered), AT_ONCE):
        yield ordered[start : start + AT_ONCE]


def check_question(question: Question) -> None:
    """Refuse a question that nobody could answer; tidies its choices."""
    if not question.text.strip():
        raise Refused("A question needs a text.")
    is_choice = question.kind in (Question.Kind.CHOICE, Question.Kind.CHOICES)
    question.choices = (
        [str(choice).strip() for choice in question.choices if str(choice).strip()] if is_choice else []
    )
    if is_choice and not 2 <= len(question.choices) <= MOST_CHOICES:
        raise Refused(f"A choice has from 2 to {MOST_CHOICES} answers, one a line.")
    if len(set(question.choices)) < len(question.choices):
        raise Refused("Two of the answers to choose from are the same.")
    if any(len(choice) > LONGEST_CHOICE for choice in question.choices):
        raise Refused(f"An answer to choose has at most {LONGEST_CHOICE} characters.")
    if question.kind != Question.Kind.NUMBER:
        question.minimum = question.maximum = None
        question.unit = ""
    elif question.minimum is not None and question.maximum is not None and question.minimum > question.maximum:
        raise Refused("The smallest number is larger than the largest.")


def last_place(competition: Competition) -> int:
    """The place after the last question."""
    last = competition.questions.order_by(F("order").desc()).values_list("order", flat=True).first()
    return 0 if last is None else last + 1
