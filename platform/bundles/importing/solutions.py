"""The solutions of a bundle as reference entries: shown beside the boards' places, and never taking one."""

from __future__ import annotations

from pathlib import Path

from accounts.models import User
from accounts.refusals import Refused
from bundles.importing.report import ImportReport
from bundles.reading.contest import BundleContest, SolutionSource
from competitions.models import Competition, Phase
from submissions.reference import enter_reference

PLACE = "competition.yaml: solutions"


def run_solutions(
    contest: BundleContest, competition: Competition, report: ImportReport, *, organizer: User, scratch: Path
) -> None:
    """Enter every solution in the first phase that has all its tasks; what cannot be is a warning."""
    phases = list(competition.phases())
    for solution in contest.solutions:
        phase = _phase_for(solution, contest, phases)
        if phase is None:
            report.warn(PLACE, f"No phase has all tasks of the solution {solution.name}; it was left out.")
            continue
        if solution.file.path is None:
            report.warn(PLACE, f"The solution {solution.name} is not in the bundle; it was left out.")
            continue
        orders = [contest.phases[phase.number - 1].tasks.index(number) for number in solution.tasks]
        try:
            enter_reference(
                phase, solution.file.as_zip(scratch), name=solution.name, by=organizer, orders=sorted(orders)
            )
        except Refused as problem:
            report.warn(PLACE, f"The solution {solution.name} was left out. {problem.message}", problem.mend)


def _phase_for(solution: SolutionSource, contest: BundleContest, phases: list[Phase]) -> Phase | None:
    for source, phase in zip(contest.phases, phases, strict=True):
        if solution.tasks and set(solution.tasks) <= set(source.tasks):
            return phase
    return None
