"""A contest in the middle of its series, with everybody in it and a secret in every place that could leak one.

A Tweakathon is over; its Final is not released; a blind phase runs its code on datasets that nobody may know,
and the next Tweakathon on the same datasets has yet to open. Alice and Bob are a team, Carol competes alone.
"""

import datetime as dt
import secrets
from dataclasses import dataclass, field

from django.core.files.base import ContentFile
from django.test import Client
from django.utils import timezone

from accounts.models import User
from competitions import teams
from competitions.actions.announcements import Announce
from competitions.actions.base import record
from competitions.models import Competition, Delivery, Organizer, Page, Phase, Question, Round, Task
from datasets.models import Dataset, DatasetVersion
from datasets.uploads.models import Upload
from leaderboards import board
from submissions import handover
from submissions.models import Attempt, Run, RunState, Score, Submission, Worker
from tests.platform import factories as make
from tests.platform.series import finish

PEOPLE = {
    "stranger": "charlie",
    "participant": "alice",
    "mate": "bob",
    "other": "carol",
    "owner": "olga",
    "editor": "eddy",
    "reviewer": "rita",
    "seer": "vera",  # a reviewer who sees what is hidden
    "foreign": "felix",  # organizes another competition
    "clerk": "clara",  # staff with every permission, but no superuser
    "admin": "sam",
}
ROLES = ("anonymous", *PEOPLE)
SEE_HIDDEN = ("owner", "editor", "seer", "admin")
SEE_NOTHING = tuple(role for role in ROLES if role not in SEE_HIDDEN)


# Of hidden scores. Fixed, because four drawn digits may stand in some other number of a page.
DIGITS = ("7319", "2863", "6197", "3847", "8513", "4391")


def word(kind: str) -> str:
    """A word that stands nowhere else."""
    return f"{kind}q{secrets.token_hex(5)}"


@dataclass
class World:
    """`hidden` maps what is hidden, in words, to the text that must not be found."""

    contest: Competition
    elsewhere: Competition
    phases: dict[str, Phase] = field(default_factory=dict)
    people: dict[str, User] = field(default_factory=dict)
    submissions: dict[str, Submission] = field(default_factory=dict)
    hidden: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    of_rivals: dict[str, str] = field(default_factory=dict)
    worker: Worker | None = None
    worker_token: str = ""
    upload: Upload | None = None  # of the owner

    def client(self, role: str) -> Client:
        """A browser of somebody in this role."""
        client = Client()
        if role in self.people:
            client.force_login(self.people[role])
        return client


def build() -> World:
    """Make the world; the clock should stand still meanwhile."""
    olga = make.user("olga")
    contest = make.competition("series", olga, title="The series", max_team_size=2)
    world = World(contest, make.competition("elsewhere", make.user("felix"), title="Elsewhere"))
    Page.objects.create(competition=contest, slug="prizes", title="Prizes", body="None.")
    Question.objects.create(competition=contest, text="Which method?")
    _people(world)
    _phases(world)
    _first_round(world)
    _blind_phase(world)
    world.hidden["file of an upload"] = word("upload")
    world.upload = Upload.objects.create(owner=olga, filename=world.hidden["file of an upload"], size=10)
    _told(world)
    for phase in world.phases.values():
        board.refresh_now(phase)
    return world


def _told(world: World) -> None:
    """An announcement to all, and an entry of the audit log that names what is hidden."""
    olga, now = world.people["owner"], timezone.now()
    Announce(by=None, contest=world.contest, subject="Welcome", body="It has begun.").execute()
    Delivery.objects.update(read_at=now)  # a page that is read once more says the same again
    world.hidden["sentence of the audit log"] = word("audit")
    world.hidden["details of the audit log"] = word("details")
    text, more = world.hidden["sentence of the audit log"], world.hidden["details of the audit log"]
    record(world.contest, by=olga, action="change_metric", text=text, at=now, dataset=more)


def _people(world: World) -> None:
    world.people = {role: make.user(name) for role, name in PEOPLE.items()}
    User.objects.filter(username="sam").update(is_superuser=True, is_staff=True)
    User.objects.filter(username="clara").update(is_staff=True)
    world.people["admin"].refresh_from_db()
    roles = (("editor", "editor", False), ("reviewer", "reviewer", False), ("seer", "reviewer", True))
    for role, name, sees_hidden in roles:
        Organizer.objects.create(
            competition=world.contest, user=world.people[role], role=name, sees_hidden=sees_hidden
        )
    for role in ("participant", "mate", "other"):
        make.participant(world.contest, world.people[role])
    alice, bob = world.people["participant"], world.people["mate"]
    team = teams.create(world.contest, alice, "The Team")
    teams.invite(team, bob, by=alice)
    teams.accept(team, bob)


