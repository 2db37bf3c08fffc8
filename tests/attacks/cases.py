"""The attacks as data: each a folder `<group>/<name>/` with a hostile source and a short expected.yaml."""

from __future__ import annotations

import dataclasses
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.attacks.inside import ROWS

HERE = Path(__file__).parent
SANDBOXES = ("docker", "bubblewrap")
DOOR = "door"  # an attack that is over before a sandbox starts
PROGRAM = "command: python3 $program/main.py $output $input\n"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One attack in one sandbox.

    what: the attack in one sentence. verdict: a reason, `ok`, or several where the moment decides. sentence,
    log, no_log: fragments of the verdict and of the log. stopped: what the platform stopped it for. held: how
    many attempts must have been refused. predictions: sets that count. score: what the scorer says about the
    predictions, `refused: ...` by fragment, or nothing. wall_at_most, cpu_at_least, cpu_at_most in seconds,
    peak_at_most in MiB. budget: as ingestion.budget, in its units. options: of the RunRequest. cannot_hold:
    why this sandbox cannot hold the attack; then `breaches` are what the program reports instead.
    """

    group: str
    name: str
    sandbox: str
    what: str
    verdict: str | list[str] = "ok"
    sentence: str | None = None
    log: list[str] = field(default_factory=list)
    no_log: list[str] = field(default_factory=list)
    notes: str | None = None
    stopped: str | None = None
    held: int = 0
    predictions: int | None = None
    score: str | None = None
    wall_at_most: float | None = None
    cpu_at_least: float | None = None
    cpu_at_most: float | None = None
    peak_at_most: int | None = None
    budget: dict[str, float] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    cannot_hold: str | None = None
    breaches: list[str] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        """Where the hostile source lies."""
        return HERE / self.group / self.name

    @property
    def verdicts(self) -> list[str]:
        """The verdicts that are right."""
        return [self.verdict] if isinstance(self.verdict, str) else self.verdict

    def __str__(self) -> str:
        return f"{self.group}/{self.name}-{self.sandbox}"

    def write(self, target: Path) -> Path:
        """The submission, written into `target`: a zip where build.py or predictions make one, else a folder."""
        target.mkdir(parents=True)
        if (self.folder / "build.py").is_file():
            archive = target / "attack.zip"
            source = (self.folder / "build.py").read_text()
            names: dict[str, Any] = {"__name__": "build"}
            exec(compile(source, str(self.folder / "build.py"), "exec"), names)
            names["build"](archive)
            return archive
        submission = target / "submission"
        shutil.copytree(self.folder, submission, ignore=shutil.ignore_patterns("expected.yaml", "__pycache__"))
        shutil.copyfile(HERE / "inside.py", submission / "inside.py")
        for part, rows in ROWS.items() if any(submission.glob("tiny_*")) else ():
            if not any(submission.glob(f"tiny_{part}*")):
                (submission / f"tiny_{part}.predict").write_text("0.5\n" * rows)
        if (submission / "main.py").is_file() and not (submission / "metadata").exists():
            (submission / "metadata").write_text(PROGRAM)
        return submission


def all_cases() -> list[Case]:
    """Every attack in every sandbox that it is for, in order.

    In an expected.yaml, `docker`, `bubblewrap` and `without_root` (bubblewrap, when another user than root runs
    it) hold what is different there.
    """
    cases = []
    for path in sorted(HERE.glob("*/*/expected.yaml")):
        values = yaml.safe_load(path.read_text())
        special = {name: values.pop(name, {}) for name in SANDBOXES}
        at_door, without_root = values.pop("at_door", False), values.pop("without_root", {})
        for sandbox in (DOOR,) if at_door else SANDBOXES:
            own = {**values, **special.get(sandbox, {})}
            if sandbox == "bubblewrap" and os.geteuid() != 0:
                own |= without_root
            cases.append(Case(group=path.parts[-3], name=path.parts[-2], sandbox=sandbox, **own))
    return cases


def known_keys() -> set[str]:
    """What may stand in an expected.yaml."""
    fields = {one.name for one in dataclasses.fields(Case)} - {"group", "name", "sandbox"}
    return {*fields, *SANDBOXES, "at_door", "without_root"}
