"""What reading a bundle found: errors, warnings, questions, and the contest when nothing stops it."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from bundles.reading.contest import BundleContest


@dataclass(frozen=True)
class Problem:
    """Something wrong: where ("competition.yaml, line 12: phases[0].start"), what, and what mends it."""

    place: str
    message: str
    mend: str = ""

    def as_json(self) -> dict[str, str]:
        """The three texts, as the commands print them."""
        return asdict(self)


@dataclass(frozen=True)
class Choice:
    """One possible answer: what is stored, and what is shown."""

    value: str
    label: str


@dataclass(frozen=True)
class Question:
    """Something that the bundle leaves open. Without an answer `default` is taken ("" = left out).

    `kind` says what it is about, for those who can offer more choices from what the site has: "date_order",
    "quota", "file", "program", "task", "queue" or "labels".
    """

    key: str
    text: str
    choices: tuple[Choice, ...] = ()
    default: str = ""
    kind: str = ""

    def as_json(self) -> dict[str, Any]:
        """The question for a form that lives longer than the reading."""
        return asdict(self)


@dataclass
class BundleReport:
    """All that was found. `contest` is None when there are errors. Its files live until `close()`.

    Use it in a `with` statement, so that the unpacked bundle is removed.
    """

    workspace: Path
    version: str = ""
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    contest: BundleContest | None = None

    @property
    def ok(self) -> bool:
        """Whether the bundle can be imported."""
        return self.contest is not None and not self.errors

    def as_json(self) -> dict[str, Any]:
        """Everything but the contest, for a page, a command or a stored report."""
        return {
            "ok": self.ok,
            "version": self.version,
            "errors": [one.as_json() for one in self.errors],
            "warnings": [one.as_json() for one in self.warnings],
            "questions": [one.as_json() for one in self.questions],
            "found": list(self.found),
        }

    def close(self) -> None:
        """Remove the unpacked bundle."""
        shutil.rmtree(self.workspace, ignore_errors=True)

    def __enter__(self) -> BundleReport:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
