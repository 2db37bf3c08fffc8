"""Every dataset of the shared cases imports, warns or is refused as the page about formats says."""

from dataclasses import dataclass, field

import pytest

from datasets.actions import import_dataset
from datasets.models import Dataset
from datasets.tables import read_table
from tests.platform import factories as make
from tests.shared import shared_case

pytestmark = [pytest.mark.django_db, pytest.mark.shared]


@dataclass(frozen=True)
class Case:
    """What becomes of a folder: imported with `warnings`, or refused with `errors`; parts of their sentences.

    `table` says what reading it as a table that is to be split gives: True, or a part of the error.
    """

    imports: bool
    warnings: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    table: bool | str = False


CASES = {
    "madeline": Case(True, ["there will be no validation score"]),
    "rl_derived": Case(True, ["1 feature of 22 has one value"]),
    "iris_kit_sample": Case(True, ["train_num is 105, the data have 35", "test_num is 30, the data have 35"]),
    "iris_codalab": Case(True, ["target_num is 1, the data have 3; 3 is used", "too easy"]),
    "adult_chalab_sample": Case(
        True,
        ["the table before splitting is not imported", "valid_num is 3, the data have 2", "label has 1 row"],
        table=True,
    ),
    "sparse_newsgroups_chalab_sample": Case(
        True, ["classes without training rows: 0, 8, 11", "train_num is 13142, the data have 10"], table=True
    ),
    "adult_without_feat_spec": Case(
        False, ["types are inferred from the values"], ["a raw table that is not split"], table=True
    ),
    "adult_wrong_feat_spec": Case(
        False, errors=["a raw table that is not split", "has 5 types, the data have 24"], table="has 5 types"
    ),
    "adult_wrong_rows": Case(
        False, errors=["a raw table that is not split", "has 12 rows, adult_wrong_rows.solution has 15"],
        table="has 12 rows",
    ),
}  # fmt: skip


def missing(sentences, messages):
    return [sentence for sentence in sentences if not any(sentence in message for message in messages)]


@pytest.mark.parametrize("name", CASES)
def test_a_dataset_imports_warns_or_is_refused(name):
    case = CASES[name]
    report = import_dataset(shared_case(f"datasets/{name}"), owner=make.user("olga"))
    assert report.ok is case.imports, report.errors
    assert Dataset.objects.exists() is case.imports
    assert missing(case.warnings, [problem.message for problem in report.warnings]) == []
    assert missing(case.errors, [problem.message for problem in report.errors]) == []
    assert len(report.errors) == len(case.errors)
    assert all(problem.mend for problem in report.errors if "raw table" in problem.message)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.table])
def test_a_dataset_that_is_not_split_reads_as_a_table_or_says_why_not(name):
    read = read_table(shared_case(f"datasets/{name}"))
    wanted = CASES[name].table
    if wanted is True:
        assert read.table is not None, read.errors
        assert not read.errors
    else:
        assert read.table is None
        assert missing([wanted], [problem.message for problem in read.errors]) == []


def test_no_case_is_left_out():
    folder = shared_case("datasets")
    assert {path.name for path in folder.iterdir() if path.is_dir()} == set(CASES)
