"""What a competition still needs before it can be published, and what would make it better.

`gathered` reads the facts, `check` turns them into items: a pure function, so that a rule is one line in a test.
Items name phases, never datasets, because a reviewer may read the list who may not know those.
"""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from competitions.models import Competition, Phase, Task
from competitions.protocol_check import ProtocolProblem, check_competition, is_sent_on
from datasets.models import DatasetVersion

NO_DATASETS = "has no datasets."
REHEARSED = "start_rehearsal"  # the action that starts one


@dataclass(frozen=True)
class Item:
    """One line: `is_needed` before publishing, else advice. `section` is where in the studio it is mended."""

    key: str
    text: str
    section: str
    is_done: bool
    is_needed: bool = True
    mend: str = ""


@dataclass(frozen=True)
class Facts:
    """What the checklist depends on. `unscored` maps phases to how many of their datasets cannot be scored."""

    competition: Competition
    phases: Sequence[Phase]
    problems: Sequence[ProtocolProblem]
    tasks: dict[int, int]
    unscored: dict[int, int]
    now: dt.datetime
    was_rehearsed: bool = True


def gathered(
    competition: Competition,
    now: dt.datetime,
    phases: Sequence[Phase] | None = None,
    *,
    sees_hidden: bool = True,
) -> Facts:
    """The facts of a competition that is in the database; six queries, one less where its phases are at hand.

    Without `sees_hidden` nothing is said of the names of datasets, which may be secret still.
    """
    phases = list(competition.phases()) if phases is None else phases
    by_id = {phase.pk: phase for phase in phases}
    tasks = list(Task.objects.filter(phase__in=by_id).values_list("phase", "dataset", "scoring_program"))
    versions = DatasetVersion.objects.in_use().filter(dataset__in={dataset for _, dataset, _ in tasks})
    has = {
        dataset: {Phase.Part.VALID: valid, Phase.Part.TEST: test}
        for dataset, valid, test in versions.order_by("number").values_list(
            "dataset", "has_valid_solution", "has_test_solution"
        )
    }
    counts: dict[int, int] = {}
    unscored: dict[int, int] = {}
    for phase_id, dataset, program in tasks:
        counts[phase_id] = counts.get(phase_id, 0) + 1
        if program is not None:
            continue  # what it needs of the data, it alone knows
        phase = by_id[phase_id]
        part = phase.feedback_part if phase.takes_submissions else Phase.Part.TEST
        if not has.get(dataset, {}).get(Phase.Part(part), False):
            unscored[phase_id] = unscored.get(phase_id, 0) + 1
    problems = check_competition(phases, now=now, sees_hidden=sees_hidden)
    was_rehearsed = competition.audit.filter(action=REHEARSED).exists()
    return Facts(competition, phases, problems, counts, unscored, now, was_rehearsed)


def check(facts: Facts) -> list[Item]:
    """Every line of the list: what is needed first."""
    items = [*_protocol(facts), *_joining(facts.competition), *_texts(facts.competition), *_advice(facts)]
    return sorted(items, key=lambda item: not item.is_needed)


def missing(facts: Facts) -> list[Item]:
    """What must be done before it can be published."""
    return [item for item in check(facts) if item.is_needed and not item.is_done]


def advised(facts: Facts) -> list[Item]:
    """What may be left as it is."""
    return [item for item in check(facts) if not item.is_needed and not item.is_done]


