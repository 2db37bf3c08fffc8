"""Bringing datasets in."""

import hashlib
import itertools
import math
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.db.models import Count, Max
from django.db.models.fields.files import FieldFile
from django.utils.text import slugify

from accounts.models import User
from accounts.refusals import Refused
from datasets.models import Dataset, DatasetVersion
from ingestion.archive import RefusedArchive, open_archive
from ingestion.dataset import DatasetFacts, Problem, check_dataset, public_files, solution_files
from scoring import BadSolutionError, UndefinedMetricError, names, reading
from scoring import score as compute_score


@dataclass
class ImportReport:
    """What was found in a dataset, and where it went."""

    ok: bool
    slug: str | None = None
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    dataset: Dataset | None = None

    def to_json(self) -> dict[str, object]:
        """The fields that the command prints (interfaces)."""
        return {
            "ok": self.ok,
            "slug": self.slug,
            "version": self.dataset.current.number if self.dataset and self.dataset.current else None,
            "errors": [asdict(problem) for problem in self.errors],
            "warnings": [asdict(problem) for problem in self.warnings],
        }


@contextmanager
def dataset_folder(path: Path) -> Iterator[Path]:
    """The folder of a dataset given as a folder or a zip; a zip is opened safely and removed afterwards."""
    if path.is_dir():
        yield path
        return
    if not path.exists():
        raise Refused(f"There is no file or folder {path}.", status=404)
    folder = Path(tempfile.mkdtemp(prefix="dataset-", dir=settings.FILE_UPLOAD_TEMP_DIR))
    try:
        yield open_archive(path, folder / "contents").root
    except RefusedArchive as refusal:
        raise Refused(str(refusal)) from refusal
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def import_dataset(
    path: Path,
    *,
    owner: User,
    check_only: bool = False,
    title: str | None = None,
    description: str = "",
) -> ImportReport:
    """Check a dataset in AutoML format and keep it, public files and solutions apart.

    The owner's dataset of the same name gets a new version; nothing is kept when there is an error or with
    `check_only`.
    """
    with dataset_folder(path) as folder:
        checked = check_dataset(folder)
        report = ImportReport(ok=False, errors=list(checked.errors), warnings=list(checked.warnings))
        if len(checked.name) > LONGEST_NAME:
            what = f"the name of the dataset has {len(checked.name)} characters"
            report.errors.append(Problem(checked.name, what, f"Use {LONGEST_NAME} at most."))
        if checked.facts is not None and not report.errors:
            report.errors += _metric_problems(folder, checked.name, checked.facts)
        report.ok = not report.errors
        if not report.ok or checked.facts is None:
            return report
        report.slug = slug = slug_for(checked.name, owner)
        if check_only:
            return report
        report.warnings += _earlier_runs(slug)
        report.dataset = _keep(
            folder, checked.name, checked.facts, slug, owner, title or checked.name, description
        )
    return report


LONGEST_NAME = 80


def slug_for(name: str, owner: User) -> str:
    """The slug of the owner's dataset of this name, or a free one; other people's and other names stay apart."""
    base = slugify(name.replace(".", "-"))[:60] or "dataset"
    own = f"{base}-{slugify(owner.username)[:15]}".strip("-")
    for slug in itertools.chain([base, own], (f"{base}-{number}" for number in itertools.count(2))):
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


def _metric_problems(folder: Path, name: str, facts: DatasetFacts) -> list[Problem]:
    """Refuse a dataset whose own solution makes its metric undefined."""
    problems = []
    for part in ("valid", "test"):
        path = folder / f"{name}_{part}.solution"
        if not path.exists():
            continue
        try:
            solution = reading.read_table(path, what="solution")
            compute_score(solution, solution, task=facts.task, metric=facts.metric, stderr=False)
        except (BadSolutionError, UndefinedMetricError) as problem:
            problems.append(
                Problem(path.name, str(problem), "Choose another metric, or a split in which it is defined.")
            )
    return problems


def _keep(
    folder: Path,
    name: str,
    facts: DatasetFacts,
    slug: str,
    owner: User,
    title: str,
    description: str,
) -> Dataset:
    stored: list[FieldFile] = []
    scratch = Path(tempfile.mkdtemp(prefix="dataset-", dir=settings.FILE_UPLOAD_TEMP_DIR))
    try:
        with transaction.atomic():
            dataset, _ = Dataset.objects.get_or_create(
                slug=slug, owner=owner, defaults={"title": title[:120], "description": description}
            )
            # Two imports at once get their numbers one after the other.
            Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
            last = dataset.versions.aggregate(last=Max("number"))["last"] or 0
            version = _version(dataset, last + 1, name, facts)
            zipped = _zip_public(folder, name, scratch / "public.zip")
            with zipped.open("rb") as file:
                version.public_sha256 = hashlib.file_digest(file, "sha256").hexdigest()
                version.public_bytes = zipped.stat().st_size
                file.seek(0)
                version.public_zip.save(f"{slug}-{last + 1}.zip", File(file), save=False)
            stored.append(version.public_zip)
            for part, path in solution_files(folder).items():
                target = version.solution(part)
                with path.open("rb") as file:
                    target.save(path.name, File(file), save=False)
                stored.append(target)
            private = folder / f"{name}_private.info"
            if private.exists():
                version.private_info = private.read_text(errors="replace").replace("\0", "")[:20_000]
            version.save()
    except BaseException:
        for kept in stored:
            kept.storage.delete(str(kept.name))
        raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return dataset


def _version(dataset: Dataset, number: int, name: str, facts: DatasetFacts) -> DatasetVersion:
    return DatasetVersion(
        dataset=dataset,
        number=number,
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


def _earlier_runs(slug: str) -> list[Problem]:
    """Say that runs exist on earlier versions: they keep theirs, and a board would mix both unnoticed."""
    versions = DatasetVersion.objects.filter(dataset__slug=slug)
    count = versions.aggregate(runs=Count("runs"))["runs"]
    if not count:
        return []
    what = (
        f"{count} runs exist on earlier versions of {slug}; they keep the version they ran with, new runs do not"
    )
    mend = "The manage page of their competition can score them again, or run them again, with the new version."
    return [Problem(slug, what, mend)]


def _zip_public(folder: Path, name: str, target: Path) -> Path:
    """Zip the public files, with fixed dates, so that the same files give the same bytes."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(public_files(folder)):
            entry = zipfile.ZipInfo(f"{name}/{path.name}", date_time=(2015, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            with path.open("rb") as source, archive.open(entry, "w", force_zip64=True) as sink:
                shutil.copyfileobj(source, sink, 2**20)
    return target
