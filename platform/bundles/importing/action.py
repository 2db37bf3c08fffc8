"""Importing a bundle: read it, decide what it leaves open, store its files, and write everything at once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.models import User
from accounts.refusals import Refused
from bundles.importing.images import answer_key, map_images, remembered
from bundles.importing.keeping import Keeper
from bundles.importing.making import competition_of, save_boards, save_questions
from bundles.importing.offering import offer_choices
from bundles.importing.phases import PhaseMaker
from bundles.importing.report import ImportReport
from bundles.importing.solutions import run_solutions
from bundles.importing.texts import Texts
from bundles.models import BundleImport
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
    with_solutions: bool = False,
    by: User | None = None,
    source: BundleImport | None = None,
) -> ImportReport:
    """Make a draft of a bundle, owned by `organizer`; returns everything that was found on the way.

    With an error, or with `dry_run`, nothing is left behind. `answers` are those to the questions of an earlier
    report, by their keys; `image_map` names an image of this installation for one of the bundle. Answers about
    images are remembered for the organizer's next bundle. `with_solutions` runs the bundle's solutions as
    reference entries. `by` is who asks; None is the operator. `source` is the row of a bundle that was sent.
    Raises Refused for what is not about the bundle: who may not make competitions.
    """
    if by is not None and not policy.may_create_competition(by):
        mend = "The operator of this site grants that."
        raise Refused("You may not make competitions here.", status=403, mend=mend)
    if not path.is_file():
        raise Refused(f"There is no file {path}.", status=404)
    images_named = {answer_key(image): name for image, name in (image_map or {}).items()}
    given = {**remembered(organizer), **(answers or {}), **images_named}
    with read_bundle(path, answers=given, date_order=date_order) as read:
        report = ImportReport.of_reading(read)
        if read.contest is None:
            return report
        for image in sorted(set(image_map or {}) - set(read.contest.images)):
            report.warn(
                "", f"The bundle asks for no image {image}, so nothing was mapped.", "Look at what was found."
            )
        images = map_images(read.contest, given, settings.SANDBOX_IMAGES, report)
        offer_choices(report, organizer)
        if not report.ok:
            return report
        scratch = read.workspace / "scratch"
        scratch.mkdir()
        keeper = Keeper(organizer, scratch, read.contest.layout, images, is_dry=dry_run)
        making = _Making(read.contest, keeper, report, by, given, path, source)
        making.run()
        if with_solutions and report.competition is not None:
            run_solutions(read.contest, report.competition, report, organizer=organizer, scratch=scratch)
    return report


class _TakenBack(Exception):
    """A dry run has come to its end: what it wrote is rolled back."""


@dataclass
class _Making:
    """Makes the competition of one bundle: files first, then all rows in one transaction."""

    contest: BundleContest
    keeper: Keeper
    report: ImportReport
    by: User | None
    answers: Mapping[str, str]
    path: Path
    source: BundleImport | None

    def run(self) -> None:
        """Make it; whatever goes wrong takes everything back, files too. A dry run does so at its end."""
        try:
            texts = Texts.of(self.contest, self.report)
            phases = PhaseMaker(self.contest, self.keeper, self.report)
            phases.prepare()
            with transaction.atomic():
                made = self._save(texts, phases)
                self.report.slug = made.slug
                if self.keeper.is_dry:
                    raise _TakenBack
            self.report.competition = made
        except _TakenBack:
            self.keeper.discard()
        except Refused as problem:
            self.keeper.discard()
            self.report.slug = None
            self.report.error("competition.yaml", problem.message, problem.mend)
        except BaseException:
            self.keeper.discard()
            raise

    def _save(self, texts: Texts, phases: PhaseMaker) -> Competition:
        contest, organizer = self.contest, self.keeper.organizer
        made = competition_of(contest, texts, slug=slug_of(contest.title), organizer=organizer)
        try:
            made.full_clean()
        except ValidationError as problem:
            raise Refused(" ".join(problem.messages)) from problem
        saved_at_a_free_address(made)
        Organizer.objects.create(competition=made, user=organizer, role=Organizer.Role.OWNER)
        texts.save(made, self.keeper)
        phases.save(made)
        save_boards(contest, made)
        save_questions(contest, made)
        record(
            made,
            by=self.by,
            action="import_bundle",
            text=f"The competition was made of a bundle of version {contest.version}.",
            at=clock.now(made),
            version=contest.version,
            labels_are_readable=list(contest.labels_in_reach),
        )
        self._remember(made)
        return made

    def _remember(self, made: Competition) -> None:
        """Keep what was answered, with the competition. Raises Refused where another worker has the bundle."""
        if self.source is None:
            with self.path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            BundleImport.objects.create(
                owner=self.keeper.organizer,
                filename=self.path.name[:200],
                size=self.path.stat().st_size,
                sha256=digest,
                state=BundleImport.State.IMPORTED,
                answers=dict(self.answers),
                competition=made,
            )
            return
        reading = BundleImport.objects.filter(pk=self.source.pk, state=BundleImport.State.READING)
        if not reading.filter(tries=self.source.tries).update(competition=made, answers=dict(self.answers)):
            raise Refused("This bundle is being read by somebody else.", status=409)
