"""Looking after uploads whose deadline has passed."""

import datetime as dt

from django.utils import timezone

from datasets.uploads import bell, receiving
from datasets.uploads.models import Upload

State = Upload.State
MOST_TRIES = 2
LOST = "The site lost the reading of this file twice, most likely for want of memory. Nothing was imported."


def reconcile(now: dt.datetime | None = None) -> None:
    """Ring again for what waits, begin anew what a worker lost, and remove files that nobody came back to."""
    now = now or timezone.now()
    due = Upload.objects.filter(deadline__lte=now)
    for upload in due.filter(state=State.WORKING):
        _lost(upload, now)
    due.filter(state=State.WAITING).update(deadline=now + bell.REPEAT)
    receiving.ring_next()
    for upload in due.filter(state=State.RECEIVING):
        receiving.discard(upload)
    for upload in due.filter(state__in=(State.TABLE, State.CHECKED, State.REFUSED, State.FAILED)):
        receiving.discard_file(upload)
        Upload.objects.filter(pk=upload.pk, deadline=upload.deadline).update(deadline=None)


def _lost(upload: Upload, now: dt.datetime) -> None:
    mine = Upload.objects.filter(pk=upload.pk, state=State.WORKING, tries=upload.tries, deadline__lte=now)
    if upload.tries >= MOST_TRIES:
        mine.update(state=State.FAILED, sentence=LOST, deadline=now + receiving.KEPT_FOR)
    else:
        mine.update(
            state=State.WAITING,
            sentence="Waits to be read again: its worker was lost.",
            deadline=now + bell.REPEAT,
        )
