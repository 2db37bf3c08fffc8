"""Importing datasets: public files and solutions go apart, problems are named, nothing is half kept."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings

from datasets.actions import import_dataset
from datasets.card import Card
from datasets.checks import Finding, Severity
from datasets.models import Dataset, DatasetVersion
from tests.platform import factories as make
from tests.platform.datasets.materials import written

pytestmark = pytest.mark.django_db


@pytest.fixture
def olga():
    return make.user("olga")


def small(folder: Path, name="tiny", **changed) -> Path:
    """A binary dataset in AutoML format with 6 + 4 + 4 rows."""
    folder = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["0.5 1 2\n", "1.5 0 3\n", "2.5 1 4\n", "3.5 0 5\n", "0.1 1 6\n", "0.2 0 7\n"]
    files = {
        "train.data": "".join(rows),
        "valid.data": "".join(rows[:4]),
        "test.data": "".join(rows[:4]),
        "train.solution": "0\n1\n0\n1\n0\n1\n",
        "valid.solution": "0\n1\n0\n1\n",
        "test.solution": "1\n1\n0\n0\n",
        "public.info": f"name = '{name}'\ntask = 'binary.classification'\nmetric = 'auc_metric'\n"
        "is_sparse = 0\ntime_budget = 9\n",
        "private.info": "title = 'secret origin'\n",
        "feat.type": "Numerical\nBinary\nNumerical\n",
        **changed,
    }
    for suffix, text in files.items():
        if text is not None:
            (folder / f"{name}_{suffix}").write_text(text)
    return folder


def test_a_good_dataset_becomes_a_version_with_its_facts(olga, tmp_path):
    report = import_dataset(small(tmp_path), owner=olga)
    assert report.ok, report.errors
    version = report.dataset.current
    assert (version.name, version.metric, version.task_kind) == ("tiny", "AUC", "binary.classification")
    assert (version.train_num, version.valid_num, version.test_num, version.feat_num) == (6, 4, 4, 3)
    assert version.time_budget == 9
    assert version.facts["class_balance"] == 1.0


def test_the_public_zip_holds_no_solution_of_valid_or_test_and_no_private_info(olga, tmp_path):
    version = import_dataset(small(tmp_path), owner=olga).dataset.current
    names = zipfile.ZipFile(io.BytesIO(version.public_zip.read())).namelist()
    assert "tiny/tiny_train.solution" in names
    assert not [name for name in names if "valid.solution" in name or "test.solution" in name or "private" in name]
    assert version.test_solution.read() == b"1\n1\n0\n0\n"
    assert Path(version.test_solution.path).is_relative_to(settings.SOLUTIONS)
    assert not Path(version.public_zip.path).is_relative_to(settings.SOLUTIONS)
    assert Path(settings.SOLUTIONS).stat().st_mode & 0o777 == 0o700


def test_importing_again_makes_a_new_version_and_keeps_the_old_one(olga, tmp_path):
    first = import_dataset(small(tmp_path), owner=olga).dataset
    second = import_dataset(small(tmp_path), owner=olga).dataset
    assert first == second
    assert [version.number for version in first.versions.order_by("number")] == [1, 2]


def test_the_same_name_of_another_owner_is_another_dataset(olga, tmp_path):
    import_dataset(small(tmp_path), owner=olga)
    import_dataset(small(tmp_path), owner=make.user("bob"))
    assert sorted(Dataset.objects.values_list("slug", flat=True)) == ["tiny", "tiny-bob"]


def test_checking_only_keeps_nothing(olga, tmp_path):
    report = import_dataset(small(tmp_path), owner=olga, check_only=True)
    assert (report.ok, report.slug) == (True, "tiny")
    assert DatasetVersion.objects.count() == 0


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"train.solution": "0\n1\n"}, "tiny_train.data"),
        ({"train.data": "0.5 1 2\n1.5 0.5\n", "train.solution": "0\n1\n"}, "tiny_train.data"),
        ({"valid.solution": "1\n1\n1\n1\n"}, "tiny_valid.solution"),
        ({"feat.type": "Numerical\n"}, "tiny_feat.type"),
    ],
    ids=["row count", "ragged", "undefined metric", "feature types"],
)
def test_a_broken_dataset_is_refused_with_the_place_and_nothing_is_kept(olga, tmp_path, changed, place):
    report = import_dataset(small(tmp_path, **changed), owner=olga)
    assert not report.ok
    assert any(place in problem.place for problem in report.errors), report.errors
    assert Dataset.objects.count() == 0
    assert list(Path(settings.FILE_UPLOAD_TEMP_DIR).iterdir()) == []
    assert json.dumps(report.to_json())


def test_a_zip_imports_like_a_folder(olga, tmp_path):
    folder = small(tmp_path)
    files = {f"tiny/{path.name}": path.read_bytes() for path in folder.iterdir()}
    assert import_dataset(make.zip_of(tmp_path, files, "tiny.zip"), owner=olga).ok


def test_names_that_differ_by_a_dot_only_are_two_datasets(olga, tmp_path):
    first = import_dataset(small(tmp_path, "a.b"), owner=olga)
    second = import_dataset(small(tmp_path / "more", "a-b"), owner=olga)
    assert first.slug == "a-b"
    assert second.slug not in ("", "a-b")
    assert {found.current.name for found in Dataset.objects.all()} == {"a.b", "a-b"}


def test_a_slug_that_a_third_person_took_is_no_obstacle(olga, tmp_path):
    import_dataset(small(tmp_path), owner=olga)
    import_dataset(small(tmp_path / "more", "tiny-bob"), owner=olga)
    report = import_dataset(small(tmp_path), owner=make.user("bob"))
    assert report.ok
    assert report.dataset.owner.username == "bob"
    assert Dataset.objects.count() == 3


def test_a_name_that_no_column_holds_is_refused(olga, tmp_path):
    report = import_dataset(small(tmp_path, "x" * 90), owner=olga)
    assert not report.ok
    assert "90 characters" in report.errors[0].message


def test_private_notes_with_nul_characters_are_kept_without_them(olga, tmp_path):
    report = import_dataset(small(tmp_path, **{"private.info": "title = 'a\x00b'\n"}), owner=olga)
    assert report.dataset.current.private_info == "title = 'ab'\n"


def test_the_newest_version_of_prefetched_datasets_needs_no_query(olga, tmp_path, django_assert_num_queries):
    for _ in range(2):
        import_dataset(small(tmp_path), owner=olga)
    (dataset,) = Dataset.objects.prefetch_related("versions")
    with django_assert_num_queries(0):
        assert dataset.current.number == 2


def test_a_new_version_says_that_runs_exist_on_the_one_before(olga, tmp_path):
    first = import_dataset(small(tmp_path), owner=olga)
    phase = make.phase(make.competition(), tasks=0)
    phase.tasks.create(dataset=first.dataset)
    assert import_dataset(small(tmp_path / "again"), owner=olga).warnings == first.warnings
    make.submission(phase, make.user("alice"))
    report = import_dataset(small(tmp_path / "once more"), owner=olga)
    assert report.ok
    assert "1 runs exist on earlier versions of tiny" in report.warnings[-1].message


def test_a_version_keeps_its_card_and_every_finding(olga, tmp_path):
    report = import_dataset(small(tmp_path), owner=olga, recipe={"seed": 3}, irrelevant=0.25)
    version = report.dataset.current
    card = Card.from_json(version.card)
    assert (card.name, card.features, card.irrelevant) == ("tiny", 3, 0.25)
    assert [Finding.from_json(one) for one in version.findings] == report.findings
    assert {finding.code for finding in report.findings} >= {"size"}
    assert version.recipe == {"seed": 3}


def test_errors_and_warnings_are_findings_too(olga, tmp_path):
    report = import_dataset(small(tmp_path, **{"feat.type": None}), owner=olga, check_only=True)
    weights = [finding.severity for finding in report.findings]
    assert weights.count(Severity.ERROR) == len(report.errors) == 0
    assert weights.count(Severity.WARNING) == len(report.warnings) > 0
    assert report.to_json()["round"]["name"] == "Novice"


def forty(folder: Path, name: str = "tiny", *, leaks: bool = False) -> Path:
    """A dataset of 40 rows a part; with `leaks`, a feature of the test part is its target."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, size=40)
    data = {part: rng.normal(size=(40, 3)).round(3) for part in ("train", "valid", "test")}
    if leaks:
        data["test"][:, 1] = y
    texts = {f"{part}.data": rows_of(values) for part, values in data.items()}
    solutions = {f"{part}.solution": rows_of(rng.integers(0, 2, size=(40, 1))) for part in ("train", "valid")}
    types = {"feat.type": "Numerical\n" * 3}
    return small(folder, name, **texts, **solutions, **types, **{"test.solution": rows_of(y[:, np.newaxis])})