def _phases(world: World) -> None:
    now, day = timezone.now(), dt.timedelta(days=1)
    group = Round.objects.create(competition=world.contest, number=0)

    def phase(title: str, kind: str, opens: int, closes: int, parent: str = "", **fields: object) -> None:
        world.phases[title] = Phase.objects.create(
            round=group,
            number=len(world.phases) + 1,
            title=title,
            kind=kind,
            opens_at=now + opens * day,
            closes_at=now + closes * day,
            parent=world.phases.get(parent),
            **fields,
        )

    phase("Tweakathon[0]", "tweakathon", -30, -1)
    phase("Final[0]", "final", -1, 2, "Tweakathon[0]", release="by_hand")
    phase("AutoML[1]", "automl", -1, 2, "Tweakathon[0]")
    phase("Tweakathon[1]", "tweakathon", 2, 30, "AutoML[1]", carry_over=True)
    phase("Final[1]", "final", 30, 31, "Tweakathon[1]")
    phase("Practice", "open", -30, 30)
    olga = world.contest.created_by
    known = [make.dataset(olga, "adult"), make.dataset(olga, "digits")]
    unseen = [secret_dataset(world, olga, number) for number in (1, 2)]
    for titles, datasets in (
        (("Tweakathon[0]", "Final[0]", "Practice"), known),
        (("AutoML[1]", "Tweakathon[1]", "Final[1]"), unseen),
    ):
        for title in titles:
            for order, dataset in enumerate(datasets):
                Task.objects.create(phase=world.phases[title], dataset=dataset, order=order)


TEXTS_OF_A_DATASET = (
    *("slug", "title", "description", "private", "licence", "citation", "source"),
    *("prefix", "column", "recipe", "finding", "checksum", "info"),
)


def secret_dataset(world: World, owner: User, number: int) -> Dataset:
    """A dataset whose every text is a secret, and whose labels are a secret from everybody."""
    texts = {what: word(f"{what}{number}") for what in TEXTS_OF_A_DATASET}
    dataset = Dataset.objects.create(
        owner=owner,
        slug=texts["slug"],
        title=texts["title"],
        description=texts["description"],
        private_description=texts["private"],
        licence=texts["licence"],
        citation=texts["citation"],
        source=texts["source"],
        is_public=True,  # to no avail, while a blind phase hides it
    )
    finding = {"code": "constant", "severity": "note", "place": "", "sentence": texts["finding"], "mend": ""}
    version = make.version(
        dataset,
        texts["prefix"],
        feat_num=48611,
        train_num=90527,
        time_budget=1217,
        recipe={"source": texts["recipe"]},
        findings=[finding],
        checksums={f"{texts['prefix']}_test.solution": {"sha256": texts["checksum"], "bytes": 1}},
        private_info=texts["info"],
    )
    label = word(f"label{number}")
    for part in ("valid", "test"):
        world.labels[f"{part} labels of dataset {number}"] = f"{label}{part}"
        version.solution(part).save("s", ContentFile(f"{label}{part}\n".encode()))
    prefix = texts["prefix"]
    version.public_zip.save(
        "x.zip", ContentFile(make.zip_bytes({f"{prefix}/{prefix}_feat.name": texts["column"]}))
    )
    world.hidden |= {f"{what} of dataset {number}": text for what, text in texts.items()}
    return dataset


def _first_round(world: World) -> None:
    """Entries of the Tweakathon, their copies in the Final and their code in the blind phase."""
    tweak, practice = world.phases["Tweakathon[0]"], world.phases["Practice"]
    world.of_rivals = {what: word(what) for what in ("archive", "comment", "log", "sentence")}
    for role in ("participant", "other"):
        entry = submission(
            tweak, world.people[role], received_at=timezone.now() - dt.timedelta(days=3), kind=Submission.Kind.CODE
        )
        finish(entry)
        world.submissions[f"{role} in the Tweakathon"] = entry
        for index, score in enumerate(Score.objects.filter(run__submission=entry, part="test").order_by("pk")):
            secret_score(world, score, f"test score {index + 1} of {role} in the Tweakathon")
    own = world.submissions["participant in the Tweakathon"]
    Submission.objects.filter(pk=own.pk).update(
        filename=world.of_rivals["archive"] + ".zip", comment=world.of_rivals["comment"]
    )
    run = own.runs.first()
    run.log.save("log", ContentFile(world.of_rivals["log"].encode()), save=False)
    run.log_tail = world.of_rivals["log"]
    run.sentence = world.of_rivals["sentence"]
    run.save()
    handover.tick()
    for title in ("Final[0]", "AutoML[1]"):
        for role in ("participant", "other"):
            entrant = world.submissions[f"{role} in the Tweakathon"].entrant
            world.submissions[f"{role} in {title}"] = Submission.objects.get(
                phase=world.phases[title], entrant=entrant
            )
    world.submissions["participant in Practice"] = submission(practice, world.people["participant"])


