"""Queries whose text is made once: where building one costs more than asking it, and every page asks it."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import Model

Row = TypeVar("Row", bound=Model)

# Stand in for the values while the text is made; nothing else in a query is equal to one of them.
NUMBER = -(2**62) - 1
TEXT = "\N{SYMBOL FOR NULL}prepared"


class Prepared(Generic[Row]):
    """The first row of a query that is built from one number and one text, which differ from call to call.

    `build` gets both and returns a QuerySet. It must not look at them: they may only be compared with columns.
    Annotations become attributes as in a QuerySet, but for their types, which are those of the database.
    """

    def __init__(self, build: Callable[[int, str], Any]) -> None:
        self.build = build
        self._made: dict[str, tuple[type[Row], str, tuple[Any, ...]]] = {}

    def first(self, number: int, text: str) -> Row | None:
        """The first row for these values: one query."""
        if connection.vendor not in self._made:
            asked = self.build(NUMBER, TEXT)[:1]
            self._made[connection.vendor] = (asked.model, *asked.query.sql_with_params())
        model, sql, values = self._made[connection.vendor]
        now = {NUMBER: number, TEXT: text}
        given = [now.get(value, value) if type(value) in (int, str) else value for value in values]
        return next(iter(model._default_manager.raw(sql, given)), None)
