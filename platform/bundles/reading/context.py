"""What both readers need: the files and answers, times, and the lists they fill on their way."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bundles.reading.contest import Moment, PageSource, PhaseSource, TaskSource
from bundles.reading.dates import ReadDate, UnreadableDate, read_date
from bundles.reading.files import BundleFiles
from bundles.reading.nodes import Notebook, Section
from bundles.reading.pages import read_page
from bundles.reading.programs import Sources
from bundles.reading.report import Choice, Question
from ingestion.budget import LONGEST_WALL_SECONDS
from ingestion.programs.places import names_submission

# As long as the columns of the database: the reader cuts with a warning, instead of the import failing.
LONGEST_TITLE = 120
LONGEST_NAME = 80
LONGEST_SUMMARY = 300
LONGEST_KEY = 64
_ORDERS = (Choice("mdy", "month, day, year"), Choice("dmy", "day, month, year"))
LABELS_QUESTION = "labels_are_readable"


@dataclass
class Context:
    """One reading of one bundle."""

    files: BundleFiles
    sources: Sources
    answers: Mapping[str, str]
    date_order: str | None = None
    images: list[str] = field(default_factory=list)
    unsayable: list[str] = field(default_factory=list)

    @property
    def notes(self) -> Notebook:
        """Where problems are written."""
        return self.files.notes

    def image(self, section: Section, key: str) -> str:
        """The name of a container image under a key, remembered among those that the bundle wants."""
        name = section.text(key, longest=200)
        if name and name not in self.images:
            self.images.append(name)
        return name

    def date(self, section: Section, key: str) -> ReadDate | None:
        """The time under a key, or None when there is none or it cannot be read (an error)."""
        value = section.get(key)
        if value is None:
            return None
        order = self.date_order or self.answers.get("date_order") or None
        try:
            found = read_date(value.text or "", order=order)
        except UnreadableDate:
            mend = "Write it like 2026-03-31 18:00:00+00:00."
            self.notes.error(value.place, f"{key} is no date: {(value.text or 'a list or mapping')[:60]}.", mend)
            return None
        if found.note:
            self.notes.warn(value.place, found.note, "Write the offset from UTC, like +02:00.")
        if found.order:
            self._tell_order(value.place, value.text or "", found)
        return found

    def _tell_order(self, place: str, written: str, found: ReadDate) -> None:
        read_as = found.moment.utc.strftime("%-d %B %Y")
        self.notes.warn(place, f"The date {written} was read as {read_as}.", "Write it like 2026-03-31.")
        if found.is_ambiguous:
            text = f"Dates like {written} can be read in two ways. How are they meant?"
            self.notes.ask(Question("date_order", text, _ORDERS, default="mdy", kind="date_order"))

    def moment(self, section: Section, key: str) -> Moment | None:
        """As `date`, the time alone."""
        found = self.date(section, key)
        return None if found is None else found.moment

    def summary(self, top: Section) -> str:
        """The description on one line, as long as it stands on cards."""
        text = " ".join(top.text("description").split())
        if len(text) <= LONGEST_SUMMARY:
            return text
        message = f"The description is longer than {LONGEST_SUMMARY} characters; the summary is its beginning."
        self.notes.warn(top.place_of("description"), message, "Say the rest on the overview page.")
        return text[: LONGEST_SUMMARY - 1].rstrip() + "…"

    def logo(self, section: Section) -> Path | None:
        """The file of the logo under `image`; an error when it is named and missing. Addresses are not fetched."""
        value = section.get("image")
        if value is None:
            return None
        if re.match(r"(?i)^https?://", value.text or ""):
            message = f"The logo is at {value.text}; nothing is fetched from other hosts, so it was left out."
            self.notes.warn(value.place, message, "Put the picture into the bundle.")
            return None
        path = self.files.find(value.text or "", value.place)
        if path is None or not path.is_file():
            written = value.text or "image"
            self.notes.error(value.place, f"The logo {written} is not in the bundle.", self.files.similar(written))
            return None
        return path

    def page(self, section: Section, key: str, *, title: str, role: str = "") -> PageSource | None:
        """The page whose file a key names; None when there is none."""
        value = section.get(key)
        if value is None or not value.text:
            return None
        return read_page(self.files, value.text, value.place, title=title, role=role)

    def wall_seconds(self, section: Section, default: float) -> float:
        """The limit of execution in seconds; 0 and nothing are the default of the version."""
        value = section.get("execution_time_limit")
        if value is None:
            return default
        try:
            seconds = float(value.text or "")
        except ValueError:
            seconds = -1.0
        if not 0 < seconds <= LONGEST_WALL_SECONDS:
            taken = LONGEST_WALL_SECONDS if seconds > LONGEST_WALL_SECONDS else default
            self.notes.warn(
                value.place, f"execution_time_limit is no number of seconds that can be used; {taken:g} was taken."
            )
            return taken
        return max(1.0, seconds)

    def labels_in_reach(self, tasks: list[TaskSource], *, hidden_is_mounted: bool) -> tuple[str, ...]:
        """Where participants' code would run beside the labels: an error, unless the owner allowed it.

        `$hidden` is the labels for CodaLab's ingestion programs; one that is given participants' code too runs
        it in its own container. Codabench mounts the labels for scoring alone.
        """
        found = [
            (
                task.ingestion_program.place,
                f"The ingestion program {task.ingestion_program.name} of {task.name} is given both "
                "$hidden, the labels, and participants' code.",
            )
            for task in tasks
            if hidden_is_mounted
            and task.reference_data is not None
            and task.ingestion_program is not None
            and "$hidden" in task.ingestion_program.command
            and names_submission(task.ingestion_program.command)
        ]
        if not found:
            return ()
        text = "Labels would be readable by participants' code. Import all the same, and say so on the front page?"
        choices = (Choice("no", "No"), Choice("yes", "Yes, and the front page says so"))
        self.notes.ask(Question(LABELS_QUESTION, text, choices, default="no", kind="labels"))
        if self.answers.get(LABELS_QUESTION) == "yes":
            for place, sentence in found:
                self.notes.warn(place, f"Labels are readable by participants' code: {sentence}")
            return tuple(sentence for _, sentence in found)
        for place, sentence in found:
            self.notes.error(
                place,
                f"Labels would be readable by participants' code: {sentence}",
                "Let the scoring program read the labels from $input/ref, or allow it on the page of the import.",
            )
        return ()

    def warn_of_open_labels(self, tasks: Sequence[TaskSource], phases: Sequence[PhaseSource]) -> None:
        """Warn where the very files that are labels are also offered to participants."""
        labels = {task.reference_data.path for task in tasks if task.reference_data} - {None}
        for phase in phases:
            for file, what in ((phase.public_data, "public data"), (phase.starting_kit, "starting kit")):
                if file is not None and file.path in labels:
                    message = f"{file.name} is both {what} and reference data: participants can read these labels."
                    self.notes.warn(file.place, message, "Name other files here, if labels should stay hidden.")

    def in_order(self, phase: PhaseSource, place: str) -> PhaseSource:
        """The phase, without its end where that is no later than its begin."""
        if phase.ends_at is None or phase.ends_at.utc > phase.starts_at.utc:
            return phase
        self.notes.warn(
            place,
            f"The phase {phase.name} ends at {phase.ends_at.utc:%Y-%m-%d %H:%M} UTC, and begins at "
            f"{phase.starts_at.utc:%Y-%m-%d %H:%M} UTC. The end was left out: the phase would never be open.",
            "Correct the two dates, here or in the phase's settings.",
        )
        return dataclasses.replace(phase, ends_at=None)
