"""Files that organizers offer beside datasets: public data, starting kits, and programs where they say so."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from competitions.models import Competition, Phase, PhaseFile, Program, Task
from competitions.policy import Viewer


@dataclass(frozen=True)
class Offered:
    """What a phase offers one person: its files, and the programs that meet submissions there."""

    phase: Phase
    files: tuple[PhaseFile, ...]
    programs: tuple[Program, ...]


def may_have_file(viewer: Viewer, file: PhaseFile, now: dt.datetime) -> bool:
    """Organizers at any time, participants once the phase has begun."""
    return viewer.is_organizer or (viewer.takes_part and file.phase.has_begun(now))


def may_have_program(viewer: Viewer, program: Program, now: dt.datetime) -> bool:
    """Who sees what is hidden; participants once a phase with it has begun, where programs are published."""
    if viewer.sees_hidden:
        return True
    if not (viewer.takes_part and program.competition.programs_are_public):
        return False
    tasks = program.scored_tasks.all() if program.kind == Program.Kind.SCORING else program.fed_tasks.all()
    return tasks.filter(phase__opens_at__lte=now).exists()


def offered(viewer: Viewer, competition: Competition, phases: Sequence[Phase], now: dt.datetime) -> list[Offered]:
    """What each of the phases offers the viewer, where it offers anything; three queries at most."""
    if not (viewer.is_organizer or viewer.takes_part):
        return []
    by_id = {phase.pk: phase for phase in phases}
    files: dict[int, list[PhaseFile]] = {}
    for file in PhaseFile.objects.filter(phase__in=by_id):
        file.phase = by_id[file.phase_id]
        if may_have_file(viewer, file, now):
            files.setdefault(file.phase_id, []).append(file)
    programs = _programs(viewer, competition, phases, now)
    found = [Offered(phase, tuple(files.get(phase.pk, ())), programs.get(phase.pk, ())) for phase in phases]
    return [one for one in found if one.files or one.programs]


def _programs(
    viewer: Viewer, competition: Competition, phases: Sequence[Phase], now: dt.datetime
) -> dict[int, tuple[Program, ...]]:
    if not (viewer.sees_hidden or competition.programs_are_public):
        return {}
    known = {program.pk: program for program in competition.programs.all()}
    if not known:
        return {}
    found: dict[int, dict[int, Program]] = {}
    tasks = Task.objects.filter(phase__in=phases).order_by("order", "pk")
    used = tasks.values_list("phase", "ingestion_program", "scoring_program")
    begun = {phase.pk for phase in phases if viewer.sees_hidden or phase.has_begun(now)}
    for phase_id, *ids in used:
        for pk in ids:
            if pk is not None and phase_id in begun:
                found.setdefault(phase_id, {})[pk] = known[pk]
    return {phase_id: tuple(programs.values()) for phase_id, programs in found.items()}
