"""A series, the people in it, and workers that run nothing: what the state machine acts upon."""

import datetime as dt
import hashlib
import random
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from django.test import Client
from django.utils import timezone

from accounts.models import User
from competitions.models import Phase
from submissions.models import Run, Submission, Worker
from tests.platform import factories as make
from tests.platform.series import Kind, Series

START = dt.datetime(2015, 2, 15, 6, tzinfo=dt.UTC)  # the first Tweakathon crosses midnight UTC
PEOPLE = ("alice", "bob", "carol")
DIGITS = 8  # so many that a score is found on a page by its digits
REGRESSION = {"task_kind": "regression", "metric": "R2", "label_num": 0}


@dataclass(frozen=True)
class Rules:
    """What varies from one series to the next."""

    counts: str
    daily_quota: int
    total_quota: int | None
    tie_rule: str
    repeats: int
    release: str
    reveal: str


@dataclass
class World:
    """`hidden_sets` maps a dataset that a blind phase uses to every text that names it."""

    series: Series
    olga: User
    people: dict[str, User]
    workers: list["FakeWorker"]
    folder: Path
    hidden_sets: dict[int, list[str]] = field(default_factory=dict)
    clients: dict[str, Client] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        """The contest's place."""
        return self.series.contest.slug

    def client(self, viewer: str) -> Client:
        """The browser of somebody, or of nobody in particular."""
        if viewer not in self.clients:
            client = self.clients[viewer] = Client()
            person = {**self.people, "olga": self.olga}.get(viewer)
            if person is not None:
                client.force_login(person)
        return self.clients[viewer]

    def phases(self) -> list[Phase]:
        """All phases as the database has them now."""
        return list(self.series.contest.phases().select_related("round__competition", "parent"))

    def submissions(self) -> list[Submission]:
        """All submissions, the oldest first."""
        return list(Submission.objects.select_related("phase", "entrant", "user").order_by("pk"))


def build(rules: Rules) -> World:
    """Tweakathon[0], Final[0] and AutoML[1]; Tweakathon[1] that carries over, Final[1] and AutoML[2]."""
    olga = make.user("olga")
    contest = make.competition("series", olga)
    series = Series(contest, START)
    common = {"score_digits": DIGITS, "tie_rule": rules.tie_rule, "repeats": rules.repeats}
    quota = {"daily_quota": rules.daily_quota, "total_quota": rules.total_quota}
    results = {"release": rules.release, **common}
    series.phase("Tweakathon[0]", Kind.TWEAKATHON, 0, 20, counts=rules.counts, **quota, **common)
    series.phase("Final[0]", Kind.FINAL, 20, 24, "Tweakathon[0]", **results)
    series.phase("AutoML[1]", Kind.AUTOML, 20, 24, "Tweakathon[0]", reveal=rules.reveal, **results)
    series.phase("Tweakathon[1]", Kind.TWEAKATHON, 24, 34, "AutoML[1]", carry_over=True, **quota, **common)
    series.phase("Final[1]", Kind.FINAL, 34, 38, "Tweakathon[1]", **results)
    series.phase("AutoML[2]", Kind.AUTOML, 34, 38, "Tweakathon[1]", reveal=rules.reveal, **results)
    hidden: dict[int, list[str]] = {}
    known = [make.dataset(olga, f"known{number}", **REGRESSION) for number in range(2)]
    series.tasks(known, "Tweakathon[0]", "Final[0]")
    for titles in (("AutoML[1]", "Tweakathon[1]", "Final[1]"), ("AutoML[2]",)):
        secret = []
        for number in range(2):
            dataset = make.dataset(olga, f"secretq{titles[0][-2]}q{number}", **REGRESSION)
            dataset.title = f"Titleq{dataset.slug}"
            dataset.save()
            hidden[dataset.pk] = [dataset.slug, dataset.title]
            secret.append(dataset)
        series.tasks(secret, *titles)
    people = {name: make.user(name) for name in (*PEOPLE, "dave")}
    folder = Path(tempfile.mkdtemp(prefix="podium-protocol-"))
    workers = [FakeWorker("first", is_trusted=True), FakeWorker("second", is_trusted=False)]
    return World(series, olga, people, workers, folder, hidden)


def predictions(seed: int, part: str) -> bytes:
    """A column near the solution; the score that comes of it is as good as unique to the seed."""
    chance = random.Random(f"{seed}{part}")
    truth = make.VALID if part == "valid" else make.TEST
    return make.column(f"{value + chance.uniform(-0.9, 0.9):.12f}" for value in truth)


