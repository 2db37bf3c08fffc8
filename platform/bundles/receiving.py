"""Bundles that organizers send: kept, answered, sent away."""

import datetime as dt
import hashlib
import shutil
from collections.abc import Mapping
from functools import partial

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from accounts.refusals import Refused
from bundles import bell
from bundles.models import BundleImport
from competitions import policy
from datasets.uploads.receiving import kept_name

MOST_BYTES = 2 * 2**30
MOST_KEPT = 10  # bundles of one person that wait for something
KEPT_FOR = dt.timedelta(days=7)  # how long a bundle waits for its owner
LONGEST_ANSWER = 500
SOLUTIONS = "solutions"  # the key of the answer whether the bundle's solutions run as reference entries

State = BundleImport.State
WAITS = "Waits to be read."
SETTLED = (State.ASKS, State.REFUSED, State.FAILED)


def require_sender(user: User) -> None:
    """Refuse who may not make competitions."""
    if not policy.may_create_competition(user):
        mend = "The operator of this site grants that."
        raise Refused("You may not make competitions here.", status=403, mend=mend)


def receive(user: User, file: "File[bytes]", *, filename: str) -> BundleImport:
    """Keep a bundle that was sent, and let the site's worker read it."""
    require_sender(user)
    size = file.size or 0
    if not size:
        raise Refused("The file is empty.", mend="Choose the zip of the bundle.")
    if size > MOST_BYTES:
        raise Refused(f"A bundle has at most {MOST_BYTES // 2**30} GiB.", status=413)
    # The bundle, its unpacked files, and what is kept of them.
    if shutil.disk_usage(settings.PODIUM_HOME).free < 4 * size:
        raise Refused("The site has no room for this file.", status=507, mend="Tell the operator.")
    if BundleImport.objects.filter(owner=user).exclude(file="").count() >= MOST_KEPT:
        mend = "Remove one that is not needed."
        raise Refused(f"{MOST_KEPT} of your bundles are kept already.", status=429, mend=mend)
    made = BundleImport(owner=user, filename=kept_name(filename), size=size, sentence=WAITS)
    made.sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    file.seek(0)
    made.file.save("bundle.zip", file, save=False)
    try:
        with transaction.atomic():
            made.deadline = timezone.now() + bell.REPEAT
            made.save()
            transaction.on_commit(partial(bell.ring, bell.READ, made.pk), robust=True)
    except BaseException:
        made.file.storage.delete(str(made.file.name))
        raise
    return made


def answer(bundle: BundleImport, answers: Mapping[str, str], *, is_wanted: bool) -> None:
    """Keep the answers to the questions of the report, and read it again; `is_wanted`: then import it.

    Refused where it is being read, or is kept no more.
    """
    require_sender(bundle.owner)
    asked = {question["key"] for question in bundle.report.get("questions", [])}
    if bundle.report.get("solutions"):
        asked.add(SOLUTIONS)
    kept = {key: value[:LONGEST_ANSWER] for key, value in answers.items() if key in asked}
    with transaction.atomic():
        won = (
            BundleImport.objects.filter(pk=bundle.pk, state__in=SETTLED)
            .exclude(file="")
            .update(
                state=State.WAITING,
                answers={**bundle.answers, **kept},
                is_wanted=is_wanted,
                sentence=WAITS,
                tries=0,
                deadline=timezone.now() + bell.REPEAT,
            )
        )
        if not won:
            raise Refused("This bundle is being read, or is no longer kept.", status=409)
        transaction.on_commit(partial(bell.ring, bell.READ, bundle.pk), robust=True)


def discard(bundle: BundleImport) -> None:
    """Remove a bundle, its file and its report; the competition that was made of it stays."""
    discard_file(bundle)
    bundle.delete()


def discard_file(bundle: BundleImport) -> None:
    """Remove the file; the report stays."""
    if bundle.file:
        storage, name = bundle.file.storage, str(bundle.file.name)
        BundleImport.objects.filter(pk=bundle.pk).update(file="")
        storage.delete(name)
