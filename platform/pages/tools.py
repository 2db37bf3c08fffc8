"""The small forms on a section's page that compute further from its result."""

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.results import Block, Result
from analysis.sections.base import Choice, Section, Tool


@dataclass(frozen=True)
class Field:
    """A choice of a form with the value that the address gives it, if it is one of its options."""

    choice: Choice
    value: str


@dataclass(frozen=True)
class ShownTool:
    """A form with its values, and the blocks that answer them."""

    tool: Tool
    number: int
    fields: tuple[Field, ...]
    blocks: tuple[Block, ...]


def asked_tools(section: Section, result: Result | None, given: Mapping[str, str]) -> list[ShownTool]:
    """The forms of a section; values that are not among the options are taken as not given.

    A form without anything to choose, because there is no data, is left out.
    """
    if result is None:
        return []
    found = [_asked(number, tool, result, given) for number, tool in enumerate(section.tools, start=1)]
    return [one for one in found if one.fields and all(field.choice.options for field in one.fields)]


def _asked(number: int, tool: Tool, result: Result, given: Mapping[str, str]) -> ShownTool:
    fields = []
    for choice in tool.choices(result):
        wish = given.get(choice.name, "")
        fields.append(Field(choice, wish if wish in (value for value, _ in choice.options) else ""))
    values = {field.choice.name: field.value for field in fields if field.value}
    return ShownTool(tool, number, tuple(fields), tool.answer(result, values) if values else ())
