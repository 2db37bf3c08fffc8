"""Is one entrant ahead of another? A small form on the page of the standings, answered from its pairs."""

from collections.abc import Mapping

from analysis.results import Block, Note, Result
from analysis.sections.base import Choice, Tool

FIRST, SECOND = "first", "second"


def choices(result: Result) -> tuple[Choice, ...]:
    """Two entrants; nothing where there are no pairs."""
    names = _names(result)
    if len(names) < 2:
        return ()
    options = tuple((str(place), name) for place, name in enumerate(names))
    return Choice(FIRST, "Is", options), Choice(SECOND, "ahead of", options[1:] + options[:1])


def answer(result: Result, asked: Mapping[str, str]) -> tuple[Block, ...]:
    """What draws say of the two that are asked for; nothing where none are."""
    names = _names(result)
    chosen = [_place(asked.get(key, ""), len(names)) for key in (FIRST, SECOND)]
    if chosen[0] is None or chosen[1] is None:
        return ()
    if chosen[0] == chosen[1]:
        return (Note("Choose two different entrants."),)
    first, second = names[chosen[0]], names[chosen[1]]
    pairs = result.named("pairs")
    found = next(row for row in pairs.rows if row[:2] == (first, second)) if pairs else None
    return (Note(said(first, second, *[float(value or 0.0) for value in found[2:7]])),) if found else ()


def said(first: str, second: str, rows: float, datasets: float, gap: float, low: float, high: float) -> str:
    """The answer in a sentence."""
    verdict = "could be chance" if low <= 0 <= high else "is more than the chance of their test rows"
    return (
        f"{first} is ahead of {second} in {rows:.0%} of the draws of test rows on these datasets, and in "
        f"{datasets:.0%} of the draws of datasets of the kind. Its mean score differs by {gap:+.4f} (95 % "
        f"interval {low:+.4f} to {high:+.4f}, same test rows for both), which {verdict}."
    )


def _names(result: Result) -> list[str]:
    pairs = result.named("pairs")
    return list(dict.fromkeys(str(row[0]) for row in pairs.rows)) if pairs else []


def _place(text: str, count: int) -> int | None:
    is_place = text.isascii() and text.isdigit() and len(text) < 5
    return int(text) if is_place and int(text) < count else None


TOOL = Tool("Is one ahead of another?", "Compare", choices, answer)
