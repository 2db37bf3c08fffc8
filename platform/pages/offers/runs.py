"""Actions on the queue, on datasets that fail for everybody, and on single submissions and runs."""

from competitions.actions import queue
from pages.offers.base import Nothing, Offer
from submissions import moderation

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
