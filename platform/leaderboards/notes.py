"""What would change the winner of a board: kept with the board, told in sentences."""

from collections.abc import Callable, Sequence
from typing import Any

from leaderboards.lines import Line
from leaderboards.ranking import Ints, Table
from leaderboards.robustness import DATASET, ENTRANT, WAY, winner_changes

MOST_ENTRANTS = 4  # told by name; the others are counted

WAY_NAMES = {
    "mean_score": "by mean score",
    "average_ranks": "by mean rank with equal scores sharing the mean of their places",
    "median_rank": "by median rank",
    "normalised_score": "by mean score scaled to the worst and best of each dataset",
}
Naming = Callable[[dict[str, Any]], str]  # from {"id", "name", "number"} to the name that the viewer may see


def notes_of(table: Table, task_ranks: Ints, lines: Sequence[Line], *, tie_rule: str) -> list[dict[str, Any]]:
    """What a board keeps: for each kind of change and the winners it gives, the keys; empty where none changes.

    `keys` are names of ways, indices of datasets, or people; `winners` are people: `{"id", "name", "number"}`.
    Of people at most `MOST_ENTRANTS` are kept, `more` counts the others.
    """
    people = {line.entrant_id: {"id": line.entrant_id, "name": line.name, "number": line.number} for line in lines}
    groups: dict[tuple[str, tuple[int, ...]], list[str | int]] = {}
    for change in winner_changes(table, task_ranks, tie_rule=tie_rule):
        groups.setdefault((change.kind, change.winners), []).append(change.key)
    notes = []
    for (kind, winners), keys in groups.items():
        most = MOST_ENTRANTS if kind == ENTRANT else len(keys)
        kept = [people[int(key)] if kind == ENTRANT else key for key in keys[:most]]
        notes.append(
            {
                "kind": kind,
                "keys": kept,
                "more": len(keys) - len(kept),
                "winners": [people[winner] for winner in winners[:MOST_ENTRANTS]],
                "more_winners": max(0, len(winners) - MOST_ENTRANTS),
            }
        )
    return notes


def sentences(notes: Sequence[dict[str, Any]], *, datasets: Sequence[str], naming: Naming) -> list[str]:
    """What would change the winner, a sentence for each note."""
    return [_sentence(note, datasets, naming) for note in notes]


def _sentence(note: dict[str, Any], datasets: Sequence[str], naming: Naming) -> str:
    winners = [naming(winner) for winner in note["winners"]]
    if note["more_winners"]:
        winners.append(f"{note['more_winners']} others")
    would = (
        f"the winner would be {listed(winners)}"
        if len(winners) == 1
        else f"{listed(winners)} would share the first place"
    )
    if note["kind"] == WAY:
        ways = listed([WAY_NAMES[key] for key in note["keys"]])
        return f"{ways[:1].upper()}{ways[1:]}, {would}."
    if note["kind"] == DATASET:
        left_out = [datasets[key] if key < len(datasets) else f"dataset {key + 1}" for key in note["keys"]]
    else:
        left_out = [naming(key) for key in note["keys"]]
        if note["more"]:
            left_out.append(f"one of {note['more']} others")
    return f"Without {listed(left_out, 'or')}, {would}."


def same_sentence() -> str:
    """What is said where nothing would change the winner."""
    ways = listed(list(WAY_NAMES.values()))
    return f"The winner would be the same {ways}, and without any one of the datasets or of the other entrants."


def listed(words: Sequence[str], last: str = "and") -> str:
    """`a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"