def archive(world: World, phase: Phase, kind: str, seed: int) -> Path:
    """A zip of this kind, whose results are drawn by the seed; `broken` cannot be scored."""
    files: dict[str, bytes | str] = {}
    if kind in ("code", "both"):
        files["model.py"] = "class Model:\n    pass\n"
    if kind in ("results", "both", "broken"):
        for task in phase.tasks.select_related("dataset", "phase"):
            for part in ("valid", "test"):
                name = f"{task.name}_{part}.predict"
                files[name] = b"one\nword\n" if kind == "broken" else predictions(seed + task.pk, part)
    return make.zip_of(world.folder, files)


def log_token(run_id: int, attempt: int) -> str:
    """What the program of an attempt prints; stands nowhere else."""
    return f"logq{run_id}q{attempt}q"


class FakeWorker:
    """Speaks the worker's protocol over HTTP; its programs print a token and leave what they are told to."""

    def __init__(self, name: str, *, is_trusted: bool) -> None:
        self.worker, token = Worker.with_new_token(name, is_trusted=is_trusted)
        self.headers = {"Authorization": f"Bearer {token}"}
        self.claimed: dict | None = None
        self.client = Client()
        self.announce(starting=True)

    def post(self, path: str, body: dict):
        """One call of the protocol."""
        return self.client.post(f"/worker/{path}", body, "application/json", headers=self.headers)

    def announce(self, *, starting: bool = False) -> None:
        """Say that it lives."""
        body = {"starting": starting, "sandbox": "bubblewrap", "cores": 2, "memory_bytes": 8 * 2**30}
        assert self.post("announce", body).status_code == 200

    def take(self) -> Run | None:
        """Claim the run that is next for it, where there is one."""
        self.announce()
        run_id = self.post("next", {"wait_seconds": 0}).json()["run"]
        if run_id is None:
            return None
        answer = self.post(f"runs/{run_id}/claim", {})
        assert answer.status_code == 200, answer.content
        self.claimed = answer.json()
        return Run.objects.get(pk=run_id)

    @property
    def proof(self) -> dict:
        """What every call about its run carries."""
        assert self.claimed is not None
        return {"attempt": self.claimed["attempt"], "secret": self.claimed["secret"]}

    @property
    def words(self) -> str:
        """What its program prints."""
        assert self.claimed is not None
        return log_token(self.claimed["run"], self.claimed["attempt"])

    def beat(self, seconds: float = 0.0) -> int:
        """A heartbeat of a program that has started; returns the status of the answer."""
        assert self.claimed is not None
        body = {**self.proof, "started": True, "wall_seconds": seconds, "log_tail": self.words}
        return self.post(f"runs/{self.claimed['run']}/heartbeat", body).status_code

    def report(self, status: str, reason: str | None = None, *, seed: int | None = None) -> int:
        """End its run; with a seed it leaves predictions and a log. Returns the status of the answer."""
        assert self.claimed is not None
        body: dict = {
            **self.proof,
            "status": status,
            "reason": reason,
            "wall_seconds": 1.25,
            "log_tail": self.words,
        }
        if status == "failed":
            body |= {"sentence": f"It failed: {self.words}", "error_lines": self.words}
        if seed is not None:
            body |= {"predictions": self._uploaded(seed), "log": self._upload("log.txt", self.words.encode())}
            if body["log"] is None or None in body["predictions"]:
                self.claimed = None  # the site has told it already that the run is not its own any more
                return 410
        answer = self.post(f"runs/{self.claimed['run']}/report", body)
        self.claimed = None
        return answer.status_code

    def _uploaded(self, seed: int) -> list[dict | None]:
        assert self.claimed is not None
        alias = self.claimed["dataset"]["alias"]
        found = []
        for part in ("valid", "test"):
            sent = self._upload(f"{alias}_{part}.predict", predictions(seed, part))
            found.append(sent and {**sent, "part": part, "seconds": 1.0})
        return found

    def _upload(self, name: str, content: bytes) -> dict | None:
        assert self.claimed is not None
        asked = self.post(
            f"runs/{self.claimed['run']}/uploads", {**self.proof, "name": name, "size": len(content)}
        )
        if asked.status_code != 200:
            return None
        sent = self.client.put(asked.json()["url"], content, content_type="application/octet-stream")
        assert sent.status_code == 204, sent.content
        return {"name": name, "sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}


def now() -> dt.datetime:
    """The time as the site sees it."""
    return timezone.now()
