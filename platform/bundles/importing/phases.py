"""Rounds, phases and tasks of a bundle as rows."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.utils.text import slugify

from accounts.refusals import Refused
from bundles.importing.keeping import Keeper, free_dataset_slug
from bundles.importing.report import ImportReport
from bundles.reading.contest import BundleContest, PhaseSource, TaskSource
from competitions.models import Competition, Phase, PhaseFile, Program, Round, Task
from competitions.protocol_check import dates_and_parent
from datasets.models import Dataset, DatasetVersion
from submissions.policy import usable_classes

_LONGEST_NAME = 80


@dataclass
class PhaseMaker:
    """Makes the phases of one bundle: `prepare` stores their files, `save` writes the rows."""

    contest: BundleContest
    keeper: Keeper
    report: ImportReport
    versions: dict[int, DatasetVersion] = field(default_factory=dict)
    programs: dict[tuple[int, int], tuple[Program, Program | None]] = field(default_factory=dict)
    files: dict[int, list[PhaseFile]] = field(default_factory=dict)

    def prepare(self) -> None:
        """Store the files of all tasks and phases; no row is written."""
        names = _names(self.contest.tasks)
        for task in self.contest.tasks:
            self.versions[task.number] = self.keeper.version(task, names[task.number])
        for phase in self.contest.phases:
            for number in phase.tasks:
                task = self.contest.tasks[number]
                self.programs[phase.number, number] = self._programs(phase, task)
            self.files[phase.number] = [
                self.keeper.phase_file(source, kind)
                for source, kind in (
                    (phase.public_data, PhaseFile.Kind.PUBLIC_DATA),
                    (phase.starting_kit, PhaseFile.Kind.STARTING_KIT),
                )
                if source is not None
            ]

    def _programs(self, phase: PhaseSource, task: TaskSource) -> tuple[Program, Program | None]:
        scoring_image = self.keeper.images(phase.scoring_image) if phase.scoring_image else ""
        ingestion_image = self.keeper.images(phase.ingestion_image) if phase.ingestion_image else ""
        scoring = self.keeper.program(task.scoring_program, Program.Kind.SCORING, scoring_image)
        if task.ingestion_program is None:
            return scoring, None
        return scoring, self.keeper.program(task.ingestion_program, Program.Kind.INGESTION, ingestion_image)

    def save(self, competition: Competition) -> None:
        """Write all rows, inside the transaction of the import."""
        round_ = Round.objects.create(competition=competition, number=1)
        datasets = self._datasets(competition)
        made: dict[int, Phase] = {}
        for source in self.contest.phases:
            made[source.number] = self._phase(source, round_, made)
            self._tasks(source, made[source.number], competition, datasets)
            for file in self.files[source.number]:
                file.phase = made[source.number]
                file.save()
        for source in self.contest.phases:
            if source.fans_out_from is not None:
                phase = made[source.number]
                phase.fans_out_from = made[source.fans_out_from]
                phase.save(update_fields=["fans_out_from"])

    def _datasets(self, competition: Competition) -> dict[int, Dataset]:
        datasets, taken = {}, set[str]()
        for task in self.contest.tasks:
            version = self.versions[task.number]
            dataset = Dataset.objects.create(
                owner=self.keeper.organizer,
                slug=free_dataset_slug(f"{competition.slug[:50]}-{task.number + 1}", taken),
                title=task.name,
                description=task.description,
            )
            version.dataset = dataset
            version.save()
            datasets[task.number] = dataset
        return datasets

    def _phase(self, source: PhaseSource, round_: Round, made: dict[int, Phase]) -> Phase:
        contest = self.contest
        hides = source.hides_output or source.hides_prediction_output or source.hides_score_output
        phase = Phase(
            round=round_,
            number=source.number + 1,
            kind=Phase.Kind.OPEN,
            title=source.name,
            description=_description(source),
            opens_at=source.starts_at.utc,
            closes_at=source.ends_at.utc if source.ends_at else None,
            accepts={"any": "both"}.get(source.accepts, source.accepts),
            daily_quota=source.daily_quota,
            total_quota=source.total_quota,
            resource_class=self._class_of_workers(round_.competition),
            wall_seconds=source.wall_seconds,
            any_time=False,
            board=Phase.Board.HIDDEN if source.hides_board else Phase.Board.SHOWN,
            is_anonymous=contest.board_is_anonymous,
            hidden_columns=list(source.hidden_columns),
            hides_output=hides,
            hides_scores=source.hides_scores,
            shows_details=contest.shows_details,
            image=self.keeper.images(source.image or contest.image),
        )
        before = made.get(source.number - 1)
        if source.takes_over and before is not None:
            phase.parent, phase.carry_over = before, True
            for problem in dates_and_parent(phase):
                message = f"No submissions come over into {source.name}: {problem.message}"
                self.report.warn("competition.yaml: phases", message, problem.mend)
                phase.parent, phase.carry_over = None, False
        phase.save()
        return phase

    def _class_of_workers(self, competition: Competition) -> str:
        """What was answered for the bundle's queue, where the organizer may ask for such workers."""
        default = str(Phase._meta.get_field("resource_class").default)
        wanted = slugify(self.contest.queue)
        if not wanted or wanted in usable_classes(self.keeper.organizer, competition):
            return wanted or default
        raise Refused(
            f"There are no workers of the class {wanted} that this competition may ask for.",
            mend=f"Name another one for the queue, or {default}.",
        )

    def _tasks(
        self, source: PhaseSource, phase: Phase, competition: Competition, datasets: dict[int, Dataset]
    ) -> None:
        for order, number in enumerate(source.tasks):
            scoring, ingestion = self.programs[source.number, number]
            for program in (scoring, ingestion):
                if program is not None and program.pk is None:
                    program.competition = competition
                    program.save()
            Task.objects.create(
                phase=phase,
                dataset=datasets[number],
                order=order,
                scoring_program=scoring,
                ingestion_program=ingestion,
                overlaps=self.contest.tasks[number].overlaps,
                shows_input=self.contest.input_is_public,
            )


def _names(tasks: tuple[TaskSource, ...]) -> dict[int, str]:
    """The names by which submissions and boards call the tasks: those of the bundle, each once."""
    names: dict[int, str] = {}
    for task in tasks:
        plain = " ".join(task.name.replace("/", "-").split())[: _LONGEST_NAME - 5] or f"Task {task.number + 1}"
        name, number = plain, 1
        while name in names.values():
            number += 1
            name = f"{plain} ({number})"
        names[task.number] = name
    return names


def _description(source: PhaseSource) -> str:
    """The phase's description, with the data that it offers elsewhere as a list of links."""
    links = [
        f"- [{link.name.replace('[', '(').replace(']', ')')}](<{link.url.replace('>', '%3E')}>)"
        + (f": {link.description}" if link.description else "")
        for link in source.links
    ]
    return "\n\n".join(part for part in (source.description, "\n".join(links)) if part)
