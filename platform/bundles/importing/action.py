"""Importing a bundle: read it, decide what it leaves open, store its files, and write everything at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.models import User
from accounts.refusals import Refused
from bundles.importing.images import answer_key, map_images
from bundles.importing.keeping import Keeper
from bundles.importing.making import competition_of, save_boards, save_questions
from bundles.importing.phases import PhaseMaker
from bundles.importing.report import ImportReport
from bundles.importing.texts import Texts
from bundles.reading.contest import BundleContest
from bundles.reading.reader import read_bundle
from competitions import clock, policy
from competitions.actions.addresses import slug_of
from competitions.actions.base import record
from competitions.actions.create import saved_at_a_free_address
from competitions.models import Competition, Organizer


def import_bundle(
    path: Path,
    *,
    organizer: User,
    answers: Mapping[str, str] | None = None,
    date_order: Literal["mdy", "dmy"] | None = None,
    image_map: Mapping[str, str] | None = None,
    dry_run: bool = False,
    by: User | None = None,
) -> ImportReport:
    """Make a draft of a bundle, owned by `organizer`; returns everything that was found on the way.

    With an error, or with `dry_run`, nothing is left behind. `answers` are those to the questions of an earlier
    report, by their keys; `image_map` names an image of this installation for one of the bundle. `by` is who
    asks; None is the operator. Raises Refused for what is not about the bundle: who may not make competitions.
    """
    if by is not None and not policy.may_create_competition(by):
        mend = "The operator of this site grants that."
        raise Refused("You may not make competitions here.", status=403, mend=mend)
    if not path.is_file():
        raise Refused(f"There is no file {path}.", status=404)
    given = {**(answers or {}), **{answer_key(image): name for image, name in (image_map or {}).items()}}
    with read_bundle(path, answers=given, date_order=date_order) as read:
        report = ImportReport.of_reading(read)
        if read.contest is None:
            return report
        images = map_images(read.contest, given, settings.SANDBOX_IMAGES, report)
        report.slug = slug_of(read.contest.title)
        if not report.ok:
            report.slug = None
            return report
        scratch = read.workspace / "scratch"
        scratch.mkdir()
        keeper = Keeper(organizer, scratch, read.contest.layout, images)
        _make(read.contest, keeper, report, dry_run=dry_run, by=by)
    return report


def _make(contest: BundleContest, keeper: Keeper, report: ImportReport, *, dry_run: bool, by: User | None) -> None:
    """Store the files and write the rows; whatever goes wrong, and a dry run, takes all of it back."""
    try:
        texts = Texts.of(contest, report)
        if dry_run:
            return
        phases = PhaseMaker(contest, keeper, report)
        phases.prepare()
        with transaction.atomic():
            report.competition = _save(contest, keeper, texts, phases, slug=report.slug or "", by=by)
    except Refused as problem:
        keeper.discard()
        report.slug = None
        report.error("competition.yaml", problem.message, problem.mend)
    except BaseException:
        keeper.discard()
        raise


def _save(
    contest: BundleContest, keeper: Keeper, texts: Texts, phases: PhaseMaker, *, slug: str, by: User | None
) -> Competition:
    competition = competition_of(contest, texts, slug=slug, organizer=keeper.organizer)
    try:
        competition.full_clean()
    except ValidationError as problem:
        raise Refused(" ".join(problem.messages)) from problem
    saved_at_a_free_address(competition)
    Organizer.objects.create(competition=competition, user=keeper.organizer, role=Organizer.Role.OWNER)
    texts.save(competition, keeper)
    phases.save(competition)
    save_boards(contest, competition)
    save_questions(contest, competition)
    record(
        competition,
        by=by,
        action="import_bundle",
        text=f"The competition was made of a bundle of version {contest.version}.",
        at=clock.now(competition),
        version=contest.version,
        labels_are_readable=list(contest.labels_in_reach),
    )
    return competition
