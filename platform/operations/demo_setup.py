"""The demo competition in the database: people, datasets, phases. Every step can be repeated."""

import json
import os
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from competitions.actions import join
from competitions.models import Competition, Organizer, Phase
from datasets.actions import import_dataset
from datasets.models import Dataset
from operations import demo_texts as texts
from operations.demo_data import BLIND_DATASETS, DEMO_DATASETS, build_demo_datasets, build_results_entry
from operations.demo_series import TWEAKATHON_0, TWEAKATHON_1, DemoSeries, make_phases
from operations.organizers import allow
from submissions.actions import submit
from submissions.models import RunState, Submission
from submissions.models.submission import quota_left
from submissions.sample_code import LINEAR, SEARCH, sample_archive

PEOPLE = ("organizer", "participant", "admin")
ENTRANTS = ("participant", "linear", "neighbours")
DATASETS = {0: DEMO_DATASETS, **BLIND_DATASETS}
# Who sends something new in which phase; the others' entries are carried over.
ENTRANTS_OF = {TWEAKATHON_0: ENTRANTS, TWEAKATHON_1: ("linear", "neighbours")}
# Characters that cannot be taken for one another when somebody types the password from the screen.
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


@dataclass(frozen=True)
class Login:
    """A name and the password that was made for it; None when its owner has chosen another."""

    username: str
    password: str | None


def demo_people(home: Path) -> list[Login]:
    """Make the demo's users, or find them again; returns how to log in.

    Passwords are made at random once for an installation and kept in `demo.json`, mode 600. A password that its
    owner has changed since is left alone.
    """
    path = home / "demo.json"
    kept = read_passwords(path)
    passwords = {name: kept.get(name) or new_password() for name in PEOPLE}
    write_passwords(path, passwords)
    logins = []
    for name in PEOPLE:
        user = User.objects.filter(username=name).first()
        if user is None:
            user = User(username=name, email=f"{name}@example.org")
            user.is_superuser = user.is_staff = name == "admin"
        if user.pk is None or name not in kept:
            user.set_password(passwords[name])
            user.save()
        logins.append(Login(name, passwords[name] if user.check_password(passwords[name]) else None))
    allow(User.objects.get(username="organizer"))
    return logins


def new_password() -> str:
    """Return a password of about 74 random bits that is easy to read and type."""
    return "-".join("".join(secrets.choice(LETTERS) for _ in range(5)) for _ in range(3))


def read_passwords(path: Path) -> dict[str, str]:
    """Return the passwords kept by an earlier start; empty when there are none."""
    try:
        found = json.loads(path.read_text())["users"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return {name: str(password) for name, password in found.items()} if isinstance(found, dict) else {}


def write_passwords(path: Path, passwords: dict[str, str]) -> None:
    """Keep the passwords where only the owner of the data folder reads them."""
    fresh = path.with_name("demo.json.new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump({"users": passwords}, file, indent=1)
    fresh.replace(path)


class Demo:
    """The demo competition and its entries."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self._folders: dict[int, list[Path]] = {}

    def folders(self, round_number: int) -> list[Path]:
        """The datasets of a round with their solutions, built only when something needs them."""
        if round_number not in self._folders:
            self._folders[round_number] = build_demo_datasets(
                self.scratch / "datasets", datasets=DATASETS[round_number]
            )
        return self._folders[round_number]

    def competition(self) -> Competition:
        """Make the competition, or find it; what is missing of its phases is made, too."""
        found = Competition.objects.filter(slug=texts.SLUG).first()
        if found is not None and found.phases().filter(number=TWEAKATHON_1).exists():
            DemoSeries(found).reopen()
            return found
        organizer = User.objects.get(username="organizer")
        datasets = {
            number: [self.dataset(folder, organizer) for folder in self.folders(number)] for number in DATASETS
        }
        with transaction.atomic():
            written = {
                "title": texts.TITLE,
                "summary": texts.SUMMARY,
                "state": Competition.State.PUBLISHED,
                "overview": texts.OVERVIEW,
                "evaluation": texts.EVALUATION,
                "rules": texts.RULES,
            }
            made, _ = Competition.objects.update_or_create(
                slug=texts.SLUG, defaults=written, create_defaults={**written, "created_by": organizer}
            )
            Organizer.objects.get_or_create(
                competition=made, user=organizer, defaults={"role": Organizer.Role.OWNER}
            )
            make_phases(made, datasets, timezone.now())
        return made

    def dataset(self, folder: Path, owner: User) -> Dataset:
        """Import one dataset, unless an interrupted start has done so already."""
        about = next(group[folder.name] for group in DATASETS.values() if folder.name in group)
        found = Dataset.objects.filter(owner=owner, slug=folder.name).first()
        if found is not None and found.current is not None:
            return found
        description = f"{about.description} Source: {about.origin}."
        report = import_dataset(folder, owner=owner, title=about.title, description=description)
        if report.dataset is None:
            problems = "; ".join(f"{problem.place}: {problem.message}" for problem in report.errors)
            raise RuntimeError(f"the demo dataset {folder.name} is not in order: {problems}")
        return report.dataset

    def entries(self, phase: Phase, *, again: bool) -> dict[str, Submission]:
        """Submit what has no finished entry yet; with `again`, the sample code once more if quota allows.

        Returns the submission of each entrant that the demo waits for.
        """
        archives = {
            "participant": lambda: sample_archive(SEARCH, self.scratch),
            "linear": lambda: sample_archive(LINEAR, self.scratch),
            "neighbours": lambda: build_results_entry(
                self.folders(phase.round.number), self.scratch / "neighbours.zip"
            ),
        }
        comments = {
            "participant": "The starting kit's sample code.",
            "linear": "A linear model, as a weak line to beat.",
            "neighbours": "Results only: predictions of nearest neighbours.",
        }
        chosen = {}
        names = dict.fromkeys((*ENTRANTS_OF[phase.number], *(["participant"] if again else [])))
        for name in names:
            user = entrant_user(name)
            join(phase.competition, user)
            kept = standing_entry(phase, user)
            if kept is not None and not (again and name == "participant" and may_submit_again(phase, kept)):
                chosen[name] = kept
                continue
            archive = archives[name]()
            chosen[name] = submit(
                user=user,
                phase=phase,
                archive=archive,
                filename=archive.name,
                comment=comments[name],
                is_kit_code=True,
            )
        return chosen


def entrant_user(name: str) -> User:
    """The user who enters; those that nobody logs in as get no usable password."""
    user, is_new = User.objects.get_or_create(username=name, defaults={"email": f"{name}@example.org"})
    if is_new:
        user.set_unusable_password()
        user.save()
    return user


def standing_entry(phase: Phase, user: User) -> Submission | None:
    """The demo's own submission of this user that runs now or has finished on every dataset."""
    own = Submission.objects.filter(phase=phase, user=user, is_kit_code=True, origin=None).order_by("-received_at")
    for submission in own:
        if submission.is_active or not submission.runs.exclude(state=RunState.FINISHED).exists():
            return submission
    return None


def may_submit_again(phase: Phase, kept: Submission) -> bool:
    """Whether another submission makes sense: nothing runs, and the day's quota is not used up."""
    return not kept.is_active and quota_left(phase, kept.entrant, timezone.now()) != 0


def scratch_folder(home: Path) -> "tempfile.TemporaryDirectory[str]":
    """A folder inside the data folder for datasets with their solutions; it is removed after use."""
    return tempfile.TemporaryDirectory(prefix="demo-", dir=home)
