"""Bringing datasets in."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Max
from django.db.models.fields.files import FieldFile
from django.utils.text import slugify

from accounts.models import User
from accounts.refusals import Refused
from datasets import files, known_files
from datasets.card import Card, make_card
from datasets.checks import Finding, Progress, Severity, check_folder
from datasets.models import Dataset, DatasetVersion
from datasets.rounds import propose
from datasets.scratch import scratch_folder
from ingestion.archive import RefusedArchive, open_archive
from ingestion.archive_refusal import PACK_AGAIN
from ingestion.dataset import DatasetFacts, DatasetReport, Parsed, Problem, check_dataset, solution_files
from ingestion.dataset_files import dataset_folder as inner_folder
from scoring import names


@dataclass
class ImportReport:
    """What was found in a dataset, and where it went.

    `findings` has everything that was found with its severity; `errors` and `warnings` are those of them, as the
    command prints them. `card` is None where the data could not be understood.
    """

    ok: bool
    slug: str | None = None
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    dataset: Dataset | None = None
    version: DatasetVersion | None = None
    findings: list[Finding] = field(default_factory=list)
    card: Card | None = None

    def add(self, found: Iterable[Finding]) -> None:
        """Take findings in; an error makes the report one of a refused dataset."""
        lists = {Severity.ERROR: self.errors, Severity.WARNING: self.warnings}
        for finding in found:
            self.findings.append(finding)
            if finding.severity in lists:
                lists[finding.severity].append(finding.as_problem())
        self.ok = not self.errors

    def to_json(self) -> dict[str, object]:
        """The fields that the command prints (interfaces)."""
        return {
            "ok": self.ok,
            "slug": self.slug,
            "version": self.version.number if self.version else None,
            "errors": [asdict(problem) for problem in self.errors],
            "warnings": [asdict(problem) for problem in self.warnings],
            "findings": [finding.to_json() for finding in self.findings],
            "card": self.card.row() if self.card else None,
            "round": asdict(propose(self.card)) if self.card else None,
        }


@contextmanager
def dataset_folder(path: Path) -> Iterator[Path]:
    """The folder of a dataset given as a folder or a zip; a zip is opened safely and removed afterwards."""
    if path.is_dir():
        yield path
        return
    if not path.exists():
        raise Refused(f"There is no file or folder {path}.", status=404)
    with scratch_folder("dataset-") as folder:
        try:
            yield open_archive(path, folder / "contents").root
        except RefusedArchive as refusal:
            raise Refused(str(refusal), mend=refusal.mend or PACK_AGAIN) from refusal


def import_dataset(
    path: Path,
    *,
    owner: User,
    check_only: bool = False,
    title: str | None = None,
    description: str = "",
    recipe: Mapping[str, Any] | None = None,
    irrelevant: float | None = None,
    reachable: Iterable[Path] | None = None,
    before: Iterable[Finding] = (),
    progress: Progress | None = None,
    on_kept: Callable[[DatasetVersion], None] | None = None,
) -> ImportReport:
    """Check a dataset in AutoML format and keep it, public files and solutions apart.

    The owner's dataset of the same name gets a new version; nothing is kept when there is an error or with
    `check_only`.

    recipe: how the dataset was made of a table; kept with the version, private. irrelevant: the share of probes
    among its features. reachable: files, folders and zips that participants or their code can get; a hidden
    solution in one of them refuses the dataset. before: what was found while it was made, kept with the rest.
    progress: called with a share of the work and a sentence. on_kept: called in the transaction that keeps the
    version; what it raises undoes that.
    """
    tell = progress or (lambda fraction, sentence: None)
    with dataset_folder(path) as folder, files.packing(folder) as packing:
        tell(0.0, "Reading the files.")
        if not check_only:
            packing.begin()
        checked = check_dataset(folder, progress=lambda fraction, sentence: tell(0.4 * fraction, sentence))
        if checked.parsed is not None and not check_only:
            packing.arrays(checked.parsed.features)
        report = _checked(folder, checked, owner, irrelevant, reachable, tell)
        report.add(before)
        if not report.ok or checked.facts is None:
            return report
        report.slug = slug = slug_for(checked.name, owner)
        if check_only:
            return report
        report.add(_earlier_runs(slug))
        tell(0.8, "Keeping the dataset.")
        report.version = _keep(
            folder,
            packing,
            checked,
            report,
            slug,
            owner,
            title or checked.name,
            description,
            dict(recipe or {}),
            on_kept,
        )
        report.dataset = report.version.dataset
        tell(1.0, "The dataset is kept.")
    return report


def _checked(
    folder: Path,
    checked: DatasetReport,
    owner: User,
    irrelevant: float | None,
    reachable: Iterable[Path] | None,
    tell: Progress,
) -> ImportReport:
    """The report of what reading found and, where the format is in order, of all checks, with the card."""
    report = ImportReport(ok=False)
    report.add(Finding.of_problem(problem, Severity.ERROR) for problem in checked.errors)
    report.add(Finding.of_problem(problem, Severity.WARNING) for problem in checked.warnings)
    if len(checked.name) > LONGEST_NAME:
        what = f"the name of the dataset has {len(checked.name)} characters"
        report.add([Finding("format", Severity.ERROR, checked.name, what, f"Use {LONGEST_NAME} at most.")])
    if checked.facts is None or checked.parsed is None or not report.ok:
        report.ok = False
        return report
    report.card = make_card(folder, checked.facts, parsed=checked.parsed, irrelevant=irrelevant)
    found = check_folder(
        folder,
        checked.facts,
        reachable=[*known_files.always_reachable(), *(reachable or ())],
        progress=lambda fraction, sentence: tell(0.4 + 0.4 * fraction, sentence),
        parsed=checked.parsed,
    )
    report.add(found)
    report.add(_beside_others(folder, checked.name, checked.parsed, owner))
    return report


def _beside_others(folder: Path, name: str, parsed: Parsed, owner: User) -> Iterator[Finding]:
    """What is wrong with a dataset only because of the others on this site."""
    inner = inner_folder(folder)
    yield from known_files.known_leaks(solution_files(inner), parsed, owner)
    yield from known_files.given_away(inner / f"{name}_train.solution", parsed, owner)
    earlier = DatasetVersion.objects.filter(dataset__slug=slug_for(name, owner), dataset__owner=owner)
    yield from known_files.rows_given_before(parsed, earlier, f"{name}_test.data")


LONGEST_NAME = 80
RESERVED = {"uploads"}  # pages have this address


def slug_for(name: str, owner: User) -> str:
    """The slug of the owner's dataset of this name, or a free one; other people's and other names stay apart."""
    base = slugify(name.replace(".", "-"))[:60] or "dataset"
    own = f"{base}-{slugify(owner.username)[:15]}".strip("-")
    for slug in itertools.chain([base, own], (f"{base}-{number}" for number in itertools.count(2))):
        if slug in RESERVED:
            continue
        taken = Dataset.objects.filter(slug=slug).first()
        if taken is None:
            return slug
        version = taken.current
        if taken.owner_id == owner.pk and (version is None or version.name == name):
            return slug
    raise AssertionError("there is always a free number")


def _finite(facts: dict[str, object]) -> dict[str, object]:
    """The facts without numbers that JSON cannot hold."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in facts.items()
    }


