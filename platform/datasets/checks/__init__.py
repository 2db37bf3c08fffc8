"""Checks of a dataset beyond its format: is it fair, does it hide what it should, can it tell entrants apart?"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from datasets.checks.baselines import best_baseline
from datasets.checks.difficulty import size_of_parts, too_easy_or_hard
from datasets.checks.duplicates import rows_in_two_parts
from datasets.checks.features import constant_features, identifiers
from datasets.checks.finding import Finding, Progress, Severity
from datasets.checks.giveaway import telling_features
from datasets.checks.leaks import leaked_solutions
from datasets.checks.material import Material
from datasets.checks.targets import classes_in_train, metric_defined, order_of_rows
from ingestion.dataset import DatasetFacts, Parsed, check_dataset
from ingestion.dataset_files import dataset_folder
from ingestion.program.info import find_name

__all__ = ["Finding", "Progress", "Severity", "check_folder"]


def check_folder(
    folder: Path,
    facts: DatasetFacts,
    *,
    reachable: Iterable[Path] | None = None,
    progress: Progress | None = None,
    parsed: Parsed | None = None,
) -> list[Finding]:
    """What is wrong or worth knowing in a dataset whose format is in order; the gravest first.

    reachable: files, folders and zips that participants or their code can get, beside the dataset's own public
    files; a hidden solution in one of them is an error.
    parsed: what `check_dataset` read, so that the text is not read again.
    """
    folder = dataset_folder(folder)
    parsed = parsed or check_dataset(folder).parsed
    if parsed is None:
        raise ValueError(f"{folder.name} cannot be read; check its format first")
    material = Material(find_name(folder), folder, facts, parsed)
    tell = progress or (lambda fraction, sentence: None)
    findings: list[Finding] = []
    steps = _steps(material, folder, reachable)
    for number, (sentence, check) in enumerate(steps):
        tell(number / len(steps), sentence)
        findings += check()
    tell(1.0, "The checks are done.")
    order = list(Severity)
    return sorted(findings, key=lambda finding: order.index(finding.severity))


def _steps(
    material: Material, folder: Path, reachable: Iterable[Path] | None
) -> list[tuple[str, Callable[[], Iterable[Finding]]]]:
    """Each step's sentence and check, in their order."""
    return [
        ("Checking whether the metric is defined.", lambda: metric_defined(material)),
        ("Checking the classes.", lambda: [*classes_in_train(material), *order_of_rows(material)]),
        ("Looking for hidden targets in public files.", lambda: leaked_solutions(material, folder, reachable)),
        ("Looking for rows in two parts.", lambda: rows_in_two_parts(material)),
        ("Looking at single features.", lambda: [*constant_features(material), *identifiers(material)]),
        ("Looking for features that give the target away.", lambda: telling_features(material)),
        ("Running quick baselines.", lambda: _by_baseline(material)),
    ]


def _by_baseline(material: Material) -> Iterator[Finding]:
    baseline = best_baseline(material)
    yield from size_of_parts(material, baseline)
    yield from too_easy_or_hard(material, baseline)
