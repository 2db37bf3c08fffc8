"""The normal form of a bundle: what Codabench (v2) and CodaLab (v1.5) can say, in one set of words.

Nothing here knows the database. Files stay in the folder that the bundle was unpacked to until somebody asks
for them; every other value is final: times in UTC, quotas and rules in Podium's meaning, defaults filled in.
"""

from __future__ import annotations

import datetime as dt
import itertools
import zipfile
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

# Packed folders carry this instead of the time of unpacking: the same files make the same zip.
_STAMP = (1980, 1, 1, 0, 0, 0)


class Rule(StrEnum):
    """Which submissions stand on a board; the values are those of `ColumnBoard.Rule`."""

    ADD = "Add"
    ADD_AND_DELETE = "Add_And_Delete"
    ADD_AND_DELETE_MULTIPLE = "Add_And_Delete_Multiple"
    FORCE_LAST = "Force_Last"
    FORCE_LATEST_MULTIPLE = "Force_Latest_Multiple"
    FORCE_BEST = "Force_Best"


class Computation(StrEnum):
    """How a column comes to its values; the values are those of `Column.Computation`."""

    NONE = ""
    AVG = "avg"
    SUM = "sum"
    MIN = "min"
    MAX = "max"
    MEAN_RANK = "mean_rank"
    RECIPROCAL_RANK = "mrr"


class Accepts(StrEnum):
    """What entrants send to a phase."""

    ANY = "any"
    CODE = "code"
    RESULTS = "results"


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A time of the bundle: in UTC, and the offset it was written with ("" when it said none, taken as UTC)."""

    utc: dt.datetime
    zone: str = ""


@dataclass(frozen=True, kw_only=True)
class FileSource:
    """Files that the bundle brings, or that the site has already.

    `path` is a zip, a single file or a folder below the unpacked bundle; it is None when `stored` names
    something of the site, as the organizer answered ("dataset:12", "program:3").
    """

    place: str
    name: str
    path: Path | None = None
    stored: str = ""

    @property
    def is_zip(self) -> bool:
        """Whether the files are packed already. Tables and arrays that are zips inside (.npz, .xlsx) are not."""
        if self.path is None or self.path.suffix.lower() not in (".zip", ""):
            return False
        return self.path.is_file() and zipfile.is_zipfile(self.path)

    def as_zip(self, folder: Path) -> Path:
        """The files as a zip: the bundle's own, or one packed now into `folder`, the same for the same files."""
        if self.path is None:
            raise ValueError(f"{self.name} is no file of the bundle.")
        if self.is_zip:
            return self.path
        stem = self.path.stem if self.path.is_file() else self.path.name
        packed = next(
            free
            for number in itertools.count(1)
            if not (free := folder / (f"{stem}.zip" if number == 1 else f"{stem}-{number}.zip")).exists()
        )
        files = [self.path] if self.path.is_file() else sorted(p for p in self.path.rglob("*") if p.is_file())
        base = self.path.parent if self.path.is_file() else self.path
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
            for file in files:
                _add(target, file, file.relative_to(base).as_posix())
        return packed


def _add(target: zipfile.ZipFile, file: Path, name: str) -> None:
    entry = zipfile.ZipInfo(name, _STAMP)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o100755 if file.stat().st_mode & 0o111 else 0o100644) << 16
    with file.open("rb") as source, target.open(entry, "w", force_zip64=file.stat().st_size > 1 << 31) as sink:
        while chunk := source.read(1 << 20):
            sink.write(chunk)


@dataclass(frozen=True, kw_only=True)
class ProgramSource(FileSource):
    """A program of the organizers, with the command of its metadata."""

    command: str = ""
    description: str = ""
    is_python2: bool = False


@dataclass(frozen=True, kw_only=True)
class PageSource:
    r"""A page: markdown or HTML, as written but for its links.

    Links to files of the bundle read `bundle:PATH`, and `assets` says which file each PATH is; a PATH is
    percent-encoded, so that it ends where `[\w./~%-]+` ends. Nothing is sanitised here.
    """

    title: str
    text: str
    is_html: bool
    assets: dict[str, Path] = field(default_factory=dict)
    role: str = ""  # "overview", "evaluation", "terms", "data" where the bundle says so, else ""


