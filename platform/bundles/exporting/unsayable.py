"""What a competition has and a bundle of version 2 has no words for, a sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from competitions.models import Column, ColumnBoard, Competition, Phase, Question, Task

# What a column is computed as, in the words of version 2.
COMPUTATIONS: dict[str, str] = {
    Column.Computation.AVG: "avg",
    Column.Computation.SUM: "sum",
    Column.Computation.MIN: "min",
    Column.Computation.MAX: "max",
    Column.Computation.MEAN_RANK: "avg_rank",
}


def unsayable(
    contest: Competition,
    phases: Sequence[Phase],
    tasks: Sequence[Task],
    boards: Sequence[ColumnBoard],
    questions: Sequence[Question],
) -> list[str]:
    """The sentences, in the order of the competition; the columns of the boards are to be prefetched."""
    return [
        *_of_contest(contest, phases),
        *_of_phases(phases),
        *_of_tasks(tasks),
        *_of_boards(boards),
        *_of_questions(questions),
    ]


def _of_contest(contest: Competition, phases: Sequence[Phase]) -> Iterator[str]:
    registration = Competition.Registration
    if contest.registration in (registration.ALLOW_LIST, registration.CLOSED):
        yield "Who may join: a bundle lets everybody in, or everybody whom an organizer approves."
    if contest.visibility != Competition.Visibility.PUBLIC:
        yield "That it is not public: bundles say nothing of it."
    if contest.max_team_size > 1:
        yield "Teams, and when they close."
    if contest.logo_id is None:
        yield "That it has no logo: version 2 wants one, and an empty picture stands in."
    if contest.labels_are_readable:
        yield "That labels are readable by participants' code: the import asks again."
    if any(phase.prizes.exists() for phase in phases):
        yield "Prizes of places; the reward is one line."
    texts = [contest.overview, contest.evaluation, contest.rules, *contest.pages.values_list("body", flat=True)]
    names = [image.name for image in contest.images.all() if image.pk != contest.logo_id]
    if any(name not in "\n".join(texts) for name in names):
        yield "Pictures that no page shows."


def _of_phases(phases: Sequence[Phase]) -> Iterator[str]:
    for name, label in (("image", "images"), ("shows_details", "choices whether details are shown")):
        if len({getattr(phase, name) for phase in phases}) > 1:
            yield f"Different {label} in the phases: that of the first one is said."
    if len({phase.round_id for phase in phases}) > 1:
        yield "Rounds: the phases stand in one row."
    for phase in phases:
        said = ", ".join(_of_phase(phase, phases))
        if said:
            yield f"Of the phase {phase.title}: {said}."


def _of_phase(phase: Phase, phases: Sequence[Phase]) -> Iterator[str]:
    if phase.kind != Phase.Kind.OPEN:
        yield "its kind"
    if phase.accepts != Phase.Accepts.BOTH:
        yield f"that it takes {phase.get_accepts_display()}"
    if phase.closes_at is None and phase.pk != phases[-1].pk:
        yield "that it has no end"
    if phase.opens_at.microsecond or (phase.closes_at and phase.closes_at.microsecond):
        yield "fractions of a second"
    for name, text in _FLAGS.items():
        if getattr(phase, name):
            yield text
    if phase.board != Phase.Board.SHOWN:
        yield "that its board is not shown"
    if phase.cores or phase.memory_bytes or phase.resource_class != "default" or phase.trusted_workers_only:
        yield "which workers it needs"
    if 0 in (phase.daily_quota, phase.total_quota) and phase.daily_quota != phase.total_quota:
        yield "one quota of 0 beside another: both are 0, as nothing is sent there"
    if phase.parent_id is not None and not _follows_directly(phase, phases):
        yield "the phase from which submissions come over, which is not the one before"


_FLAGS = {
    "is_anonymous": "the board without names",
    "hidden_columns": "hidden columns",
    "hides_scores": "hidden scores",
    "scores_failed_ingestion": "scoring after a failed ingestion",
    "fans_out_from_id": "that it gets the submissions of another phase",
}


def _follows_directly(phase: Phase, phases: Sequence[Phase]) -> bool:
    place = [one.pk for one in phases].index(phase.pk)
    return place > 0 and phases[place - 1].pk == phase.parent_id


def takes_over(phase: Phase, phases: Sequence[Phase]) -> bool:
    """Whether a bundle can say that submissions come over into this phase."""
    return phase.carry_over and _follows_directly(phase, phases)


def _of_tasks(tasks: Sequence[Task]) -> Iterator[str]:
    if len({task.shows_input for task in tasks}) > 1:
        yield "That the input data of some tasks alone may be downloaded: all are kept back."
    if any(task.wall_seconds for task in tasks):
        yield "Limits of time for single tasks."
    if any(task.alias for task in tasks):
        yield "Aliases of tasks."
    programs = {program for task in tasks for program in (task.scoring_program, task.ingestion_program) if program}
    if any(program.image for program in programs):
        yield "Images of single programs."
    if any(program.layout != 2 for program in programs):
        yield "Programs that use the places of CodaLab 1.5: here they run in those of Codabench."


def _of_boards(boards: Sequence[ColumnBoard]) -> Iterator[str]:
    if len(boards) > 1:
        yield "More than one leaderboard, for Codabench: it shows the first alone."
    for board in boards:
        for column in board.columns.all():
            said = []
            if column.computation and column.computation not in COMPUTATIONS:
                said.append(f"that it is {column.get_computation_display()}")
            elif column.weights:
                said.append("its weights")
            if column.group:
                said.append(f"its group {column.group}")
            if said:
                yield f"Of the column {column.title}: {' and '.join(said)}."


def _of_questions(questions: Sequence[Question]) -> Iterator[str]:
    sayable = (Question.Kind.TEXT, Question.Kind.CHOICE, Question.Kind.YES_NO)
    for question in questions:
        if question.kind not in sayable:
            yield f"That the answer to “{question.text}” is {question.get_kind_display()}: it is a text."
        if question.help:
            yield f"The help to “{question.text}”."
