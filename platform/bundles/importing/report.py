"""What became of the import of a bundle."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bundles.reading.report import BundleReport, Problem, Question
from competitions.models import Competition


@dataclass
class ImportReport:
    """Everything found in a bundle, and the competition that was made of it.

    `competition` is None with errors and after a dry run; `slug` then is the address that it would have.
    """

    slug: str | None = None
    version: str = ""
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    solutions: int = 0
    competition: Competition | None = None

    @classmethod
    def of_reading(cls, read: BundleReport) -> ImportReport:
        """The report that begins with what reading found."""
        return cls(
            version=read.version,
            errors=list(read.errors),
            warnings=list(read.warnings),
            questions=list(read.questions),
            found=list(read.found),
            solutions=len(read.contest.solutions) if read.contest else 0,
        )

    @property
    def ok(self) -> bool:
        """Whether nothing stands against the import."""
        return not self.errors

    def error(self, place: str, message: str, mend: str = "") -> None:
        """Note something that stops the import."""
        self.errors.append(Problem(place, message, mend))

    def warn(self, place: str, message: str, mend: str = "") -> None:
        """Note something that does not stop the import."""
        self.warnings.append(Problem(place, message, mend))

    def as_json(self) -> dict[str, Any]:
        """The report for a command, a page, or one that is kept."""
        return {
            "ok": self.ok,
            "slug": self.slug,
            "version": self.version,
            "errors": [one.as_json() for one in self.errors],
            "warnings": [one.as_json() for one in self.warnings],
            "questions": [one.as_json() for one in self.questions],
            "found": list(self.found),
            "solutions": self.solutions,
        }
