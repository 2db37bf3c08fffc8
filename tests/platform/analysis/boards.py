"""Boards for tests of sections, made of arrays without a database."""

from collections.abc import Sequence

import numpy as np

from analysis.inputs.boards import BoardTable, Dataset, Entry


def made_board(
    scores: Sequence[Sequence[float]],
    *,
    number: int = 1,
    kind: str = "automl",
    part: str = "test",
    round_number: int = 1,
    versions: Sequence[int] | None = None,
    baselines: int = 0,
) -> BoardTable:
    """A board with a row of scores for each entrant; the last `baselines` rows take no place."""
    values = np.array(scores, dtype=float)
    count, datasets = values.shape
    ids = versions or [100 * number + index for index in range(datasets)]
    return BoardTable(
        phase_id=number,
        number=number,
        title=f"Phase {number}",
        phase_kind=kind,
        round=round_number,
        round_name="",
        track="",
        part=part,
        tie_rule="earlier",
        is_anonymous=False,
        entries=tuple(
            Entry(index, f"entrant {index}", index < count - baselines, index >= count - baselines, index, None)
            for index in range(count)
        ),
        datasets=tuple(
            Dataset(10 * number + index, f"set{pk}", "BAC", "binary.classification", pk, round_number, 60.0)
            for index, pk in enumerate(ids)
        ),
        scores=values,
        stderr=np.full(values.shape, 0.01),
        submissions=np.arange(count) + 1000 * number,
    )