def _keep(
    folder: Path,
    packing: files.Packing,
    checked: DatasetReport,
    report: ImportReport,
    slug: str,
    owner: User,
    title: str,
    description: str,
    recipe: dict[str, Any],
    on_kept: Callable[[DatasetVersion], None] | None,
) -> DatasetVersion:
    name, facts = checked.name, checked.facts
    assert facts is not None, "only a dataset that could be read is kept"
    stored: list[FieldFile] = []
    version = _version(name, facts)
    version.card = _finite(report.card.to_json()) if report.card else {}
    version.findings = [finding.to_json() for finding in report.findings]
    version.recipe = recipe
    try:
        # Before the transaction: nobody else can write while one is open, and large files take a while.
        files.keep_files(version, folder, packing, label=slug, stored=stored)
        with transaction.atomic():
            dataset, _ = Dataset.objects.get_or_create(
                slug=slug, owner=owner, defaults={"title": title[:120], "description": description}
            )
            # Two imports at once get their numbers one after the other.
            Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
            last = dataset.versions.aggregate(last=Max("number"))["last"] or 0
            version.dataset, version.number = dataset, last + 1
            version.is_held = dataset.versions.filter(runs__isnull=False).exists()
            version.save()
            if on_kept is not None:
                on_kept(version)
    except BaseException as problem:
        for kept in stored:
            kept.storage.delete(str(kept.name))
        if isinstance(problem, IntegrityError):
            what = f"Another dataset was imported as {slug} at this very moment."
            raise Refused(what, mend="Import this one again.", status=409) from problem
        raise
    return version


def _version(name: str, facts: DatasetFacts) -> DatasetVersion:
    return DatasetVersion(
        name=name,
        task_kind=facts.task,
        metric=names.canonical_metric(facts.metric),
        time_budget=facts.time_budget,
        feat_num=facts.feat_num,
        target_num=facts.target_num,
        label_num=facts.label_num,
        train_num=facts.train_num,
        valid_num=facts.valid_num,
        test_num=facts.test_num,
        has_valid_solution=facts.has_valid_solution,
        has_test_solution=facts.has_test_solution,
        is_chronological=facts.is_chronological,
        facts=_finite(asdict(facts)),
    )


def _earlier_runs(slug: str) -> list[Finding]:
    """Say that runs exist on earlier versions: the new one waits, so that no board mixes both unnoticed."""
    versions = DatasetVersion.objects.filter(dataset__slug=slug)
    count = versions.aggregate(runs=Count("runs"))["runs"]
    if not count:
        return []
    what = (
        f"{count} runs exist on earlier versions of {slug}; they keep the version they ran with, and new runs use "
        "it until the new version is swapped in"
    )
    mend = "The page of its versions swaps it in, and can have those runs scored again or run again with it."
    return [Finding("runs", Severity.WARNING, slug, what, mend)]
