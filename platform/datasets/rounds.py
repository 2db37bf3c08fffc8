"""Which round of the challenge series a dataset would suit, by the chapter's criteria (table of rounds)."""

from collections.abc import Iterator
from dataclasses import dataclass

from datasets.card import Card

NAMES = {1: "Novice", 2: "Intermediate", 3: "Advanced", 4: "Expert", 5: "Master"}

BALANCED = 0.97  # the entropy of 40 to 60
NOVICE_FEATURES = 2_000
# The chapter says 7,000 and 300,000; its own sets have up to 7,200 (ROBERT) and 301,561 (GRIGORIS).
INTERMEDIATE_FEATURES = 7_200
ADVANCED_FEATURES = 301_561
MANY_CLASSES = 100
MANY_DIFFICULTIES = 4

BINARY, MULTICLASS = "binary.classification", "multiclass.classification"
TASKS = {
    1: (BINARY,),
    2: (BINARY, MULTICLASS),
    3: (BINARY, MULTICLASS, "multilabel.classification"),
    4: (BINARY, MULTICLASS, "multilabel.classification", "regression"),
}
NOUNS = {
    BINARY: "binary classification",
    MULTICLASS: "multi-class classification",
    "multilabel.classification": "multi-label classification",
    "regression": "regression",
}


@dataclass(frozen=True)
class Proposal:
    """A round with its name, and sentences that say why it and none before it."""

    number: int
    name: str
    reasons: tuple[str, ...]


def propose(card: Card) -> Proposal:
    """The first round whose criteria the dataset meets; Master where many difficulties come together."""
    difficulties = list(difficulties_of(card))
    if len(difficulties) >= MANY_DIFFICULTIES:
        return Proposal(5, NAMES[5], (f"It joins many difficulties: {', '.join(difficulties)}.",))
    against: list[str] = []
    for number in (1, 2, 3):
        reasons = list(too_hard_for(card, number))
        if not reasons:
            return Proposal(number, NAMES[number], (_meets(card, number), *against))
        against = [f"Not {NAMES[number]}: {'; '.join(reasons)}."]
    return Proposal(4, NAMES[4], (_meets(card, 4), *against))


def too_hard_for(card: Card, number: int) -> Iterator[str]:
    """What keeps a dataset out of a round from 1 to 3, one clause each; nothing where it fits."""
    if card.task not in TASKS[number]:
        yield f"{NOUNS[card.task]} begins later"
    most = {1: NOVICE_FEATURES - 1, 2: INTERMEDIATE_FEATURES, 3: ADVANCED_FEATURES}[number]
    if card.features > most:
        yield f"{card.features:,} features are more than {most:,}"
    if number > 1:
        return
    if card.missing > 0:
        yield f"{card.missing:.1%} of the values are missing"
    if card.categorical:
        yield f"{card.categorical:,} features are categorical"
    if card.balance is not None and card.balance < BALANCED:
        yield f"the classes are unbalanced ({card.balance:.2f} of 1)"


def _meets(card: Card, number: int) -> str:
    kind = NOUNS[card.task]
    if number == 1:
        return f"Balanced {kind} with {card.features:,} numeric features and nothing missing."
    limit = {2: "up to about 7,000 features", 3: "up to about 300,000 features", 4: "the whole range"}[number]
    return f"{kind.capitalize()} with {card.features:,} features is within {NAMES[number]}: {limit}."


def difficulties_of(card: Card) -> Iterator[str]:
    """What makes a dataset hard, as the chapter lists it."""
    if card.missing > 0:
        yield "missing values"
    if card.categorical:
        yield "categorical features"
    if card.balance is not None and card.balance < BALANCED:
        yield "unbalanced classes"
    if card.classes >= MANY_CLASSES:
        yield "many classes"
    if card.layout != "dense":
        yield "sparse values"
    if card.irrelevant is not None and card.irrelevant > 0:
        yield "probes"
    if card.ratio < 1:
        yield "fewer rows than features"
    if card.is_chronological:
        yield "order of time"
