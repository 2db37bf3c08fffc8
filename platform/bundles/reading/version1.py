"""Reading competition.yaml of version 1.5 (CodaLab) into the normal form."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from bundles.reading import keys
from bundles.reading.boards1 import read_boards
from bundles.reading.contest import (
    Accepts,
    BundleContest,
    DataLink,
    Moment,
    PageSource,
    PhaseSource,
    Rule,
    TaskSource,
)
from bundles.reading.context import LONGEST_NAME, LONGEST_TITLE, Context
from bundles.reading.nodes import Section, whole_number
from bundles.reading.pages import role_of

WALL_SECONDS = 300.0
TOTAL_QUOTA, DAILY_QUOTA = 100, 999
_TITLES = {"overview": "Overview", "evaluation": "Evaluation", "terms": "Terms and conditions", "data": "Data"}
_MIB = 1 << 20


@dataclass
class _Found:
    """A phase on its way: its section, number in the YAML, and the number of its parent."""

    section: Section
    written: int
    parent: int | None
    is_parent: bool
    never_ends: bool
    starts_at: Moment


class Version1:
    """One bundle of version 1.5. Every step notes its problems and goes on."""

    def __init__(self, top: Section, context: Context) -> None:
        self.top = top
        self.context = context
        self.notes = context.notes
        self.tasks: list[TaskSource] = []

    def read(self) -> BundleContest | None:
        """The contest, or None when there are errors."""
        top, context = self.top, self.context
        top.check_keys(keys.TOP_1, keys.TOP_1_IGNORED)
        title = top.text("title", required=True, longest=LONGEST_TITLE)
        logo = context.logo(top)
        terms, pages = self._pages()
        image = context.image(top, "competition_docker_image")
        starts_at, ends_at = context.moment(top, "start_date"), context.moment(top, "end_date")
        sections = self._phase_sections()
        found = self._found(sections)
        phases = self._phases(found, ends_at)
        boards = read_boards(top, context, self._rule(sections))
        phases = self._with_known_columns(phases, {column.key for board in boards for column in board.columns})
        self._say_unsayable()
        labels = context.labels_in_reach(self.tasks, hidden_is_mounted=True)
        context.warn_of_open_labels(self.tasks, phases)
        if self.notes.report.errors:
            return None
        details = top.boolean("enable_detailed_results", False)
        return BundleContest(
            version="1.5",
            title=title,
            summary=context.summary(top),
            logo=logo,
            reward=top.text("reward", longest=256),
            approves_registration=top.boolean("has_registration", False),
            terms=terms,
            pages=pages,
            image=image,
            images=tuple(context.images),
            shows_details=details,
            shows_details_on_board=details,
            board_is_anonymous=top.boolean("anonymous_leaderboard", False),
            allows_teams=top.boolean("allow_teams", False) or top.boolean("enable_teams", False),
            entrants_may_publish=top.boolean("allow_public_submissions", False),
            boards=boards,
            tasks=tuple(self.tasks),
            phases=phases,
            starts_at=starts_at,
            ends_at=ends_at,
            labels_in_reach=labels,
            unsayable=tuple(context.unsayable),
        )

    def _pages(self) -> tuple[PageSource | None, tuple[PageSource, ...]]:
        """The terms, and all other pages in the order of the YAML."""
        html = self.top.section("html")
        if html is None:
            self.notes.warn(
                self.top.place_of("html"), "There are no pages.", "Write html with overview and terms."
            )
            return None, ()
        terms, pages = None, []
        for name in html.values:
            role = role_of(name.replace("_", " "))
            title = _TITLES.get(role) or name.replace("_", " ").strip()[:LONGEST_NAME]
            if html.get(name) is None:
                self.notes.warn(html.place_of(name), f"The page {name} names no file and was left out.")
                continue
            page = self.context.page(html, name, title=title[:1].upper() + title[1:], role=role)
            if page is not None and role == "terms":
                terms = page
            elif page is not None:
                pages.append(page)
        if "terms" not in {role_of(name.replace("_", " ")) for name in html.values}:
            self.notes.warn(html.place, "There are no terms.", "Write terms below html, with the name of a file.")
        return terms, tuple(pages)

    def _rule(self, sections: list[Section]) -> Rule:
        """Which submissions stand on the boards, from the force and disallow flags."""
        best = [one for one in sections if one.boolean("force_best_submission_to_leaderboard", False)]
        if best:
            if len(best) < len(sections):
                place = best[0].place_of("force_best_submission_to_leaderboard")
                self.notes.warn(
                    place, "The best submission stands on the boards in all phases: the rule is one for all."
                )
            return Rule.FORCE_BEST
        if self.top.boolean("force_submission_to_leaderboard", False):
            return Rule.FORCE_LAST
        return Rule.ADD if self.top.boolean("disallow_leaderboard_modifying", False) else Rule.ADD_AND_DELETE

    def _say_unsayable(self) -> None:
        top, say = self.top, self.context.unsayable.append
        admins = top.get("admin_names")
        if admins is not None:
            say(f"admin_names: {', '.join(admins.texts())} are names of another site; invite the organizers here.")
        force, disallow = "force_submission_to_leaderboard", "disallow_leaderboard_modifying"
        if top.boolean(force, False) and not top.boolean(disallow, False):
            say(f"{disallow} is false: the latest submission stands on the boards, entrants choose no other one.")
        for key, sentence in _UNSAYABLE.items():
            if top.boolean(key, False):
                say(f"{key}: {sentence}")
        if top.get("url_redirect") is not None:
            say("url_redirect: pages lead to no other site.")
        if top.get("upper_bound_max_submission_size") is not None:
            say("upper_bound_max_submission_size: the limit of this installation holds.")

    def _phase_sections(self) -> list[Section]:
        value = self.top.get("phases")
        if value is None:
            self.top.missing("phases")
            return []
        sections = self.top.sections("phases", required=True)
        for section in sections:
            section.check_keys(keys.PHASE_1, keys.PHASE_1_IGNORED)
        return sections

    def _found(self, sections: list[Section]) -> list[_Found]:
        """The phases by their numbers; a number that is missing is the key of the mapping."""
        found: list[_Found] = []
        for place, section in enumerate(sections):
            last = section.path.rpartition(".")[2]
            written = section.integer("phasenumber", int(last) if last.isdigit() and len(last) < 10 else place)
            if any(one.written == written for one in found):
                taken = {one.written for one in found}
                message = f"The phasenumber {written} is that of two phases; the second comes last."
                self.notes.warn(section.place_of("phasenumber"), message, "Number the phases 1, 2, 3.")
                written = max(taken) + 1
            if section.get("start_date") is None:
                section.missing("start_date")
            starts_at = self.context.moment(section, "start_date")
            parent = section.get("parent_phasenumber")
            if starts_at is not None:
                found.append(
                    _Found(
                        section,
                        written,
                        None if parent is None else whole_number(parent.text),
                        section.boolean("is_parallel_parent", False),
                        section.boolean("phase_never_ends", False),
                        starts_at,
                    )
                )
        return sorted(found, key=lambda one: one.written)

    def _phases(self, found: list[_Found], last_end: Moment | None) -> tuple[PhaseSource, ...]:
        phases = []
        for number, one in enumerate(found):
            phase = self._phase(one, number, found)
            phase = dataclasses.replace(phase, ends_at=self._end(number, found, last_end))
            phases.append(self.context.in_order(phase, one.section.place_of("start_date")))
        return tuple(phases)

    def _end(self, number: int, found: list[_Found], last_end: Moment | None) -> Moment | None:
        """A phase ends when the next begins. Phases that begin at one time end at one time too."""
        one = found[number]
        if one.never_ends:
            return None
        after = found[number + 1 :]
        later = [other.starts_at for other in after if other.starts_at.utc > one.starts_at.utc]
        is_fan = one.is_parent or one.parent is not None
        if after and not is_fan and after[0].starts_at.utc <= one.starts_at.utc:
            self.notes.warn(
                one.section.place_of("start_date"),
                "The next phase does not begin later than this one; both end at the same time.",
                "Correct the start dates if the phases should follow each other.",
            )
        return min(later, key=lambda moment: moment.utc) if later else last_end

    def _phase(self, one: _Found, number: int, found: list[_Found]) -> PhaseSource:
        section, context = one.section, self.context
        name = section.text("label", required=True, longest=LONGEST_NAME)
        image = context.image(section, "default_docker_image")
        ingestion_image = context.image(section, "ingestion_program_docker_image")
        scoring_image = context.image(section, "scoring_program_docker_image")
        task = None if self._gathers(one, found, name) else self._task(section, name)
        self._say_of_phase(section, name)
        daily = section.integer("max_submissions_per_day", DAILY_QUOTA)
        total = section.integer("max_submissions", TOTAL_QUOTA)
        if task is None and not one.is_parent:
            daily, total = 0, 0
        hides = section.text("leaderboard_management_mode", "default").lower() == "hide_results"
        size = section.integer("max_submission_size", 0)
        return PhaseSource(
            number=number,
            name=name,
            description=section.text("description"),
            starts_at=one.starts_at,
            tasks=() if task is None else (task.number,),
            accepts=self._accepts(section, task, is_parent=one.is_parent),
            daily_quota=daily,
            total_quota=total,
            wall_seconds=context.wall_seconds(section, WALL_SECONDS),
            image=image,
            ingestion_image=ingestion_image,
            scoring_image=scoring_image,
            takes_over=number > 0 and section.boolean("auto_migration", False),
            fans_out_from=self._parent(one, number, found),
            hidden_columns=self._hidden(section),
            hides_board=hides,
            hides_scores=hides,
            max_submission_bytes=size * _MIB or None,
            public_data=context.sources.data(section.get("public_data"), "public data"),
            starting_kit=context.sources.data(section.get("starting_kit"), "starting kit"),
            links=self._links(section),
        )

    @staticmethod
    def _accepts(section: Section, task: TaskSource | None, *, is_parent: bool) -> Accepts:
        """Results alone, unless an ingestion program waits for code all the same, here or in a child."""
        takes_code = is_parent or (task is not None and task.ingestion_program is not None)
        return Accepts.RESULTS if section.boolean("is_scoring_only", False) and not takes_code else Accepts.ANY

    @staticmethod
    def _hidden(section: Section) -> tuple[str, ...]:
        value = section.get("hidden_columns")
        return () if value is None else tuple(dict.fromkeys(value.texts()))

    def _parent(self, one: _Found, number: int, found: list[_Found]) -> int | None:
        """The place of the parent of a parallel phase."""
        if one.parent is None:
            return None
        for place, other in enumerate(found):
            if other.written == one.parent and place != number:
                if not other.is_parent:
                    message = f"Phase {one.parent} is a parent without is_parallel_parent; it was taken as one."
                    self.notes.warn(one.section.place_of("parent_phasenumber"), message)
                return place
        there = ", ".join(str(other.written) for other in found if other.is_parent) or "none"
        self.notes.error(
            one.section.place_of("parent_phasenumber"),
            f"There is no phase with the number {one.parent}.",
            f"The numbers of parallel parents are: {there}.",
        )
        return None

    def _gathers(self, one: _Found, found: list[_Found], name: str) -> bool:
        """Whether the phase only passes on what is sent to it.

        CodaLab ran a parent's scoring program on what those of its children had written; here each child stands
        on the boards by itself, and such a program would meet a bare submission.
        """
        if not one.is_parent or all(other.parent != one.written for other in found):
            return False
        if one.section.get("scoring_program") is not None:
            self.notes.warn(
                one.section.place_of("scoring_program"),
                f"The scoring program of {name}, which gathers the scores of its parallel phases, was left out.",
                "Each of these phases has its own place on the leaderboards; columns that the program filled "
                "stay empty.",
            )
        return True

    def _task(self, section: Section, name: str) -> TaskSource | None:
        """The task of a phase; None when it has no scoring program, so that nothing can be sent there."""
        sources = self.context.sources
        scoring = sources.program(section.get("scoring_program"), "scoring program")
        ingestion = sources.program(section.get("ingestion_program"), "ingestion program")
        input_data = sources.data(section.get("input_data"), "input data")
        reference_data = sources.data(section.get("reference_data"), "reference data")
        overlaps = section.boolean("ingestion_program_only_during_scoring", False) and ingestion is not None
        if section.get("scoring_program") is None and not section.boolean("is_parallel_parent", False):
            mend = "Name a scoring_program if submissions should be scored."
            self.notes.warn(
                section.place, f"The phase {name} has no scoring program: nothing is sent there.", mend
            )
        if scoring is None:
            return None
        task = TaskSource(
            number=len(self.tasks),
            name=name,
            description=section.text("description"),
            scoring_program=scoring,
            ingestion_program=ingestion,
            input_data=input_data,
            reference_data=reference_data,
            overlaps=overlaps,
        )
        self.tasks.append(task)
        return task

    def _links(self, section: Section) -> tuple[DataLink, ...]:
        """Data that the phase offers under addresses of the web; only such addresses are kept."""
        found = []
        for entry in section.sections("datasets"):
            entry.check_keys(keys.DATASET_1, keys.DATASET_1_IGNORED)
            name, url = entry.text("name", longest=LONGEST_TITLE), entry.text("url", longest=500)
            if url.lower().startswith(("http://", "https://")):
                found.append(
                    DataLink(name=name or url, url=url, description=entry.text("description", longest=300))
                )
            elif url:
                self.notes.warn(entry.place_of("url"), f"{url} is no address of the web and was left out.")
        return tuple(found)

    def _say_of_phase(self, section: Section, name: str) -> None:
        say = self.context.unsayable.append
        if section.boolean("delete_submissions_except_best_and_last", False):
            say(f"delete_submissions_except_best_and_last of {name}: submissions are kept.")
        if section.boolean("disable_custom_docker_image", False):
            say(f"disable_custom_docker_image of {name}: participants choose no image in any phase.")
        if section.get("max_submission_size") is not None:
            say(f"max_submission_size of {name}: the limit of this installation holds.")
        if section.get("participant_max_storage_use") is not None:
            say(f"participant_max_storage_use of {name}: the quota of submissions bounds what is kept.")
        if section.get("color") is not None and section.text("color").lower() != "white":
            sentence = "color: phases have no colours."
            if sentence not in self.context.unsayable:
                say(sentence)

    def _with_known_columns(self, phases: tuple[PhaseSource, ...], known: set[str]) -> tuple[PhaseSource, ...]:
        """The phases with those hidden columns that exist."""
        result = []
        for phase in phases:
            strange = [key for key in phase.hidden_columns if key not in known]
            if strange and known:
                self.notes.warn(
                    self.top.place_of("phases"),
                    f"The phase {phase.name} hides the columns {', '.join(strange)}, which do not exist.",
                )
            kept = tuple(key for key in phase.hidden_columns if key in known)
            result.append(dataclasses.replace(phase, hidden_columns=kept))
        return tuple(result)


_UNSAYABLE = {
    "require_team_approval": "teams form without an organizer's approval.",
    "allow_organizer_teams": "organizers compete in no team.",
    "enable_per_submission_metadata": "submissions carry a description; the fact sheet asks for more.",
    "hide_top_three": "nothing is hidden of the first three.",
    "hide_chart": "there is no chart to hide.",
}
