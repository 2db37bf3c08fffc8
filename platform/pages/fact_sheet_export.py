"""The fact sheets of all entrants as rows of a table and as JSON."""

import json
from collections.abc import Iterable, Iterator, Sequence

from django.db.models import Prefetch

from competitions.fact_sheets import Value
from competitions.models import Answer, Competition, Entrant, Question
from leaderboards.export import spreadsheet_text, status
from pages.fact_sheet import number_text

AT_ONCE = 200


def sheets(competition: Competition) -> Iterator[tuple[Entrant, dict[int, Value]]]:
    """Every entrant by name with the answers by the id of their question, in bounded pieces."""
    answers = Prefetch("answers", Answer.objects.only("question", "entrant", "value"))
    entrants = competition.entrants.select_related("team").prefetch_related(answers).order_by("name", "pk")
    for entrant in entrants.iterator(chunk_size=AT_ONCE):
        yield entrant, {answer.question_id: answer.value for answer in entrant.answers.all()}


def as_rows(competition: Competition, questions: Sequence[Question]) -> Iterator[Sequence[object]]:
    """The names of the columns, then a row for each entrant; texts cannot be taken for formulas."""
    yield ["entrant", "is a team", "status", *(spreadsheet_text(_heading(question)) for question in questions)]
    for entrant, answers in sheets(competition):
        cells = [_cell(answers.get(question.pk)) for question in questions]
        yield [spreadsheet_text(entrant.name), "yes" if entrant.team_id else "no", status(entrant), *cells]


def _heading(question: Question) -> str:
    return f"{question.text} ({question.unit})" if question.unit else question.text


def _cell(value: Value | None) -> str:
    if value is None:
        return ""
    if isinstance(value, int | float):
        return number_text(value)
    return spreadsheet_text("; ".join(value) if isinstance(value, list) else value)


def as_json(competition: Competition, questions: Sequence[Question]) -> Iterator[str]:
    """Pieces of one JSON object: the questions, then the entrants with an answer or null for each."""
    head = {"competition": competition.slug, "questions": [_described(question) for question in questions]}
    yield json.dumps(head, ensure_ascii=False)[:-1] + ', "entrants": ['
    yield from _joined(
        {
            "entrant": entrant.name,
            "is_team": entrant.team_id is not None,
            "status": status(entrant),
            "answers": [answers.get(question.pk) for question in questions],
        }
        for entrant, answers in sheets(competition)
    )
    yield "]}\n"


def _described(question: Question) -> dict[str, object]:
    told: dict[str, object] = {
        "text": question.text,
        "kind": question.kind,
        "is_required": question.is_required,
    }
    if question.choices:
        told["choices"] = question.choices
    if question.unit:
        told["unit"] = question.unit
    return told


def _joined(rows: Iterable[dict[str, object]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        yield ("\n" if number == 0 else ",\n") + json.dumps(row, ensure_ascii=False)
