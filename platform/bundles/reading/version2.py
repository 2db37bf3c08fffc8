"""Reading competition.yaml of version 2 (Codabench) into the normal form."""

from __future__ import annotations

import dataclasses
import datetime as dt
import re

from bundles.reading import keys
from bundles.reading.boards2 import read_boards
from bundles.reading.contest import (
    BundleContest,
    Moment,
    PageSource,
    PhaseSource,
    QuestionSource,
    SolutionSource,
    TaskSource,
)
from bundles.reading.context import LONGEST_KEY, LONGEST_NAME, LONGEST_TITLE, Context
from bundles.reading.nodes import Section, whole_number
from bundles.reading.pages import role_of
from bundles.reading.report import Choice, Question

WALL_SECONDS = 600.0
_EMAIL = re.compile(r"^[^@\s]+@[^@\s]+\.[^@\s]+$")
_QUOTA_CHOICES = (
    Choice("none", "nothing is sent there directly"),
    Choice("unlimited", "as many as entrants like"),
)
_KINDS = {"checkbox": "yes_no", "text": "text", "select": "choice"}


class Version2:
    """One bundle of version 2. Every step notes its problems and goes on."""

    def __init__(self, top: Section, context: Context) -> None:
        self.top = top
        self.context = context
        self.notes = context.notes
        self.tasks: list[TaskSource] = []
        self.numbers: dict[int, int] = {}  # of tasks that can be used, by their index in the YAML
        self.indexes: set[int] = set()  # of all tasks

    def read(self) -> BundleContest | None:
        """The contest, or None when there are errors."""
        top, context = self.top, self.context
        top.check_keys(keys.TOP_2, keys.TOP_2_IGNORED)
        title = top.text("title", required=True, longest=LONGEST_TITLE)
        for key in ("image", "terms"):
            if top.get(key) is None:
                top.missing(key)
        logo = context.logo(top)
        terms = context.page(top, "terms", title="Terms", role="terms")
        pages = self._pages()
        image = context.image(top, "docker_image")
        self._tasks()
        solutions = self._solutions()
        phases = self._phases()
        boards = read_boards(top, context)
        questions = self._questions()
        self._say_unsayable()
        labels = context.labels_in_reach(self.tasks, hidden_is_mounted=False)
        context.warn_of_open_labels(self.tasks, phases)
        if self.notes.report.errors:
            return None
        details = top.boolean("enable_detailed_results", False)
        return BundleContest(
            version="2",
            title=title,
            summary=context.summary(top),
            logo=logo,
            reward=top.text("reward", longest=256),
            contact_email=self._email(),
            approves_registration=not top.boolean("registration_auto_approve", False),
            terms=terms,
            pages=pages,
            image=image,
            images=tuple(context.images),
            queue=self._queue(),
            programs_are_public=top.boolean("make_programs_available", False),
            input_is_public=top.boolean("make_input_data_available", False),
            shows_details=details and top.boolean("show_detailed_results_in_submission_panel", True),
            shows_details_on_board=details and top.boolean("show_detailed_results_in_leaderboard", True),
            entrants_may_publish=top.boolean("can_participants_make_submissions_public", True),
            boards=boards,
            questions=questions,
            tasks=tuple(self.tasks),
            phases=phases,
            solutions=solutions,
            labels_in_reach=labels,
            unsayable=tuple(context.unsayable),
        )

    def _email(self) -> str:
        email = self.top.text("contact_email", longest=254)
        if email and not _EMAIL.match(email):
            self.notes.warn(self.top.place_of("contact_email"), f"{email} is no e-mail address and was left out.")
            return ""
        return email

    def _queue(self) -> str:
        """What the organizer answered for the queue; the default otherwise, with a warning."""
        wanted = self.top.text("queue")
        if not wanted:
            return ""
        answer = self.context.answers.get(f"queue:{wanted}", "")
        text = (
            f"The bundle asks for the queue {wanted}, which is unknown here. Which class of workers shall run it?"
        )
        self.notes.ask(Question(f"queue:{wanted}", text, kind="queue"))
        if not answer:
            place = self.top.place_of("queue")
            self.notes.warn(place, f"The queue {wanted} is unknown here; the default one was taken.")
        return answer

    def _say_unsayable(self) -> None:
        top, unsayable = self.top, self.context.unsayable
        if top.text("competition_type", "competition").lower() == "benchmark":
            unsayable.append("competition_type: a benchmark runs as any competition does.")
        if not top.boolean("auto_run_submissions", True):
            unsayable.append("auto_run_submissions: submissions run as they arrive; pause the queue to hold them.")
        if top.boolean("show_detailed_results_in_leaderboard", False):
            unsayable.append("show_detailed_results_in_leaderboard: entrants see the details of their own runs.")
        if not top.boolean("forum_enabled", True):
            unsayable.append("forum_enabled: there is no forum to switch off.")

    def _pages(self) -> tuple[PageSource, ...]:
        pages = []
        for section in self.top.sections("pages"):
            section.check_keys(keys.PAGE_2, keys.PAGE_2_IGNORED)
            title = section.text("title", required=True, longest=LONGEST_NAME)
            if section.get("file") is None:
                section.missing("file")
            page = self.context.page(section, "file", title=title, role=role_of(title))
            if page is not None:
                pages.append(page)
        return tuple(pages)

    def _tasks(self) -> None:
        for section in self.top.sections("tasks", required=True):
            section.check_keys(keys.TASK_2, keys.TASK_2_IGNORED)
            index = self._index(section)
            if index in self.indexes:
                self.notes.error(
                    section.place_of("index"), f"The index {index} is that of two tasks.", "Change one."
                )
                index = None
            if index is not None:
                self.indexes.add(index)
            task = self._task(section, len(self.tasks))
            if index is not None and task is not None:
                self.numbers[index] = len(self.tasks)
                self.tasks.append(task)

    def _index(self, section: Section) -> int | None:
        value = section.get("index")
        if value is None:
            section.missing("index")
            return None
        number = whole_number(value.text)
        if number is None:
            self.notes.error(value.place, "index is no whole number.", "Count from 0.")
        return number

    def _task(self, section: Section, number: int) -> TaskSource | None:
        key = section.text("key")
        if key:
            message = f"The task is named by the id {key} of another server, which is unknown here."
            if section.get("scoring_program") is None:
                mend = "Write its name and its programs here, and put their files into the bundle."
                self.notes.error(section.place_of("key"), message, mend)
                return None
            self.notes.warn(section.place_of("key"), f"{message} It was read from its other lines.")
        name = section.text("name", required=True, longest=LONGEST_TITLE)
        if section.get("scoring_program") is None:
            section.missing("scoring_program", what=f" in the task {name or number}")
        sources = self.context.sources
        scoring = sources.program(section.get("scoring_program"), "scoring program")
        ingestion = sources.program(section.get("ingestion_program"), "ingestion program")
        overlaps = section.boolean("ingestion_only_during_scoring", False)
        if overlaps and section.get("ingestion_program") is None:
            place = section.place_of("ingestion_only_during_scoring")
            self.notes.warn(place, "There is no ingestion program that could run during scoring.")
            overlaps = False
        input_data = sources.data(section.get("input_data"), "input data")
        reference_data = sources.data(section.get("reference_data"), "reference data")
        if scoring is None:
            return None
        return TaskSource(
            number=number,
            name=name,
            description=section.text("description"),
            scoring_program=scoring,
            ingestion_program=ingestion,
            input_data=input_data,
            reference_data=reference_data,
            overlaps=overlaps,
        )

    def _chosen(self, section: Section, *, required: bool) -> tuple[int, ...]:
        """The tasks that a list of indexes names, by their places in the contest."""
        value = section.get("tasks")
        if value is None:
            if required:
                section.missing("tasks")
            return ()
        chosen = []
        for written in value.texts():
            index = whole_number(written)
            if index is not None and index in self.indexes:
                if index in self.numbers and self.numbers[index] not in chosen:
                    chosen.append(self.numbers[index])
                continue
            there = ", ".join(str(one) for one in sorted(self.indexes)) or "none"
            message = f"There is no task with the index {written}."
            self.notes.error(value.place, message, f"The indexes of the tasks are: {there}.")
        if required and not value.texts():
            self.notes.error(value.place, "The list of tasks is empty.", "Write the index of at least one task.")
        return tuple(chosen)

    def _solutions(self) -> tuple[SolutionSource, ...]:
        found = []
        for number, section in enumerate(self.top.sections("solutions")):
            section.check_keys(keys.SOLUTION_2, keys.SOLUTION_2_IGNORED)
            tasks = self._chosen(section, required=True)
            name = "path" if section.get("path") is not None else "key"
            if section.get(name) is None:
                section.missing("path")
            file = self.context.sources.data(section.get(name), "solution")
            if file is not None:
                title = section.text("name", f"Solution {number + 1}", longest=LONGEST_TITLE)
                description = section.text("description")
                found.append(SolutionSource(name=title, description=description, file=file, tasks=tasks))
        return tuple(found)

    def _phases(self) -> tuple[PhaseSource, ...]:
        sections = self.top.sections("phases", required=True)
        sections.sort(key=lambda section: section.integer("index", 0))
        phases = []
        for number, section in enumerate(sections):
            section.check_keys(keys.PHASE_2, keys.PHASE_2_IGNORED)
            phase = self._phase(section, number)
            if phase is not None:
                phases.append((section, phase))
        return self._in_order(phases)

    def _phase(self, section: Section, number: int) -> PhaseSource | None:
        name = section.text("name", required=True, longest=LONGEST_NAME)
        if section.get("start") is None:
            section.missing("start")
        starts_at = self.context.moment(section, "start")
        ends = self.context.date(section, "end")
        ends_at = None if ends is None else ends.moment
        tasks = self._chosen(section, required=True)
        daily, total = self._quotas(section, number)
        takes_over = section.boolean("auto_migrate_to_this_phase", False)
        if takes_over and number == 0:
            place = section.place_of("auto_migrate_to_this_phase")
            self.notes.warn(place, "Nothing can come over into the first phase; the key was left out.")
            takes_over = False
        if section.boolean("accepts_only_result_submissions", False):
            self.context.unsayable.append(
                f"accepts_only_result_submissions of {name}: its zip shows what a submission is."
            )
        sources = self.context.sources
        public_data = sources.data(section.get("public_data"), "public data")
        starting_kit = sources.data(section.get("starting_kit"), "starting kit")
        if starts_at is None:
            return None
        if ends is not None and ends.is_bare and ends.moment.utc == starts_at.utc:
            self.notes.warn(
                section.place_of("end"), f"The phase {name} ends on the day it begins; it lasts that day."
            )
            ends_at = Moment(utc=ends.moment.utc + dt.timedelta(days=1), zone=ends.moment.zone)
        return PhaseSource(
            number=number,
            name=name,
            description=section.text("description"),
            starts_at=starts_at,
            ends_at=ends_at,
            tasks=tasks,
            daily_quota=daily,
            total_quota=total,
            wall_seconds=self.context.wall_seconds(section, WALL_SECONDS),
            takes_over=takes_over,
            hides_output=section.boolean("hide_output", False),
            hides_prediction_output=section.boolean("hide_prediction_output", False),
            hides_score_output=section.boolean("hide_score_output", False),
            public_data=public_data,
            starting_kit=starting_kit,
        )

    def _quotas(self, section: Section, number: int) -> tuple[int | None, int | None]:
        """Submissions a day and in all. One of them 0 or empty is unlimited; both 0 are asked for: none."""
        daily = self._quota(section, "max_submissions_per_day", 5)
        total = self._quota(section, "max_submissions", 100)
        if (daily, total) != (0, 0):
            return daily or None, total or None
        key = f"quota:phases[{number}]"
        place = section.place_of("max_submissions")
        name = section.text("name")
        text = f"Both quotas of the phase {name} are 0, which Codabench takes as unlimited. What is meant?"
        self.notes.ask(Question(key, text, _QUOTA_CHOICES, default="none", kind="quota"))
        if self.context.answers.get(key) == "unlimited":
            return None, None
        self.notes.warn(
            place,
            f"Both quotas of the phase {name} are 0: nothing is sent there. Codabench sets no limit then.",
            "Leave both empty where entrants may send as many as they like.",
        )
        return 0, 0

    def _quota(self, section: Section, key: str, default: int) -> int | None:
        """A quota as written: the default where the key is missing, None where it is empty."""
        if key in section.values and section.get(key) is None:
            return None
        return section.integer(key, default)

    def _in_order(self, found: list[tuple[Section, PhaseSource]]) -> tuple[PhaseSource, ...]:
        """The phases with their ends: an end that is missing before the last is the start of the next."""
        phases: list[PhaseSource] = []
        for number, (section, phase) in enumerate(found):
            after = found[number + 1] if number + 1 < len(found) else None
            if after is not None and phase.ends_at is None:
                phase = dataclasses.replace(phase, ends_at=after[1].starts_at)
                message = f"The phase {phase.name} has no end; it ends when {after[1].name} begins."
                self.notes.warn(section.place_of("end"), message)
            elif after is not None and phase.ends_at and after[1].starts_at.utc < phase.ends_at.utc:
                message = f"The phases {phase.name} and {after[1].name} overlap; both take submissions then."
                self.notes.warn(
                    after[0].place_of("start"), message, "Let a phase begin when the one before ended."
                )
            phases.append(self.context.in_order(phase, section.place_of("end")))
        return tuple(phases)

    def _questions(self) -> tuple[QuestionSource, ...]:
        sheet = self.top.section("fact_sheet")
        found: list[QuestionSource] = []
        for name, value in (sheet.values if sheet else {}).items():
            section = value.section()
            if section is None:
                self.notes.error(
                    value.place, f"The question {name} must be a mapping.", "Write key, type and title."
                )
                continue
            section.check_keys(keys.FACT_2)
            found.append(self._question(name, section))
        return tuple(found)

    def _question(self, name: str, section: Section) -> QuestionSource:
        written = section.text("type", "text").lower()
        choices = section.values["selection"].texts() if "selection" in section.values else []
        kind = _KINDS.get(written, "text")
        if written not in _KINDS:
            place = section.place_of("type")
            self.notes.warn(
                place, f"The type {written} is unknown; it is a text.", "Write checkbox, text or select."
            )
        if kind == "choice" and not choices:
            self.notes.warn(section.place_of("selection"), f"The question {name} has no choices; it is a text.")
            kind = "text"
        return QuestionSource(
            key=section.text("key", name, longest=LONGEST_KEY),
            text=section.text("title", name, longest=300),
            kind=kind,
            choices=tuple(dict.fromkeys(choices)) if kind == "choice" else (),
            is_required=section.boolean("is_required", False),
            is_on_board=section.boolean("is_on_leaderboard", False),
        )