def rows_of(values) -> str:
    return "".join(" ".join(f"{value:g}" for value in row) + "\n" for row in values)


@pytest.mark.parametrize("check_only", [False, True])
def test_a_hidden_solution_among_the_features_refuses_the_dataset(olga, tmp_path, check_only):
    report = import_dataset(forty(tmp_path, leaks=True), owner=olga, check_only=check_only)
    assert not report.ok
    assert "tiny_test.data" in report.errors[0].message
    assert Dataset.objects.count() == 0


def test_a_hidden_solution_in_a_file_that_others_can_reach_refuses_the_dataset(olga, tmp_path):
    folder = forty(tmp_path / "own")
    kit = make.zip_of(tmp_path, {"kit/answers.txt": (folder / "tiny_test.solution").read_bytes()}, "kit.zip")
    assert import_dataset(folder, owner=olga, check_only=True).ok
    report = import_dataset(folder, owner=olga, reachable=[kit])
    assert "kit.zip: kit/answers.txt" in report.errors[0].message


@pytest.mark.parametrize(("owner", "named"), [("olga", True), ("bob", False)])
def test_a_hidden_solution_that_is_public_in_another_dataset_is_refused(olga, tmp_path, owner, named):
    other = forty(tmp_path / "other", "open")
    (other / "open_train.solution").write_text((other / "open_test.solution").read_text())
    (other / "open_test.solution").write_text((other / "open_valid.solution").read_text())
    assert import_dataset(other, owner=olga).ok
    folder = forty(tmp_path / "own")
    person = olga if owner == "olga" else make.user(owner)
    report = import_dataset(folder, owner=person)
    (error,) = report.errors
    assert error.place == "tiny_test.solution"
    assert ("open_train.solution of open" in error.message) is named


