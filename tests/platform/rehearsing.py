"""A rehearsal in tests: it is started, moved on, and its runs do what workers would do."""

from django.core.files.base import ContentFile
from django.utils import timezone

from competitions import clock as protocol_clock
from competitions.models import Competition
from submissions.models import Prediction, Run, RunState
from submissions.rehearsal.advance import AdvanceRehearsal, coming
from submissions.rehearsal.entrants import PREFIX
from submissions.rehearsal.start import StartRehearsal, rehearsal_of
from submissions.scoring import score_run
from submissions.transitions import end_run, settle


def rehearse(contest, by=None) -> Competition:
    action = StartRehearsal(by=by or contest.created_by, contest=contest)
    action.execute()
    made = rehearsal_of(contest)
    assert made is not None
    return made


def next_stop(rehearsal) -> str:
    stop = coming(rehearsal, protocol_clock.now(rehearsal))[0]
    AdvanceRehearsal(by=rehearsal.created_by, rehearsal=rehearsal, to=stop.at).execute()
    return stop.sentence


def run_all(rehearsal) -> None:
    """What workers do: failing code fails, other code leaves predictions, and all are scored."""
    while True:
        waiting = list(
            Run.objects.filter(
                submission__phase__round__competition=rehearsal, state__in=(RunState.QUEUED, RunState.COLLECTED)
            ).select_related("submission__user", "dataset_version")
        )
        if not waiting:
            return
        for run in waiting:
            if run.submission.user.username == f"{PREFIX}failing":
                end_run(run, RunState.FAILED, reason="crashed", sentence="It failed.")
                settle(run.submission)
                continue
            if run.state == RunState.QUEUED:
                predict(run)
            score_run(run.pk)


def predict(run) -> None:
    for part in run.dataset_version.parts():
        rows, columns = run.dataset_version.prediction_shape(part)
        text = "".join(" ".join(["0.5"] * columns) + "\n" for _ in range(rows))
        prediction = Prediction(run=run, part=part, name=f"{run.dataset_name}_{part}.predict", sha256="0", size=9)
        prediction.file.save("p", ContentFile(text.encode()), save=False)
        prediction.save()
    Run.objects.filter(pk=run.pk).update(state=RunState.COLLECTED, started_at=timezone.now(), wall_seconds=1.5)
