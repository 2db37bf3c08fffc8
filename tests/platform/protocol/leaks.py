"""What each person must not find on any page now, and the pages."""

from collections.abc import Iterable, Iterator

from competitions.models import Phase
from submissions.models import Attempt, Run, Score, Submission
from tests.platform.pages.crawl import read
from tests.platform.protocol.world import PEOPLE, World, log_token, now

VIEWERS = ("anonymous", "dave", *PEOPLE)
BOARDS = ("leaderboard/", "leaderboard/history/", "leaderboard.csv", "leaderboard.json")
SHOWN_DIGITS = len("0.123456")  # found also where a page rounds to fewer digits than the phase does


def pages(world: World, viewer: str) -> list[str]:
    """The addresses that could tell a viewer something."""
    base = f"/competitions/{world.slug}/"
    found = ["/", *(base + name for name in ("", "phases/", "datasets/", "evaluation/", "rules/"))]
    for phase in world.phases():
        for name in BOARDS:
            found.append(f"{base}{name}?phase={phase.number}")
        found += [f"{base}leaderboard/?phase={phase.number}&part={part}" for part in ("valid", "test")]
    if viewer != "anonymous":
        found.append(base + "submissions/")
        for submission in Submission.objects.all():
            own = f"{base}submissions/{submission.pk}/"
            found += [own, own + "archive/"]
            found += [f"{own}runs/{run.pk}/log/" for run in submission.runs.all()]
    return found


def secrets(world: World, viewer: str) -> dict[str, str]:
    """Every text that the viewer must not read now, and what it is."""
    return dict([*_names(world), *_logs(viewer), *_comments(viewer), *_scores(viewer)])


def _names(world: World) -> Iterator[tuple[str, str]]:
    """Names of datasets that a blind phase uses and that were not revealed."""
    moment = now()
    for phase in world.phases():
        for task in phase.tasks.all():
            known = task.revealed_at is not None and task.revealed_at <= moment
            if phase.kind == "automl" and not known:
                for text in world.hidden_sets[task.dataset_id]:
                    yield text, f"dataset of {phase.title}"


def _logs(viewer: str) -> Iterator[tuple[str, str]]:
    """What programs printed: in hidden phases nobody reads it, elsewhere their own people."""
    for run_id, number, name, kind in Attempt.objects.values_list(
        "run", "number", "run__submission__user__username", "run__submission__phase__kind"
    ):
        if name != viewer or kind in ("final", "automl"):
            yield log_token(run_id, number), f"log of run {run_id} in a {kind} phase"


def _comments(viewer: str) -> Iterator[tuple[str, str]]:
    """What people wrote beside their archives is their own."""
    for submission in Submission.objects.exclude(user__username=viewer):
        for text in (submission.comment, submission.filename):
            yield text, f"comment or filename of submission {submission.pk}"


def _scores(viewer: str) -> Iterator[tuple[str, str]]:
    """Scores of parts that are not public; the same score may be public in a later phase."""
    shown, hidden = set(), {}
    phases = {phase.pk: phase for phase in Phase.objects.prefetch_related("children")}
    runs = dict(Run.objects.values_list("pk", "submission__user__username"))
    for score in Score.objects.select_related("run__submission"):
        phase = phases[score.run.submission.phase_id]
        text = f"{round(score.value, phase.score_digits):.{phase.score_digits}f}".lstrip("-")[:SHOWN_DIGITS]
        is_own = runs[score.run_id] == viewer
        if is_shown(phase, score.part) and (is_own or phase.board == "shown" or phase.board == "frozen"):
            shown.add(text)
        else:
            hidden[text] = f"{score.part} score of run {score.run_id} in {phase.title}"
    yield from ((text, what) for text, what in hidden.items() if text not in shown)


def is_shown(phase: Phase, part: str) -> bool:
    """Whether scores of a part are public in a phase: the feedback part at once, the test part once released."""
    moment = now()
    if not phase.takes_submissions:
        return part == "test" and released(phase)
    if part == phase.feedback_part:
        return phase.opens_at <= moment
    return any(child.kind == "final" and released(child) for child in phase.children.all())


def released(phase: Phase) -> bool:
    """By hand, or by itself when it has closed."""
    moment = now()
    if phase.released_at is not None and phase.released_at <= moment:
        return True
    return phase.release == "at_close" and phase.closes_at is not None and phase.closes_at <= moment


def check(world: World, viewer: str, addresses: Iterable[str]) -> None:
    """Open the pages as the viewer; none may hold what is hidden from them."""
    hidden = {text.encode(): what for text, what in secrets(world, viewer).items()}
    client = world.client(viewer)
    for address in addresses:
        answer = read(client.get(address), address)
        assert answer.status < 500, address
        everything = answer.everything
        for text, what in hidden.items():
            assert text not in everything, f"{viewer} reads the {what} at {address}: {text.decode()}"