def test_the_solutions_of_the_starting_kit_are_known_to_everybody(olga):
    report = import_dataset(
        settings.ROOT / "starting_kit" / "sample_data" / "patients", owner=olga, check_only=True
    )
    assert not report.ok
    assert {error.place for error in report.errors} == {"patients_valid.solution", "patients_test.solution"}


def test_training_targets_that_are_hidden_in_another_dataset_are_a_warning_to_their_owner_alone(olga, tmp_path):
    first = forty(tmp_path / "first", "first")
    second = forty(tmp_path / "second", "second")
    (second / "second_train.solution").write_text((first / "first_test.solution").read_text())
    (second / "second_test.solution").write_text((first / "first_valid.solution").read_text())
    assert import_dataset(first, owner=olga).ok
    found = {}
    for person in (olga, make.user("bob")):
        report = import_dataset(second, owner=person, check_only=True)
        found[person.username] = [w.message for w in report.warnings if "hidden targets first_test" in w.message]
    assert len(found["olga"]) == 1
    assert found["bob"] == []


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_new_split_whose_test_rows_were_training_rows_before_is_a_warning(olga, tmp_path, is_sparse):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(100, 5)).round(4), rng.integers(0, 2, size=100)
    told = []
    for number, order in enumerate((np.arange(100), rng.permutation(100))):
        columns = np.roll(np.arange(5), number)
        folder = written(tmp_path / str(number), X[order][:, columns], y[order], rows=(40, 20), sparse=is_sparse)
        report = import_dataset(folder, owner=olga)
        assert report.ok, report.errors
        told.append([w.place for w in report.warnings if "training part of version 1" in w.message])
    assert told == [[], ["small_test.data"]]
    same = import_dataset(folder, owner=olga, check_only=True)
    assert "of version 2" not in " ".join(w.message for w in same.warnings)


def test_progress_is_told_from_beginning_to_end(olga, tmp_path):
    told = []
    import_dataset(
        small(tmp_path), owner=olga, progress=lambda fraction, sentence: told.append((fraction, sentence))
    )
    fractions = [fraction for fraction, _ in told]
    assert (fractions[0], fractions[-1]) == (0.0, 1.0)
    assert fractions == sorted(fractions)
    assert all(sentence.endswith(".") for _, sentence in told)
