"""Receiving an upload in pieces, so that it survives a lost connection, a reload and a restart of the site."""

import datetime as dt
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core.files import File
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from accounts.refusals import Refused
from datasets import policy as dataset_policy
from datasets.models import Dataset
from datasets.uploads import bell
from datasets.uploads.models import Upload, UploadPart
from datasets.uploads.policy import may_upload

PIECE_BYTES = 8 * 2**20  # what the page sends at once
MOST_PIECE_BYTES = 4 * PIECE_BYTES
MOST_KEPT = 20  # files of one person that wait for something
KEPT_FOR = dt.timedelta(days=7)  # how long a file waits for its rest, or for its owner's choices

State = Upload.State


def begin(
    user: User,
    *,
    filename: str,
    size: int,
    fingerprint: str = "",
    dataset: Dataset | None = None,
    title: str = "",
    description: str = "",
    check_only: bool = False,
) -> Upload:
    """A new upload, or the unfinished one of the same file, which then goes on from what has arrived.

    dataset: whose new version it is to be; its editors send those for its owner.
    Raises Refused for who may not send datasets, an empty or too large file, and too many files at once.
    """
    if not may_upload(user):
        raise Refused("Only organizers may send datasets.", status=403)
    if dataset is not None and not dataset_policy.may_edit(user, dataset):
        raise Refused("Only its owner and editors may send a new version.", status=403)
    name = kept_name(filename)
    _check_size(size)
    fingerprint, title, description = storable(fingerprint)[:200], storable(title), storable(description)
    if fingerprint:
        found = Upload.objects.filter(owner=user, state=State.RECEIVING, filename=name, size=size, dataset=dataset)
        again = found.filter(fingerprint=fingerprint).first()
        if again is not None:
            return again
    with transaction.atomic():
        # Locking the person makes the count and the new upload one step for two requests at once.
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        kept = Q(parts__isnull=False) | Q(state=State.RECEIVING)
        if Upload.objects.filter(kept, owner=user).distinct().count() >= MOST_KEPT:
            raise Refused(
                f"{MOST_KEPT} of your uploads are kept already.", status=429, mend="Remove one that is not needed."
            )
        return Upload.objects.create(
            owner=user,
            filename=name,
            size=size,
            fingerprint=fingerprint,
            dataset=dataset,
            title=title.strip()[:120],
            description=description.strip()[:20_000],
            job=Upload.Job.CHECK if check_only else Upload.Job.IMPORT,
            sentence="Is being sent.",
            deadline=timezone.now() + KEPT_FOR,
        )


def kept_name(filename: str) -> str:
    """The last part of a file's name, short enough for every file system; the ending tells the format."""
    name = storable(filename).replace("\\", "/").rpartition("/")[2].strip()
    stem, ending = name[: -len(Path(name).suffix) or None], Path(name).suffix
    if not name.strip("."):
        return "dataset"
    return stem.encode()[:150].decode(errors="ignore") + ending.encode()[:40].decode(errors="ignore")


def storable(text: str) -> str:
    """The text without what no database takes: zeros, and halves of letters that JSON can spell."""
    return text.encode(errors="ignore").decode().replace("\0", "")


def _check_size(size: int) -> None:
    if size <= 0:
        raise Refused("The file is empty.", mend="Choose the file that holds the data.")
    if size > settings.MAX_DATASET_BYTES:
        most = settings.MAX_DATASET_BYTES // 2**20
        raise Refused(f"The file is larger than the limit of {most:,} MiB.", status=413)
    # Its pieces, and the whole that they are put together to.
    if shutil.disk_usage(settings.PODIUM_HOME).free < 2 * size:
        raise Refused("The site has no room for this file.", status=507, mend="Tell the operator.")


