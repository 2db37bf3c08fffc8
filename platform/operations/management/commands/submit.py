"""`./podium manage submit`: the same submission as in the browser, from a terminal."""

import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import Q, QuerySet

from accounts.refusals import Refused
from competitions import clock
from competitions.columns import filled
from competitions.models import Column, Competition, Phase
from operations.commands import AT_FAULT, OK, OUR_FAULT, PodiumCommand, user_named
from submissions.actions import DropsCode, submit
from submissions.models import Reason, Run, RunState, Submission

POLL_SECONDS = 1.0


class Command(PodiumCommand):
    """Submit an archive as a user, and wait for it when asked to."""

    help = "Submit an archive to a phase. The same rules apply as in the browser."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("archive", type=Path, nargs="?", metavar="ARCHIVE", help="the zip")
        parser.add_argument("--competition", required=True, metavar="SLUG")
        parser.add_argument("--phase", type=int, metavar="N", help="the phase's number (default: the current one)")
        parser.add_argument("--user", required=True, metavar="NAME", help="whose submission it is")
        parser.add_argument("--task", nargs="+", action="extend", default=[], metavar="T", help="only these tasks")
        parser.add_argument("--comment", default="")
        parser.add_argument("--wait", action="store_true", help="wait until every run has ended")

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Submit; with --wait, follow the runs to their end."""
        archive, tasks = options["archive"], list(options["task"])
        if archive is None and len(tasks) > 1:
            archive = Path(tasks.pop())  # `--task T ARCHIVE`: the list of tasks took the archive as its last
        if archive is None:
            raise CommandError("ARCHIVE is missing: name the zip to submit.", returncode=2)
        if not archive.is_file():
            raise Refused(f"There is no file {archive}.", status=404)
        user = user_named(options["user"])
        phase = phase_of(competition_named(options["competition"]), options["phase"])
        send = partial(
            submit,
            user=user,
            phase=phase,
            archive=archive,
            filename=archive.name,
            comment=options["comment"],
            task_names=tasks or None,
        )
        try:
            submission = send()
        except DropsCode as warning:
            # The browser asks first; somebody at a terminal reads it and can send the code again.
            print(f"Warning: {warning.message} It was sent all the same.", file=sys.stderr, flush=True)
            submission = send(drops_code=True)
        if options["wait"]:
            wait_for(submission)
        result = result_of(submission)
        return result, code_of(submission, result)

    def explain(self, result: dict[str, Any]) -> str:
        """Return the submission's state, and a line for each run."""
        if result["submission"] is None:
            return str(result["sentence"])
        lines = [f"Submission {result['number']} of {result['entrant']} is {result['state']}."]
        for run in result["runs"]:
            scores = ", ".join(f"{part} {value_of(score):.4f}" for part, score in run["scores"].items())
            why = f" ({run['reason']})" if run["reason"] else ""
            lines.append(f"  {run['task']}: {run['state']}{why} {scores}".rstrip())
            lines += [f"    {line}" for line in run["sentence"].splitlines() if run["reason"]]
        return "\n".join(lines)

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the refusal in the fields of a submission that was not made."""
        return {
            "submission": None,
            "number": None,
            "entrant": None,
            "state": "refused",
            "reason": str(Reason.REFUSED.value),
            "sentence": str(refusal),
            "runs": [],
        }


def competition_named(slug: str) -> Competition:
    """Return the competition, or refuse with the slug that is not known."""
    competition = Competition.objects.filter(slug=slug).first()
    if competition is None:
        raise Refused(f"There is no competition {slug}.", status=404)
    return competition


def phase_of(competition: Competition, number: int | None) -> Phase:
    """Return the phase of that number, or the current one."""
    if number is None:
        phase = competition.current_phase(clock.now(competition))
        if phase is None:
            raise Refused(f"{competition.title} has no phases.", status=404)
    else:
        phase = competition.phases().filter(number=number).first()
        if phase is None:
            raise Refused(f"{competition.title} has no phase {number}.", status=404)
    assert isinstance(phase, Phase)
    return phase


def runs_of(submission: Submission) -> QuerySet[Run]:
    """Return the runs of a submission, and of those by which it entered parallel phases."""
    its = Q(submission=submission) | Q(submission__fanned_from=submission)
    return Run.objects.filter(its).order_by("submission__number", "order", "pk")


def wait_for(submission: Submission) -> None:
    """Wait until the submission has ended, telling each change of state on standard error."""
    said: dict[int, str] = {}
    while True:
        for run in runs_of(submission):
            text = f"{run.dataset_name}: {run.get_state_display()}. {run.sentence}".strip()
            if said.get(run.pk) != text:
                said[run.pk] = text
                print(text, file=sys.stderr, flush=True)
        submission.refresh_from_db()
        if not submission.is_active:
            return
        time.sleep(POLL_SECONDS)


def result_of(submission: Submission) -> dict[str, Any]:
    """Return the JSON object of a submission (interfaces). The operator sees unrounded scores of every part."""
    runs = list(runs_of(submission).prefetch_related("scores", "column_scores"))
    columns = list(Column.objects.filter(board__competition=submission.phase.competition))
    failed = next((run for run in runs if run.state == RunState.FAILED), None)
    telling = failed or next((run for run in runs if run.reason), None)
    return {
        "submission": submission.pk,
        "number": submission.number,
        "entrant": submission.entrant.name,
        "state": submission.state,
        "reason": (telling.reason or None) if telling else None,
        "sentence": told(telling) if telling else "",
        "runs": [run_as_json(run, columns) for run in runs],
    }


def told(run: Run) -> str:
    """Return the sentence of a run with the program's own last lines behind it."""
    return f"{run.sentence} Its last lines: {run.error_lines}" if run.error_lines else run.sentence


def run_as_json(run: Run, columns: Sequence[Column]) -> dict[str, Any]:
    """Return the JSON object of one run; `columns` are those of the competition, computed ones among them."""
    return {
        "task": run.dataset_name,
        "state": run.state,
        "reason": run.reason or None,
        "sentence": told(run),
        "usage": {
            "wall_seconds": run.wall_seconds,
            "cpu_seconds": run.cpu_seconds,
            "peak_memory_bytes": run.peak_memory_bytes,
            "output_bytes": run.output_bytes,
            "prediction_bytes": run.prediction_bytes,
        },
        "scores": {
            score.part: {"value": score.value, "raw": score.raw, "stderr": score.stderr}
            for score in run.scores.all()
        }
        | filled(columns, {score.key: score.value for score in run.column_scores.all()}),
    }


def value_of(score: "dict[str, float] | float") -> float:
    """Return the value of a metric on a part, or of a column, as `run_as_json` has it."""
    return score["value"] if isinstance(score, dict) else score


def code_of(submission: Submission, result: dict[str, Any]) -> int:
    """Return the exit code: a failed run is the input's fault, unless it is ours."""
    failed = [run for run in result["runs"] if run["state"] == RunState.FAILED]
    if any(run["reason"] == Reason.INFRASTRUCTURE for run in failed):
        return OUR_FAULT
    if failed or submission.state in (Submission.State.FAILED, Submission.State.CANCELLED):
        return AT_FAULT
    return OK
