"""Datasets as their pages show them: how much of one to whom, findings in the order of their weight."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import Http404, HttpRequest
from django.utils import timezone

from competitions import dataset_policy
from competitions.policy import Person
from datasets.card import Card, ClassShare, Shown, public_card
from datasets.models import Dataset, DatasetVersion
from datasets.policy import Access, File, may_read
from datasets.rounds import Proposal, propose

SEVERITIES = {"error": "bad", "warning": "gold", "note": "live"}
MOST_BARS = 30  # classes that are drawn one by one

# What each role may read about a version, as the page of versions says it.
WHO = {
    Access.PUBLIC: "everybody, where the dataset is public",
    Access.USER: "its owner, those it is shared with, organizers of competitions that use it",
    Access.EDITOR: "its owner and editors",
}


@dataclass(frozen=True)
class FindingLine:
    """One line of a report: how grave it is, where it was found, what it is and what mends it."""

    severity: str
    place: str
    sentence: str
    mend: str

    @property
    def style(self) -> str:
        """The colour of its severity; the word stands beside it."""
        return SEVERITIES.get(self.severity, "")


def finding_lines(report: Mapping[str, Any]) -> list[FindingLine]:
    """Every problem and finding of a report once, errors first."""
    lines = [
        FindingLine(severity, str(problem["place"]), str(problem["message"]), str(problem.get("mend") or ""))
        for severity, key in (("error", "errors"), ("warning", "warnings"))
        for problem in report.get(key) or []
    ]
    lines += lines_of_findings(report.get("findings") or [])
    order = list(SEVERITIES)
    return sorted(dict.fromkeys(lines), key=lambda line: order.index(line.severity))


def lines_of_findings(findings: Iterable[Mapping[str, Any]]) -> list[FindingLine]:
    """The findings that a version keeps, as lines."""
    return [
        FindingLine(
            severity if (severity := str(found.get("severity"))) in SEVERITIES else "note",
            str(found.get("place") or ""),
            str(found.get("sentence") or ""),
            str(found.get("mend") or ""),
        )
        for found in findings
    ]


@dataclass
class ShownDataset:
    """One dataset as one person sees it now."""

    dataset: Dataset
    access: Access
    user: Person

    @cached_property
    def version(self) -> DatasetVersion | None:
        """The version that new runs use."""
        return self.dataset.current

    @cached_property
    def card(self) -> Card | None:
        """Its card, as much of it as the person may see; None where it has none, or was imported without one."""
        return shown_card(self.version, self.access)

    @property
    def proposal(self) -> Proposal | None:
        """The round that it would suit, for who sees the whole card."""
        return propose(self.card) if self.card and self.may_read(File.CARD) else None

    @property
    def findings(self) -> list[FindingLine]:
        """What the checks found, for who may read it."""
        if self.version is None or not self.may_read(File.FINDINGS):
            return []
        return lines_of_findings(self.version.findings)

    @property
    def may_edit(self) -> bool:
        """Whether the person may change its texts and its versions."""
        return self.access >= Access.EDITOR

    @property
    def owns(self) -> bool:
        """Whether the person may share it and make it public."""
        return self.access >= Access.OWNER

    @property
    def organizes(self) -> bool:
        """Whether the person sees more of it than everybody."""
        return self.access >= Access.USER

    @property
    def private_info(self) -> str:
        """The organizer's own info file, for who may read it."""
        return self.version.private_info if self.version and self.may_read(File.PRIVATE_INFO) else ""

    @property
    def may_see_recipe(self) -> bool:
        """Whether there is a recipe that the person may read."""
        return self.version is not None and bool(self.version.recipe) and self.may_read(File.RECIPE)

    def may_read(self, file: File) -> bool:
        """Whether the person may read this about it."""
        return may_read(self.access, file)


def load(request: HttpRequest, slug: str, *, least: Access = Access.PUBLIC) -> ShownDataset:
    """The dataset of an address as the person sees it; 404 for who may not know of it or of this page of it."""
    dataset = Dataset.objects.select_related("owner").filter(slug=slug).first()
    if dataset is None:
        raise Http404("There is no such dataset.")
    access = dataset_policy.access(request.user, dataset, timezone.now())
    if access < least:
        raise Http404("There is no such dataset.")
    return ShownDataset(dataset, access, request.user)


def shown_card(version: DatasetVersion | None, access: Access) -> Card | None:
    """The card of a version for somebody with this access."""
    if version is None or not version.card or not may_read(access, File.PUBLIC_CARD):
        return None
    shown = Shown.ALL if may_read(access, File.CARD) else Shown.NAMED
    return public_card(Card.from_json(version.card), shown=shown)


@dataclass(frozen=True)
class Bars:
    """The classes of a card as bars. `rest` tells of those that are not drawn; lengths are of the largest."""

    shares: list[tuple[ClassShare, float]]
    rest: str


def class_bars(card: Card) -> Bars:
    """The largest classes in the order of their labels, as many as fit."""
    kept = sorted(card.shares, key=lambda share: -share.rows)[:MOST_BARS]
    largest = max((share.share for share in kept), default=0.0) or 1.0
    drawn = [(share, share.share / largest) for share in card.shares if share in kept][:MOST_BARS]
    left = (
        card.shares[:0]
        if len(card.shares) <= MOST_BARS
        else sorted(card.shares, key=lambda s: -s.rows)[MOST_BARS:]
    )
    rest = ""
    if left:
        rest = f"{len(left):,} smaller classes hold {sum(share.share for share in left):.1%} of the rows."
    return Bars(drawn, rest)


@dataclass(frozen=True)
class LibraryLine:
    """A dataset in the list: its current version, its card, and how the person came to see it."""

    dataset: Dataset
    version: DatasetVersion | None
    card: Card | None
    relation: str


def library_lines(user: Person, now: dt.datetime) -> tuple[list[LibraryLine], list[LibraryLine]]:
    """The person's own library, then the public datasets that are not in it."""
    own = list(dataset_policy.library(user).select_related("owner").prefetch_related("versions", "shares"))
    public = dataset_policy.public_datasets(now).exclude(pk__in=[dataset.pk for dataset in own])
    others = list(public.select_related("owner").prefetch_related("versions"))
    return (
        [_line(dataset, Access.USER, _relation(user, dataset)) for dataset in own],
        [_line(dataset, Access.PUBLIC, f"of {dataset.owner.display_name}") for dataset in others],
    )


def _line(dataset: Dataset, access: Access, relation: str) -> LibraryLine:
    version = dataset.current
    return LibraryLine(dataset, version, shown_card(version, access), relation)


def _relation(user: Person, dataset: Dataset) -> str:
    if dataset.owner_id == user.pk:
        count = len(dataset.shares.all())
        return "mine" + (f", shared with {count}" if count else "")
    for share in dataset.shares.all():
        if share.user_id == user.pk:
            return f"of {dataset.owner.display_name}, {share.get_role_display()}"
    return f"of {dataset.owner.display_name}"