def receive(upload: Upload, content: IO[bytes], *, offset: int, length: int) -> Upload:
    """Keep the `length` bytes of `content` that follow the first `offset` bytes of the file.

    Compare-and-set: of two requests that send the same bytes, one is taken. Raises Refused with status 409
    for another offset than what has arrived, and 400 for a content that breaks off; nothing is kept then.
    """
    if upload.state != State.RECEIVING or offset != upload.received:
        raise Refused(f"The next byte to send is {upload.received}.", status=409)
    if length <= 0 or length > MOST_PIECE_BYTES or offset + length > upload.size:
        raise Refused("A piece has a wrong length.", mend="Send it again from the beginning.", status=400)
    with tempfile.NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as scratch:
        _copy(content, scratch, length)
        part = UploadPart(upload=upload, offset=offset, size=length)
        part.file.save(f"{upload.pk}-{offset}", File(scratch), save=False)
    try:
        with transaction.atomic():
            now = timezone.now()
            won = Upload.objects.filter(pk=upload.pk, state=State.RECEIVING, received=offset).update(
                received=offset + length, changed_at=now, deadline=now + KEPT_FOR
            )
            if not won:
                raise Refused("These bytes have arrived already.", status=409)
            part.save()
            if offset + length == upload.size:
                _hand_over(upload)
    except (Refused, IntegrityError):
        part.file.storage.delete(str(part.file.name))
        raise
    upload.refresh_from_db()
    return upload


def _copy(content: IO[bytes], target: IO[bytes], length: int) -> None:
    left = length
    try:
        while left:
            block = content.read(min(left, 2**20))
            if not block:
                break
            target.write(block)
            left -= len(block)
    except OSError as broken:
        raise Refused("The connection broke off.", status=400) from broken
    if left:
        raise Refused("The connection broke off.", status=400, mend="Send the piece again.")
    target.seek(0)


def receive_whole(upload: Upload, content: IO[bytes]) -> Upload:
    """Keep a file that came in one request, in pieces as if it had come in many."""
    while not upload.is_complete:
        length = min(PIECE_BYTES, upload.size - upload.received)
        upload = receive(upload, content, offset=upload.received, length=length)
    return upload


def _hand_over(upload: Upload) -> None:
    """Let the site's worker begin, in the transaction that says that the work is wanted."""
    Upload.objects.filter(pk=upload.pk).update(
        state=State.WAITING, progress=0.0, tries=0, sentence=WAITS, deadline=timezone.now() + bell.REPEAT
    )
    transaction.on_commit(partial(bell.ring, upload.pk), robust=True)


WAITS = "Waits to be read."


def work_again(upload: Upload, *, job: str, recipe: dict[str, object] | None = None) -> None:
    """Ask for (another) work on a file that is kept: the import of a checked one, the preparing of a table.

    Raises Refused where the file is gone or is being worked on.
    """
    wanted = {State.TABLE, State.CHECKED, State.REFUSED, State.FAILED}
    with transaction.atomic():
        fields: dict[str, object] = {"job": job, "report": {}, "changed_at": timezone.now()}
        if recipe is not None:
            fields["recipe"] = recipe
        has_file = UploadPart.objects.filter(upload=upload).exists()
        won = has_file and Upload.objects.filter(pk=upload.pk, state__in=wanted).update(**fields)
        if not won:
            raise Refused("This file is being read, or is no longer kept.", status=409)
        _hand_over(upload)


def discard(upload: Upload) -> None:
    """Remove an upload, its file and its report. The work on it stops at its next step."""
    discard_file(upload)
    upload.delete()


def discard_file(upload: Upload) -> None:
    """Remove the file of an upload; its report stays."""
    parts = list(upload.parts.all())
    UploadPart.objects.filter(pk__in=[part.pk for part in parts]).delete()
    for part in parts:
        part.file.storage.delete(str(part.file.name))


def assemble(upload: Upload, target: Path) -> None:
    """Write the whole file to a path."""
    with target.open("wb") as sink:
        for part in upload.parts.all():
            with part.stored() as piece:
                shutil.copyfileobj(piece, sink, 2**20)


def ring_next() -> None:
    """Ring for the upload that waits longest."""
    waiting = Upload.objects.filter(state=State.WAITING).order_by("changed_at").values_list("pk", flat=True)
    for upload_id in waiting[:1]:
        bell.ring(upload_id)
