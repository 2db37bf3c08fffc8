"""Datasets as their pages show them: findings in the order of their weight."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SEVERITIES = {"error": "bad", "warning": "gold", "note": "live"}


@dataclass(frozen=True)
class FindingLine:
    """One line of a report: how grave it is, where it was found, what it is and what mends it."""

    severity: str
    place: str
    sentence: str
    mend: str

    @property
    def style(self) -> str:
        """The colour of its severity; the word stands beside it."""
        return SEVERITIES.get(self.severity, "")


def finding_lines(report: Mapping[str, Any]) -> list[FindingLine]:
    """Every problem and finding of a report once, errors first."""
    lines = [
        FindingLine(severity, str(problem["place"]), str(problem["message"]), str(problem.get("mend") or ""))
        for severity, key in (("error", "errors"), ("warning", "warnings"))
        for problem in report.get(key) or []
    ]
    lines += lines_of_findings(report.get("findings") or [])
    order = list(SEVERITIES)
    return sorted(dict.fromkeys(lines), key=lambda line: order.index(line.severity))


def lines_of_findings(findings: list[Mapping[str, Any]]) -> list[FindingLine]:
    """The findings that a version keeps, as lines."""
    return [
        FindingLine(
            severity if (severity := str(found.get("severity"))) in SEVERITIES else "note",
            str(found.get("place") or ""),
            str(found.get("sentence") or ""),
            str(found.get("mend") or ""),
        )
        for found in findings
    ]
