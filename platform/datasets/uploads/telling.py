"""How far the work on an upload is, told to its owner while it goes on."""

import datetime as dt
import time
from contextlib import AbstractContextManager

from django.db.models import QuerySet
from django.utils import timezone

from accounts.beats import prolonged
from datasets.models import DatasetVersion
from datasets.uploads.models import Upload

LEASE = dt.timedelta(minutes=2)  # a worker that was not heard for so long has lost the upload
TELL_EVERY = 0.5  # seconds


class Superseded(Exception):
    """The upload was removed, or given to another worker, while this one worked on it."""


class Teller:
    """Called with a fraction and a sentence as the work goes on; writes them twice a second at most."""

    def __init__(self, upload: Upload) -> None:
        self.upload = upload
        self._told_at = 0.0

    def __call__(self, fraction: float, sentence: str) -> None:
        """Tell how far the work is. Raises Superseded where nobody wants it any more."""
        now = time.monotonic()
        if now - self._told_at < TELL_EVERY:
            return
        self._told_at = now
        if not held(self.upload).update(progress=min(1.0, max(0.0, fraction)), sentence=sentence[:500]):
            raise Superseded

    def part(self, begin: float, end: float) -> "PartTeller":
        """The same for a part of the work."""
        return PartTeller(self, begin, end)


class PartTeller:
    """Maps the fractions of one step to their place in the whole."""

    def __init__(self, whole: Teller, begin: float, end: float) -> None:
        self.whole, self.begin, self.end = whole, begin, end

    def __call__(self, fraction: float, sentence: str) -> None:
        """Tell how far the step is."""
        self.whole(self.begin + (self.end - self.begin) * fraction, sentence)


def held(upload: Upload) -> QuerySet[Upload]:
    """The upload's row as long as this try of the work holds it; changing no row means that it was lost."""
    return Upload.objects.filter(pk=upload.pk, state=Upload.State.WORKING, tries=upload.tries)


def note_version(upload: Upload, version: DatasetVersion) -> None:
    """Write down which version came of the upload, in the transaction that keeps it.

    A try that comes after a killed worker finds it, and does not import the same file twice. Raises Superseded
    where this try no longer holds the upload.
    """
    if not held(upload).update(version=version):
        raise Superseded


def lease_kept(upload: Upload) -> AbstractContextManager[None]:
    """Prolong the deadline while the work goes on, so that a worker that was killed is noticed soon."""

    def prolong() -> None:
        held(upload).update(deadline=timezone.now() + LEASE)

    return prolonged(prolong, every=LEASE.total_seconds() / 8, what=f"upload {upload.pk}")
