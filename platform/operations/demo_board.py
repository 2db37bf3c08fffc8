"""What the demo shows: the state of its entries while they run, the leaderboard, the logins."""

from types import TracebackType

from django.utils import timezone
from rich.live import Live
from rich.table import Table
from rich.text import Text

from competitions.models import Competition, Phase
from leaderboards.board import columns, rows
from operations.demo_setup import Login
from operations.installation import Installation
from operations.terminal import notes, results, say
from submissions.models import Run, RunState, Submission

STYLES: dict[str, str] = {
    RunState.FINISHED: "green",
    RunState.FAILED: "bold red",
    RunState.CANCELLED: "red",
    RunState.RUNNING: "cyan",
    RunState.SCORING: "cyan",
    RunState.COLLECTED: "cyan",
}


class LiveState:
    """The runs of some submissions: a table that changes in place, or one line for each change.

    Used as a context. Away from a terminal the lines go to standard error, so that a log shows what happened.
    """

    def __init__(self, entries: dict[str, Submission]) -> None:
        self.names = {submission.pk: name for name, submission in entries.items()}
        self.runs: list[Run] = []
        self.is_over = False
        self._said: dict[int, str] = {}
        self._live = Live(console=notes, auto_refresh=False, transient=True) if notes.is_terminal else None

    def __enter__(self) -> "LiveState":
        if self._live is not None:
            self._live.start()
        self.refresh()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    @property
    def longest_budget(self) -> float:
        """The longest time that one of the runs may take, in seconds."""
        return max((run.budget.wall_seconds for run in self.runs), default=0.0)

    def refresh(self) -> bool:
        """Read the states again and show them; returns whether one has changed."""
        # Asked first: what has ended by then is read as ended below.
        active = Submission.objects.filter(pk__in=list(self.names), state=Submission.State.ACTIVE)
        self.is_over = not active.exists()
        found = Run.objects.filter(submission__in=list(self.names)).order_by("submission", "order")
        self.runs = list(found)
        changed = False
        for run in self.runs:
            if self._said.get(run.pk) != run.state:
                self._said[run.pk] = run.state
                changed = True
                if self._live is None:
                    say(f"  {self.names[run.submission_id]}, {run.dataset_name}: {described(run)}")
        if self._live is not None:
            self._live.update(self._table(), refresh=True)
        return changed

    def failures(self) -> list[str]:
        """A sentence for each run that did not finish."""
        return [
            f"{self.names[run.submission_id]} on {run.dataset_name} is {run.state}. {run.sentence}".strip()
            for run in self.runs
            if run.state != RunState.FINISHED
        ]

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False)
        table.add_column("entry")
        by_entry: dict[int, list[Run]] = {}
        for run in self.runs:
            by_entry.setdefault(run.submission_id, []).append(run)
        for run in next(iter(by_entry.values()), []):
            table.add_column(run.dataset_name, overflow="fold")
        for submission, runs in by_entry.items():
            cells = [Text(described(run), style=STYLES.get(run.state, "dim")) for run in runs]
            table.add_row(self.names[submission], *cells)
        return table


def described(run: Run) -> str:
    """A run's state in two or three words, with its clock while it runs."""
    if run.state == RunState.RUNNING and run.started_at:
        seconds = (timezone.now() - run.started_at).total_seconds()
        return f"{seconds:.0f} of {run.budget.wall_seconds:.0f} s"
    if run.state == RunState.FINISHED and run.wall_seconds:
        return f"done, {run.wall_seconds:.0f} s"
    if run.state == RunState.FAILED:
        return f"failed: {run.get_reason_display()}"
    return str(run.get_state_display())


def show(phase: Phase, expected: list[str]) -> list[str]:
    """Print the leaderboard; returns a sentence for each expected entrant that it does not rank."""
    now = timezone.now()
    board = list(rows(phase, now))
    part = "validation" if phase.public_part(now) == Phase.Part.VALID else "test"
    table = Table(title=f"{phase.competition.title}, {phase.title}: leaderboard of the {part} part")
    table.add_column("", justify="right")
    table.add_column("entrant", no_wrap=True)
    table.add_column("⟨R⟩", justify="right")
    table.add_column("⟨S⟩", justify="right")
    for name in columns(phase):
        table.add_column(name, justify="right")
    for row in board:
        cells = [cell_text(cell) for cell in row.cells]
        place = "" if row.rank is None else str(row.rank)
        table.add_row(place, row.entrant.name, f"{row.mean_rank:.2f}", f"{row.mean_score:.4f}", *cells)
    results.print(table)
    ranked = {row.entrant.name for row in board if row.rank is not None}
    return [f"the leaderboard does not rank {name}" for name in expected if name not in ranked]


def cell_text(cell: dict[str, object]) -> str:
    """A score with its rank, as `0.9512 (1)`."""
    value = cell["value"]
    text = f"{value:.4f}" if isinstance(value, float | int) else "missing"
    return f"{text} ({cell['rank']})"


def show_logins(installation: Installation, competition: Competition, logins: list[Login]) -> None:
    """Print where the site is and how to log in."""
    say(f"\nThe demo is at {installation.url}{competition.get_absolute_url()}")
    say(f"Log in at {installation.url}/accounts/login/ as")
    for login in logins:
        password = login.password or "(the password you chose)"
        say(f"  {login.username:<12} {password}")
    say(f"The passwords are kept in {installation.home / 'demo.json'}. Logs: {installation.home / 'logs'}.")
    say("Ctrl-C stops everything that this command started.")
