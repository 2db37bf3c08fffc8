"""The two lines of a dataset's info file that a score needs: task and metric."""

from dataclasses import dataclass
from pathlib import Path

from scoring.errors import BadSolutionError
from scoring.names import canonical_metric, canonical_task
from scoring.reading import open_regular

MAX_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class ScoringInfo:
    """Task and metric of a dataset, by their canonical names; None where the file has none."""

    task: str | None
    metric: str | None


def read_scoring_info(path: Path) -> ScoringInfo:
    """Read task and metric from an info file: `key = value` lines, quotes and `#` comments allowed.

    Parameters
    ----------
    path : Path
        The dataset's `<name>_public.info`.

    Returns
    -------
    ScoringInfo

    Raises
    ------
    BadSolutionError
        The file cannot be read.
    UnknownNameError
        It names a task or metric that does not exist.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "toy_public.info"
    ...     _ = path.write_text("task = 'regression'\\nmetric = 'a_metric'\\n")
    ...     read_scoring_info(path)
    ScoringInfo(task='regression', metric='ABS')
    """
    try:
        with open_regular(path) as stream:
            text = stream.read(MAX_BYTES).decode("utf-8-sig", errors="replace")
    except OSError as problem:
        raise BadSolutionError(f"{path.name} cannot be read: {problem.strerror}.") from None
    values: dict[str, str] = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals and not key.lstrip().startswith("#"):
            values[key.strip().lower()] = value.partition("#")[0].strip().strip("'\"").strip()
    task, metric = values.get("task"), values.get("metric")
    return ScoringInfo(canonical_task(task) if task else None, canonical_metric(metric) if metric else None)
