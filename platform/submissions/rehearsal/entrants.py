"""Who takes part in a rehearsal: accounts that nobody can log in to, and what they send.

Everything goes through the same door as an upload. One sends code that always fails, so that organizers see what
a failure looks like; one sends predictions without code, which cannot enter a blind phase.
"""

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from accounts.models import User
from accounts.refusals import Refused
from competitions.models import Competition, Participant, Phase
from datasets.models import DatasetVersion
from datasets.scratch import scratch_folder
from submissions import making, sample_code
from submissions.actions import submit
from submissions.models import Submission

# A colon is in no name that somebody registers.
PREFIX = "rehearsal:"
FAILS = '''"""Code that fails on every dataset: a rehearsal shows what organizers and entrants see of it."""


class Model:
    def __init__(self, *args, **kwargs):
        raise RuntimeError("This submission of the rehearsal fails on purpose.")
'''


@dataclass(frozen=True)
class Player:
    """A simulated entrant. `comes_back`: it submits again in a phase into which entries were carried over."""

    username: str
    name: str
    comment: str
    archive: Callable[[Phase, Path], Path]
    comes_back: bool = False
    fails: bool = False


def _sample(name: str) -> Callable[[Phase, Path], Path]:
    return lambda phase, scratch: sample_code.sample_archive(name, scratch)


def _results(phase: Phase, scratch: Path) -> Path:
    """Predictions by chance for every dataset of a phase."""
    rng = np.random.default_rng(phase.number)
    archive = scratch / "predictions.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for task in making.tasks_of(phase):
            version = making.current_version(task)
            for part in version.parts():
                file.writestr(f"{task.name}_{part}.predict", _by_chance(version, part, rng))
    return archive


def _by_chance(version: DatasetVersion, part: str, rng: np.random.Generator) -> str:
    rows = rng.random(version.prediction_shape(part)).round(4)
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


def _failing(phase: Phase, scratch: Path) -> Path:
    archive = scratch / "failing.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("model.py", FAILS)
    return archive


PLAYERS = (
    Player(
        "sample",
        "Sample code",
        "The starting kit's sample code.",
        _sample(sample_code.SEARCH),
        comes_back=True,
    ),
    Player("linear", "Linear model", "A linear model.", _sample(sample_code.LINEAR)),
    Player("results", "Results only", "Predictions by chance, without code.", _results),
    Player("failing", "Failing code", "Code that fails on purpose.", _failing, fails=True),
)


def account(player: Player) -> User:
    """The account of a simulated entrant; no password opens it."""
    user, is_new = User.objects.get_or_create(
        username=f"{PREFIX}{player.username}", defaults={"first_name": player.name, "is_active": False}
    )
    if is_new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user


def take_part(rehearsal: Competition) -> None:
    """Let the simulated entrants in."""
    for player in PLAYERS:
        Participant.objects.get_or_create(
            competition=rehearsal, user=account(player), defaults={"state": Participant.State.APPROVED}
        )


def enter(phase: Phase) -> list[str]:
    """Send what the simulated entrants have for an open phase and have not sent yet; returns what was refused.

    Where entries were carried over, most of them leave theirs standing.
    """
    refused = []
    sent = set(
        phase.submissions.filter(arrival=Submission.Arrival.UPLOADED).values_list("user__username", flat=True)
    )
    with scratch_folder("rehearsal-") as scratch:
        for player in PLAYERS:
            if f"{PREFIX}{player.username}" in sent or (phase.takes_over and not player.comes_back):
                continue
            archive = player.archive(phase, scratch)
            try:
                submit(
                    user=account(player),
                    phase=phase,
                    archive=archive,
                    filename=archive.name,
                    comment=player.comment,
                    is_kit_code=True,
                )
            except Refused as refusal:
                refused.append(f"What {player.name} sent to {phase.title} was refused: {refusal}")
    return refused
