"""Loading the replay into the database, round by round; what is there already stays as it is."""

from collections.abc import Callable
from dataclasses import dataclass, field

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from analysis.models import Replay
from analysis.replay.contest import found_or_made, with_dataset
from analysis.replay.entries import Rows, add_entry, entries_of
from analysis.replay.predictions import Wanted, add_files, error_bars, scored_files
from analysis.replay.source import Published
from competitions.models import Competition, Phase, Task
from leaderboards.board import refresh

Tell = Callable[[str], None]


@dataclass
class Loaded:
    """What a call did: the rounds that it loaded, and what was there before."""

    competition: Competition
    rounds: list[int] = field(default_factory=list)
    scored: int = 0  # prediction files
    was_there: bool = False


def load(
    published: Published, *, owner: User, tell: Tell = lambda sentence: None, wanted: Wanted = lambda file: True
) -> Loaded:
    """Make the competition, or go on where an earlier call stopped.

    `wanted` says which of the published predictions are scored. Every round is loaded in a transaction of its own,
    and the competition is published at the end.
    """
    contest = found_or_made(owner, published)
    replay = Replay.objects.get(competition=contest)
    done = Loaded(contest, was_there=contest.state != Competition.State.DRAFT)
    for phase in contest.phases():
        if phase.round.number in replay.facts["loaded"]:
            continue
        phase.round.competition = contest
        tell(f"{phase}: datasets and scores.")
        tasks = _tasks(phase, published)
        _load_phase(phase, published, tasks, replay, done, wanted)
        done.rounds.append(phase.round.number)
    if contest.state == Competition.State.DRAFT:
        contest.state, contest.published_at = Competition.State.PUBLISHED, timezone.now()
        contest.save(update_fields=["state", "published_at"])
    return done


def _tasks(phase: Phase, published: Published) -> dict[str, Task]:
    of_round = [dataset for dataset in published.datasets if dataset.round == phase.round.number]
    made = {dataset.name: with_dataset(phase, published, dataset, order) for order, dataset in enumerate(of_round)}
    # With the versions at hand: each of hundreds of runs asks its dataset for its current one.
    stored = phase.tasks.select_related("dataset", "phase__round").prefetch_related("dataset__versions")
    found = {task.pk: task for task in stored}
    return {name: found[task.pk] for name, task in made.items()}


def _load_phase(
    phase: Phase,
    published: Published,
    tasks: dict[str, Task],
    replay: Replay,
    done: Loaded,
    wanted: Wanted,
) -> None:
    rows, files = Rows(), scored_files(published, phase, tasks, wanted)
    try:
        with transaction.atomic():
            for entry in entries_of(published, tasks):
                add_entry(rows, entry, phase, tasks)
            add_files(rows, files, phase, tasks)
            rows.write()
            refresh(phase)
            phase.moments.all().delete()  # all of it was published at once: its ranks did not come about over time
            replay.facts["loaded"].append(phase.round.number)
            replay.facts["error_bars"] |= error_bars(files, published)
            replay.save(update_fields=["facts"])
    except BaseException:
        for file in rows.stored:
            file.storage.delete(str(file.name))
        raise
    done.scored += sum(map(len, files.values()))
