"""An owner asks for a competition as a bundle."""

import datetime as dt
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from django.db import transaction
from django.utils import timezone

from accounts.refusals import Refused
from bundles import bell
from bundles.exporting.writing import is_sayable, not_sayable
from bundles.models import BundleExport
from competitions import policy
from competitions.actions.base import Preview
from competitions.actions.queue import OfCompetition
from competitions.models import Competition

WAITS = "Waits to be written."


def exported(contest: Competition, *, with_solutions: bool) -> str:
    """The sentence of the audit log."""
    labels = "with its labels" if with_solutions else "without its labels"
    return f"{contest.title} was exported as a bundle, {labels}."


@dataclass
class ExportBundle(OfCompetition):
    """Write a competition as a bundle of version 2; the site's worker does it, and it is kept for a day."""

    with_solutions: bool = False
    export: BundleExport = field(init=False)

    name: ClassVar[str] = "export_bundle"

    def permit(self) -> None:
        """Owners alone: the bundle holds the programs, and the labels where they are asked for."""
        if self.by is not None and not policy.owns(self.by, self.contest):
            raise Refused(f"Only owners of {self.contest.title} may do this.", status=403)

    def check(self, now: dt.datetime) -> None:
        """It must be one that a bundle can say, and none may be on its way."""
        if not is_sayable(self.contest):
            raise not_sayable()
        busy = (BundleExport.State.WAITING, BundleExport.State.WRITING)
        if self.contest.exports.filter(state__in=busy).exists():
            raise Refused("A bundle of this competition is being written.", status=409, mend="Wait for it.")

    def preview(self, now: dt.datetime) -> Preview:
        """What is in it."""
        what = "with the labels and the reference entries" if self.with_solutions else "without the labels"
        return Preview([f"The bundle holds everything that such a bundle can say, {what}."])

    def change(self, now: dt.datetime) -> str:
        """Ask for it."""
        self.export = BundleExport.objects.create(
            competition=self.contest,
            asked_by=self.by,
            with_solutions=self.with_solutions,
            sentence=WAITS,
            deadline=timezone.now() + bell.REPEAT,
        )
        transaction.on_commit(partial(bell.ring, bell.WRITE, self.export.pk), robust=True)
        return exported(self.contest, with_solutions=self.with_solutions)

    def details(self) -> dict[str, Any]:
        """Whether labels and reference entries are in it."""
        return {"with_solutions": self.with_solutions}
