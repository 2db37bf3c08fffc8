"""What a check says: one sentence with its weight, its place, and what would mend it."""

from dataclasses import asdict, dataclass
from enum import StrEnum

from ingestion.dataset import Problem
from ingestion.dataset_check import Progress as Progress
from ingestion.program.errors import printable


class Severity(StrEnum):
    """How much a finding weighs: an error refuses the dataset, a warning asks for a look, a note informs."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    """One thing that a check found. `code` names the kind of check and stays the same between releases."""

    code: str
    severity: Severity
    place: str
    sentence: str
    mend: str = ""

    def __post_init__(self) -> None:
        for name in ("place", "sentence", "mend"):
            object.__setattr__(self, name, printable(getattr(self, name)))

    def to_json(self) -> dict[str, str]:
        """The fields as plain text."""
        return {key: str(value) for key, value in asdict(self).items()}

    @classmethod
    def from_json(cls, fields: dict[str, str]) -> "Finding":
        """The finding that `to_json` wrote."""
        return cls(**{**fields, "severity": Severity(fields["severity"])})  # type: ignore[arg-type]

    @classmethod
    def of_problem(cls, problem: Problem, severity: Severity, code: str = "format") -> "Finding":
        """A problem of the format, as reading found it."""
        return cls(code, severity, problem.place, problem.message, problem.mend)

    def as_problem(self) -> Problem:
        """The finding in the fields of an import report."""
        return Problem(self.place, self.sentence, self.mend)


def said(count: int, one: str, many: str = "") -> str:
    """A count with its noun: `1 row`, `1,200 rows`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(names: list[str], most: int = 5) -> str:
    """The first few names and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
