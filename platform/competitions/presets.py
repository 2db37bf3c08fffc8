"""Budgets that phases are given as a whole, as data; and a phase's budget in words.

The challenge's are those of design, section 5: 1,200 s and 8 cores for each dataset, with 24 GiB of memory in
rounds 0 to 3 and 56 GiB after; in 2018 two cores and 8 GiB.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from competitions.models.protocol import CHALLENGE_WALL_SECONDS, Phase
from ingestion.budget import GIB, format_size


@dataclass(frozen=True)
class Preset:
    """A budget for every dataset of a phase: seconds, cores, bytes; None leaves it to dataset or worker.

    memory_by_round: (the last round that has it, bytes), in order; later rounds have `memory_bytes`.
    """

    name: str
    title: str
    wall_seconds: float | None = None
    cores: int | None = None
    memory_bytes: int | None = None
    memory_by_round: tuple[tuple[int, int], ...] = ()

    def fields(self, round_number: int) -> dict[str, float | int | None]:
        """The values of a phase's fields in this round."""
        early = next((memory for last, memory in self.memory_by_round if round_number <= last), None)
        return {
            "wall_seconds": self.wall_seconds,
            "cores": self.cores,
            "memory_bytes": early if early is not None else self.memory_bytes,
        }


PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            "challenge",
            "AutoML challenge, 2015 and 2016",
            CHALLENGE_WALL_SECONDS,
            8,
            56 * GIB,
            memory_by_round=((3, 24 * GIB),),
        ),
        Preset("2018", "AutoML challenge, 2018", CHALLENGE_WALL_SECONDS, 2, 8 * GIB),
        Preset("worker", "the dataset's own time, all that the worker has"),
    )
}


def in_words(phase: Phase, walls: Iterable[float]) -> str:
    """What one run may use in a phase: `20 min, 8 cores, 56 GiB for each dataset`.

    walls: the seconds of its datasets, of one or of several lengths; none where no dataset may be known.
    """
    lengths = sorted(set(walls))
    if not lengths:
        time = _time(phase.wall_seconds) if phase.wall_seconds else "its own time"
    elif len(lengths) == 1:
        time = _time(lengths[0])
    else:
        time = f"{_time(lengths[0])} to {_time(lengths[-1])}"
    parts = [time]
    if phase.cores:
        parts.append("1 core" if phase.cores == 1 else f"{phase.cores} cores")
    if phase.memory_bytes:
        parts.append(format_size(phase.memory_bytes))
    missing = [name for name, value in (("cores", phase.cores), ("memory", phase.memory_bytes)) if not value]
    rest = f", and all the {' and '.join(missing)} that a worker gives one run" if missing else ""
    return f"{', '.join(parts)} for each dataset{rest}"


def _time(seconds: float) -> str:
    if seconds >= 60 and seconds % 60 == 0:
        return f"{seconds / 60:,.0f} min"
    return f"{seconds:,g} s"