def _protocol(facts: Facts) -> Iterator[Item]:
    if not facts.phases:
        yield Item("phases", "It has no phases", "phases", False, mend="Add a phase: when, and what is asked.")
        return
    many = len(facts.phases)
    yield Item("phases", "It has a phase" if many == 1 else f"It has {many} phases", "phases", True)
    refused = [problem for problem in facts.problems if not problem.is_warning]
    for problem in refused:
        yield Item("dates", problem.message.rstrip("."), "phases", False, mend=problem.mend)
    if not refused:
        yield Item("dates", "Its phases fit together", "phases", True)
    taking = [phase for phase in facts.phases if phase.takes_submissions]
    open_to_people = (phase for phase in taking if 0 not in (phase.daily_quota, phase.total_quota))
    first = next(open_to_people, next(iter(taking), None))
    if first is None:
        mend = "Add a Tweakathon or an open phase."
        yield Item("first", "No phase takes submissions", "phases", False, mend=mend)
    elif facts.tasks.get(first.pk) or is_sent_on(first, facts.phases):
        yield Item("first", f"{first.title} has its datasets", "phases", True)
    elif not any(problem.place == first.title and problem.message.endswith(NO_DATASETS) for problem in refused):
        mend = "Choose them from your library; without them nobody can submit."
        yield Item("first", f"{first.title} has no datasets", "phases", False, mend=mend)
    for phase in facts.phases:
        count = facts.unscored.get(phase.pk, 0)
        if count:
            what = "a dataset has" if count == 1 else f"{count} datasets have"
            part = "test" if not phase.takes_submissions else phase.get_feedback_part_display()
            text = f"In {phase.title} {what} no solution of the {part} part, so nothing can be scored"
            mend = "Bring in a version of the dataset that has it, or choose another."
            yield Item("solutions", text, "phases", False, mend=mend)


def _joining(competition: Competition) -> Iterator[Item]:
    if competition.registration == Competition.Registration.ALLOW_LIST:
        count = len(competition.allowed_emails.split())
        text = f"{count:,} on the e-mail list" if count else "Nobody can join: the e-mail list is empty"
        yield Item("list", text, "settings", bool(count), mend="Put addresses on it, or let anybody join.")
    elif competition.visibility == Competition.Visibility.PRIVATE and not competition.allowed_emails:
        mend = "Put addresses on it, or let others read it."
        text = "Nobody finds the way in: it is private, and the e-mail list is empty"
        yield Item("list", text, "settings", False, mend=mend)


def _texts(competition: Competition) -> Iterator[Item]:
    texts = (
        ("summary", "A sentence for the list of competitions", "settings"),
        ("overview", "An overview: what it is about, and for whom", "pages"),
        ("rules", "Rules of your own, beside those that the platform keeps", "pages"),
    )
    for name, text, section in texts:
        yield Item(name, text, section, bool(getattr(competition, name).strip()), is_needed=False)


def _advice(facts: Facts) -> Iterator[Item]:
    for phase in facts.phases:
        if phase.takes_submissions and phase.daily_quota is None and phase.total_quota is None:
            text = f"{phase.title} takes any number of submissions: scores can be learned by trying"
            yield Item("quota", text, "phases", False, is_needed=False, mend="Set a quota for a day.")
    warnings = [problem for problem in facts.problems if problem.is_warning]
    first = next((phase.title for phase in facts.phases if phase.takes_submissions), "")
    empty = [one.place for one in warnings if one.message.endswith(NO_DATASETS) and one.place != first]
    if empty:
        names = ", ".join(empty) if len(empty) < 4 else f"{', '.join(empty[:2])} and {len(empty) - 2} more"
        text = f"No datasets yet: {names}"
        yield Item("datasets", text, "phases", False, is_needed=False, mend="Add them before the phases open.")
    for problem in warnings:
        if not problem.message.endswith(NO_DATASETS):
            yield Item("warning", problem.message.rstrip("."), "phases", False, is_needed=False, mend=problem.mend)
    if facts.phases and not facts.was_rehearsed:
        text = "A rehearsal: a copy on a clock of its own shows every hand-over before people depend on it"
        yield Item("rehearsal", text, "rehearsal", False, is_needed=False)
    if facts.phases and all(phase.has_ended(facts.now) for phase in facts.phases):
        yield Item("over", "All its phases are over already", "phases", False, is_needed=False)
