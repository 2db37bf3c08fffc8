"""What all entrants answered, in counts and as bars: one summary for each question."""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from competitions.fact_sheets import Value
from competitions.models import Question

MOST_BINS = 12
MOST_TEXTS = 20
FIRST_TEXTS = 3
WIDTH, HEIGHT = 380, 150
SIDE, BOTTOM, TOP = 24, 24, 16  # room for the texts


@dataclass(frozen=True)
class Bar:
    """A choice: how many chose it, and its share of those who answered, from 0 to 1."""

    label: str
    count: int
    share: float

    @property
    def percent(self) -> int:
        """The share in whole per cent."""
        return round(100 * self.share)


@dataclass(frozen=True)
class Bin:
    """A bar of a histogram: numbers from `low` to below `high`, of the last to `high`; and where it is drawn."""

    low: float
    high: float
    count: int
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """Where its count stands."""
        return round(self.x + self.width / 2, 1)

    @property
    def right(self) -> float:
        """Where it ends."""
        return round(self.x + self.width, 1)


@dataclass(frozen=True)
class Numbers:
    """The numbers that were answered: five of their facts, and the bars."""

    least: float
    median: float
    mean: float
    most: float
    bins: list[Bin]


@dataclass(frozen=True)
class Text:
    """What one entrant wrote."""

    entrant_id: int
    name: str
    text: str


@dataclass
class Summary:
    """One question with what `answered` entrants out of `asked` said; only what fits its kind is filled."""

    question: Question
    asked: int
    answered: int
    bars: list[Bar] = field(default_factory=list)
    numbers: Numbers | None = None
    texts: list[Text] = field(default_factory=list)

    @property
    def first_texts(self) -> list[Text]:
        """The texts that are seen at once."""
        return self.texts[:FIRST_TEXTS]

    @property
    def further_texts(self) -> list[Text]:
        """Those that unfold."""
        return self.texts[FIRST_TEXTS:]

    @property
    def more_texts(self) -> int:
        """How many texts are not shown."""
        return self.answered - len(self.texts) if self.texts else 0


def summarised(
    questions: Iterable[Question],
    answers: Mapping[int, Sequence[tuple[int, str, Value]]],
    *,
    asked: int,
) -> list[Summary]:
    """A summary of each question; `answers` are (entrant's id, name, value) by the id of the question."""
    return [_summary(question, answers.get(question.pk, ()), asked) for question in questions]


def _summary(question: Question, given: Sequence[tuple[int, str, Value]], asked: int) -> Summary:
    made = Summary(question, asked, len(given))
    if question.kind in (Question.Kind.CHOICE, Question.Kind.CHOICES):
        made.bars = bars(question.choices, [value for _, _, value in given])
    elif question.kind == Question.Kind.NUMBER:
        made.numbers = numbers([float(value) for _, _, value in given if isinstance(value, int | float)])
    else:
        made.texts = [Text(entrant, name, str(value)) for entrant, name, value in given[:MOST_TEXTS]]
    return made


def bars(choices: Sequence[str], values: Sequence[Value]) -> list[Bar]:
    """How many chose each, in the order of the question; of several choices the shares sum to more than 1."""
    counts: Counter[str] = Counter()
    for value in values:
        counts.update(value if isinstance(value, list) else [str(value)])
    return [Bar(choice, counts[choice], counts[choice] / len(values) if values else 0.0) for choice in choices]


def numbers(values: Sequence[float]) -> Numbers | None:
    """Facts and bars of the numbers; None for none."""
    if not values:
        return None
    edges = bin_edges(values)
    counts = [0] * (len(edges) - 1)
    for value in values:
        counts[_bin_of(value, edges)] += 1
    highest = max(counts)
    width = (WIDTH - 2 * SIDE) / len(counts)
    room = HEIGHT - BOTTOM - TOP
    drawn = []
    for index, count in enumerate(counts):
        height = round(room * count / highest, 1)
        x, y = round(SIDE + index * width, 1), round(HEIGHT - BOTTOM - height, 1)
        drawn.append(Bin(edges[index], edges[index + 1], count, x, y, round(width - 2, 1), height))
    return Numbers(min(values), statistics.median(values), statistics.fmean(values), max(values), drawn)


def bin_edges(values: Sequence[float]) -> list[float]:
    """Rising edges at round numbers that hold all values: about as many bins as the root of their number."""
    least, most = min(values), max(values)
    if least == most:
        return [least - 0.5, least + 0.5] if abs(least) < 2**52 else [least, math.nextafter(least, math.inf)]
    wished = min(MOST_BINS, max(4, math.ceil(math.sqrt(len(values)))))
    step = _round_step((most - least) / wished)
    first = math.floor(least / step)
    count = max(1, math.floor(most / step) - first + 1)
    if count > 1 and most <= (first + count - 1) * step:
        count -= 1  # the last value stands on an edge: it belongs to the bin below it
    return [(first + index) * step for index in range(count + 1)]


def _round_step(wished: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not smaller."""
    power = 10.0 ** math.floor(math.log10(wished))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= wished * (1 - 1e-9))


def _bin_of(value: float, edges: Sequence[float]) -> int:
    inner = sum(value >= edge for edge in edges[1:-1])
    return min(inner, len(edges) - 2)
