"""Actions on the queue, on datasets that fail for everybody, and on single submissions and runs."""

from django import forms

from competitions.actions import queue
from pages.offers.base import Nothing, Offer
from submissions import moderation, quarantine


class ToldWhy(forms.Form):
    """A reason that participants read."""

    reason = forms.CharField(
        max_length=300, label="Why", help_text="Shown to the participants, on the board and with runs that wait."
    )


OFFERS: dict[str, Offer] = {
    "pause-queue": Offer(
        "Pause the queue",
        "",
        Nothing,
        lambda a: queue.PauseQueue(by=a.by, contest=a.competition),
        back="manage_queue",
    ),
    "resume-queue": Offer(
        "Let the queue go on",
        "",
        Nothing,
        lambda a: queue.ResumeQueue(by=a.by, contest=a.competition),
        back="manage_queue",
    ),
    "ring-again": Offer(
        "Ring again",
        "",
        Nothing,
        lambda a: quarantine.RingAgain(by=a.by, contest=a.competition),
        back="manage_queue",
    ),
    "ring-run": Offer(
        "Ring again",
        "run",
        Nothing,
        lambda a: quarantine.RingAgain(by=a.by, contest=a.competition, run=a.run),
        back="manage_queue",
    ),
    "quarantine": Offer(
        "Set the dataset aside",
        "task",
        ToldWhy,
        lambda a: quarantine.Quarantine(by=a.by, task=a.task, reason=a.answers["reason"]),
        is_dangerous=True,
        back="manage_queue",
    ),
    "lift-quarantine": Offer(
        "Take the dataset back",
        "task",
        Nothing,
        lambda a: quarantine.LiftQuarantine(by=a.by, task=a.task),
        back="manage_queue",
    ),
    "rescore-submission": Offer(
        "Score again",
        "submission",
        Nothing,
        lambda a: moderation.RescoreSubmission(by=a.by, submission=a.submission),
    ),
    "cancel-submission": Offer(
        "Cancel",
        "submission",
        Nothing,
        lambda a: moderation.CancelSubmission(by=a.by, submission=a.submission),
        is_dangerous=True,
    ),
}
