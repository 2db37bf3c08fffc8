"""The datasheet of a public dataset in Markdown, by the questions of "Datasheets for Datasets" (Gebru, 2018)."""

import re
from collections.abc import Sequence

from datasets.card import Card, Shown, public_card
from datasets.croissant import described
from datasets.models import Dataset, DatasetVersion
from ingestion.dataset import PUBLIC_SUFFIXES

UNSAID = "The owner of the dataset has not said."
MOST_CLASSES = 50


def markdown(dataset: Dataset, version: DatasetVersion, card: Card) -> str:
    """The datasheet as text. What nobody wrote down is said to be missing, not guessed."""
    seen = public_card(card, shown=Shown.NAMED)
    assert seen is not None, "a named card is never empty"
    parts = [
        f"# {_line(dataset.title)}\n\nVersion {version.number}, {version.created_at.date().isoformat()}.",
        _section("Motivation", dataset.description or UNSAID),
        _section("Composition", _composition(seen)),
        _section("Collection", dataset.source or UNSAID),
        _section("Preparation", _preparation(seen)),
        _section("Uses", _uses(seen)),
        _section("Distribution", _distribution(dataset, version)),
        _section("Maintenance", _maintenance(dataset, version)),
    ]
    return "\n\n".join(parts) + "\n"


def _section(title: str, text: str) -> str:
    # A heading that an organizer wrote must not pass for one of ours.
    safe = re.sub(r"^(#+)", r"\\\1", text.strip().replace("\r", ""), flags=re.MULTILINE)
    return f"## {title}\n\n{safe}"


def _line(text: str) -> str:
    """Text for a line or a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def _composition(card: Card) -> str:
    kinds = ", ".join(f"{count:,} {kind.lower()}" for kind, count in card.types.items() if count)
    gaps = "No value is missing in the training part."
    if card.missing:
        gaps = f"{card.missing:.2%} of the training values are missing, in {card.missing_features:,} features "
        gaps += f"and {card.missing_rows:,} rows."
    order = "The samples are in order of time. " if card.is_chronological else ""
    cells = {
        "samples for training": f"{card.train_rows:,}",
        "samples for validation, targets hidden": f"{card.valid_rows:,}",
        "samples for the test, targets hidden": f"{card.test_rows:,}",
        "features": f"{card.features:,} ({kinds})",
        "training samples by features": f"{card.ratio:.2f}",
        "layout": card.layout.replace("_", " "),
        "training values that are zero": f"{card.sparse:.2%}",
        "size of the public files": f"{card.public_bytes:,} bytes",
    }
    table = _table(("what", "how many"), list(cells.items()))
    return f"{described(card)}\n\n{table}\n\n{order}{gaps}{_classes(card)}"


def _classes(card: Card) -> str:
    if not card.shares or card.train_balance is None:
        return ""
    rows = [(_line(share.label), f"{share.rows:,}", f"{share.share:.1%}") for share in card.shares[:MOST_CLASSES]]
    more = len(card.shares) - MOST_CLASSES
    rest = f"\n\nand {more:,} more." if more > 0 else ""
    balance = f"Their balance is {card.train_balance:.3f}, where 1 is even and 0 a single class."
    table = _table(("class", "training samples", "share"), rows)
    return f"\n\nClasses of the training part. {balance}\n\n{table}{rest}"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _preparation(card: Card) -> str:
    shuffled = "kept in order of time" if card.is_chronological else "split into parts"
    return (
        f"The samples were {shuffled} and written in the AutoML format: numbers as text, categories as codes, "
        "`NaN` for what is missing. How a set that was made of a table was prepared is kept by its owner."
    )


def _uses(card: Card) -> str:
    budget = f" within {card.time_budget:,.0f} seconds" if card.time_budget else ""
    return (
        f"It is a task of {card.task.replace('.', ' ')}, scored by {card.metric}{budget}. Targets of the "
        "validation and test parts are hidden, so that programs can be compared on them."
    )


def _distribution(dataset: Dataset, version: DatasetVersion) -> str:
    names = [
        f"{version.name}{suffix}" for suffix in PUBLIC_SUFFIXES if f"{version.name}{suffix}" in version.checksums
    ]
    rows = [
        (f"`{name}`", f"{version.checksums[name]['bytes']:,}", version.checksums[name]["sha256"]) for name in names
    ]
    files = f"\n\n{_table(('file', 'bytes', 'SHA-256'), rows)}" if rows else ""
    terms = f"Terms: {_line(dataset.licence)}" if dataset.licence else f"Terms of use: {UNSAID}"
    cite = f"\n\nTo cite: {_line(dataset.citation)}" if dataset.citation else ""
    return f"{terms}{cite}{files}"


def _maintenance(dataset: Dataset, version: DatasetVersion) -> str:
    owner = dataset.owner.get_full_name() or dataset.owner.get_username()
    return (
        f"{_line(owner)} keeps the dataset. A version that was used never changes; corrections come as a new "
        f"version. This is version {version.number}."
    )