@dataclass(frozen=True, kw_only=True)
class ColumnSource:
    """A column of a board, in the order of the board."""

    key: str
    title: str
    group: str = ""
    is_ascending: bool = False
    precision: int = 2
    is_hidden: bool = False
    computation: Computation = Computation.NONE
    fields: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BoardSource:
    """A leaderboard; `primary` is the key of the column that decides."""

    key: str
    title: str
    rule: Rule
    primary: str
    columns: tuple[ColumnSource, ...]
    is_hidden: bool = False


@dataclass(frozen=True, kw_only=True)
class QuestionSource:
    """A question of the fact sheet; `kind` is "text", "choice" or "yes_no", as `Question.Kind`."""

    key: str
    text: str
    kind: str
    choices: tuple[str, ...] = ()
    is_required: bool = False
    is_on_board: bool = False


@dataclass(frozen=True, kw_only=True)
class TaskSource:
    """What a submission is tried on. `number` is its place in `BundleContest.tasks`."""

    number: int
    name: str
    description: str = ""
    scoring_program: ProgramSource
    ingestion_program: ProgramSource | None = None
    input_data: FileSource | None = None
    reference_data: FileSource | None = None
    overlaps: bool = False


@dataclass(frozen=True, kw_only=True)
class DataLink:
    """Data that a phase offers under an address. The server never fetches it."""

    name: str
    url: str
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class PhaseSource:
    """A window in time. `tasks`, `fans_out_from` and `number` count from 0 in the order of the contest.

    A quota of None is no limit, one of 0 means that nothing is sent here directly. `hides_board` keeps the
    whole board from entrants, `hides_scores` the score of their own submissions too.
    """

    number: int
    name: str
    description: str = ""
    starts_at: Moment
    ends_at: Moment | None = None
    tasks: tuple[int, ...]
    accepts: Accepts = Accepts.ANY
    daily_quota: int | None = None
    total_quota: int | None = None
    wall_seconds: float = 600.0
    image: str = ""
    ingestion_image: str = ""
    scoring_image: str = ""
    takes_over: bool = False  # submissions of the phase before come here when it starts
    fans_out_from: int | None = None
    hidden_columns: tuple[str, ...] = ()
    hides_output: bool = False
    hides_prediction_output: bool = False
    hides_score_output: bool = False
    hides_board: bool = False
    hides_scores: bool = False
    max_submission_bytes: int | None = None
    public_data: FileSource | None = None
    starting_kit: FileSource | None = None
    links: tuple[DataLink, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SolutionSource:
    """A submission that the bundle brings for some of its tasks, to run as a reference entry when asked."""

    name: str
    description: str = ""
    file: FileSource
    tasks: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class BundleContest:
    """A whole bundle. `version` is "2" or "1.5": it decides the directories that its programs meet.

    `images` are all names of container images that it asks for, in the order met; `image` is the one for
    everything without its own. `labels_in_reach` says, a sentence each, where participants' code would run
    beside the labels; it is empty unless the owner allowed that. `unsayable` is what the bundle says and Podium
    has no place for, a sentence each.
    """

    version: str
    title: str
    summary: str = ""
    logo: Path | None = None
    reward: str = ""
    contact_email: str = ""
    approves_registration: bool = True
    terms: PageSource | None = None
    pages: tuple[PageSource, ...] = ()
    image: str = ""
    images: tuple[str, ...] = ()
    queue: str = ""
    programs_are_public: bool = False
    input_is_public: bool = False
    shows_details: bool = False
    shows_details_on_board: bool = False
    board_is_anonymous: bool = False
    allows_teams: bool = False
    entrants_may_publish: bool = True
    boards: tuple[BoardSource, ...]
    questions: tuple[QuestionSource, ...] = ()
    tasks: tuple[TaskSource, ...]
    phases: tuple[PhaseSource, ...]
    solutions: tuple[SolutionSource, ...] = ()
    starts_at: Moment | None = None
    ends_at: Moment | None = None
    labels_in_reach: tuple[str, ...] = ()
    unsayable: tuple[str, ...] = ()

    @property
    def layout(self) -> int:
        """1: the places of CodaLab; 2: those of Codabench, as `ingestion.programs` numbers them."""
        return 2 if self.version == "2" else 1