def submission(of: Phase, person: User, **fields: object) -> Submission:
    """A submission of the entrant for whom the person speaks, with a queued run for each task."""
    from competitions.actions import entrant_of

    entrant = entrant_of(of.competition, person)
    made = Submission(
        entrant=entrant,
        phase=of,
        user=person,
        number=entrant.submissions.count() + 1,
        filename="submission.zip",
        sha256="0" * 64,
        size=4242,
        interface="model",
        **{"kind": Submission.Kind.CODE, "received_at": timezone.now(), **fields},
    )
    made.archive.save("submission.zip", ContentFile(b"PK"), save=False)
    made.save()
    for order, task in enumerate(of.tasks.all()):
        make.run(made, task, order=order)
    return made


def secret_score(world: World, score: Score, what: str) -> None:
    """Give a score a value whose first digits stand nowhere else."""
    digits = DIGITS[sum(text.startswith("0.") for text in world.hidden.values())]
    Score.objects.filter(pk=score.pk).update(value=float(f"0.{digits}37"), raw=float(f"0.{digits}37"))
    world.hidden[what] = f"0.{digits}"


def _blind_phase(world: World) -> None:
    """Runs of the blind phase in every state, each with secrets in all that it left."""
    now = timezone.now()
    world.worker, world.worker_token = make.worker(word("worker"))
    world.hidden["name of the worker"] = world.worker.name
    first, second = world.submissions["participant in AutoML[1]"].runs.order_by("order")
    failed, running = world.submissions["other in AutoML[1]"].runs.order_by("order")
    for index, run in enumerate((first, failed), start=1):
        texts = {what: word(f"{what}{index}") for what in ("sentence", "tail", "error", "log", "note")}
        run.log.save("log", ContentFile(texts["log"].encode() * 50), save=False)
        run.sentence, run.log_tail = texts["sentence"], texts["tail"]
        if hasattr(run, "error_tail"):
            run.error_tail = texts["error"]
        else:
            texts.pop("error")
        run.state, run.reason = (RunState.FINISHED, "timed_out") if run == first else (RunState.FAILED, "crashed")
        run.started_at, run.ended_at = now - dt.timedelta(hours=5), now - dt.timedelta(hours=4)
        run.wall_seconds, run.cpu_seconds, run.peak_memory_bytes = 733.21, 611.37, 5_737_418_240
        run.attempt_number = 1
        run.save()
        attempt(run, world.worker, texts["note"], outcome=Attempt.Outcome.REPORTED)
        world.hidden |= {f"{what} of blind run {index}": text for what, text in texts.items()}
    for part in ("valid", "test"):
        score = Score.objects.create(run=first, part=part, metric=first.metric, value=0.5, raw=0.5, stderr=0.01)
        secret_score(world, score, f"{part} score of the blind run")
    for run in (second, running):
        state = RunState.RUNNING if run == running else RunState.QUEUED
        Run.objects.filter(pk=run.pk).update(state=state)
    Run.objects.filter(pk=running.pk).update(
        attempt_number=1, started_at=now - dt.timedelta(seconds=77), log_tail=word("live"), deadline=now
    )
    world.hidden["live log of a blind run"] = Run.objects.get(pk=running.pk).log_tail
    attempt(running, world.worker, "", outcome=Attempt.Outcome.OPEN)


def attempt(run: Run, worker: Worker, note: str, *, outcome: str) -> Attempt:
    """The first attempt at a run."""
    return Attempt.objects.create(
        run=run, number=1, worker=worker, secret_hash="0" * 64, outcome=outcome, note=note
    )


def newest_version(world: World) -> DatasetVersion:
    """The version of the first hidden dataset."""
    task = world.phases["AutoML[1]"].tasks.order_by("order").first()
    assert task is not None
    return task.dataset.versions.get()
