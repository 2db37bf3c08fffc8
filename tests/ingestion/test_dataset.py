"""Datasets in AutoML format: checking, loading, writing, and laying out the public part."""

import shutil
import stat
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from ingestion.dataset import (
    DataError,
    check_dataset,
    load_dataset,
    prepare_input,
    public_files,
    solution_files,
    write_dataset,
)
from ingestion.program.data import Dataset as InputDataset
from tests.shared import shared_case

SPLIT_CASES = [
    "adult_chalab_sample",
    "iris_codalab",
    "iris_kit_sample",
    "madeline",
    "rl_derived",
    "sparse_newsgroups_chalab_sample",
]


@pytest.fixture
def toy(tmp_path) -> Path:
    """A small right dataset with three classes, to be broken by each test."""
    X = np.arange(24, dtype=float).reshape(12, 2) / 2
    y = np.arange(12) % 3
    return write_dataset(
        tmp_path / "toy",
        "toy",
        task="multiclass",
        metric="BAC",
        time_budget=30,
        train=(X, y),
        valid=(X[:6], y[:6]),
        test=(X[3:], y[3:]),
        feature_names=["a", "b"],
        label_names=["x", "y", "z"],
        private_info={"title": "secret"},
    )


def change_info(folder: Path, old: str, new: str) -> None:
    path = folder / "toy_public.info"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def sentences(problems) -> str:
    return "\n".join(map(str, problems))


@pytest.mark.parametrize("case", SPLIT_CASES)
def test_real_datasets_are_accepted(case):
    report = check_dataset(shared_case(f"datasets/{case}"))
    assert not report.errors, sentences(report.errors)
    assert report.facts is not None


def test_a_wrong_target_num_is_a_warning_and_the_data_count():
    report = check_dataset(shared_case("datasets/iris_codalab"))
    assert sentences(report.warnings) == "iris_public.info: target_num is 1, the data have 3; 3 is used"
    assert report.facts.target_num == 3 and report.facts.metric == "BAC"


def test_madeline_has_no_validation_solution_and_says_so():
    report = check_dataset(shared_case("datasets/madeline"))
    assert "no validation score" in sentences(report.warnings)
    facts = report.facts
    assert (facts.has_valid_solution, facts.has_test_solution) == (False, True)
    assert (facts.train_num, facts.valid_num, facts.test_num, facts.feat_num) == (3140, 1080, 3240, 259)
    assert facts.time_budget == 1200 and facts.layout == "dense"


def test_rl_has_the_facts_of_its_description():
    facts = check_dataset(shared_case("datasets/rl_derived")).facts
    assert facts.categorical_count == 14 and facts.feat_num == 22
    assert facts.has_missing and facts.is_chronological and facts.metric == "AUC"
    assert facts.ratio == pytest.approx(14803 / 22)


def test_counts_of_the_sparse_sample_come_from_its_rows():
    report = check_dataset(shared_case("datasets/sparse_newsgroups_chalab_sample"))
    assert (report.facts.train_num, report.facts.layout) == (10, "sparse")
    assert report.facts.sparsity > 0.99
    assert "train_num is 13142, the data have 10; 10 is used" in sentences(report.warnings)


@pytest.mark.parametrize(
    ("case", "errors"),
    [
        ("adult_wrong_rows", ["raw table", "has 12 rows, adult_wrong_rows.solution has 15"]),
        ("adult_wrong_feat_spec", ["raw table", "has 5 types, the data have 24 features"]),
        ("adult_without_feat_spec", ["raw table"]),
    ],
)
def test_raw_tables_say_what_is_needed_and_what_is_broken(case, errors):
    report = check_dataset(shared_case(f"datasets/{case}"))
    assert len(report.errors) == len(errors)
    for problem, words in zip(report.errors, errors, strict=True):
        assert words in str(problem)
    assert f"{case}_train.data" in report.errors[0].mend


def test_a_missing_feat_type_is_inferred_with_a_warning():
    report = check_dataset(shared_case("datasets/adult_without_feat_spec"))
    assert "types are inferred" in sentences(report.warnings)


def test_a_right_dataset_has_nothing_to_say(toy):
    report = check_dataset(toy)
    assert (report.errors, report.warnings) == ([], [])
    assert report.facts.class_balance == pytest.approx(1.0)
    assert report.facts.label_num == report.facts.target_num == 3


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("'multiclass.classification'", "'clustering'", "the task 'clustering' is not known"),
        ("task = 'multiclass.classification'", "", "there is no task"),
        ("'bac_metric'", "'rmse'", "the metric 'rmse' is not known"),
        ("time_budget = 30", "time_budget = -5", "time_budget is -5"),
        ("time_budget = 30", "time_budget = soon", "time_budget is 'soon'"),
        ("time_budget = 30", "time_budget = nan", "time_budget is nan"),
        ("time_budget = 30", "time_budget = 1e300", "at most"),
    ],
)
def test_wrong_values_in_the_info_file_are_errors(old, new, words, toy):
    change_info(toy, old, new)
    report = check_dataset(toy)
    assert words in sentences(report.errors)
    assert all(problem.place == "toy_public.info" for problem in report.errors)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("time_budget = 30\n", "", "there is no time_budget"),
        ("metric = 'bac_metric'\n", "", "there is no metric; bac_metric is taken"),
        ("test_num = 9", "test_num = 90", "test_num is 90, the data have 9; 9 is used"),
        ("feat_num = 2\n", "", "there is no feat_num; the data have 2"),
        ("is_sparse = 0", "is_sparse = 1", "is_sparse is 1, the data are dense"),
    ],
)
def test_disagreements_of_the_info_file_are_warnings(old, new, words, toy):
    change_info(toy, old, new)
    report = check_dataset(toy)
    assert report.errors == [] and words in sentences(report.warnings)


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("toy_train.data", None, "toy_train.data: is missing"),
        ("toy_test.solution", None, "toy_test.solution: is missing"),
        ("toy_public.info", None, "no file named <name>_public.info"),
        ("toy_train.data", "1 2\n3 x\n", "toy_train.data line 2: 'x' is not a number"),
        ("toy_test.data", "1 2\n", "toy_test.data: has 1 rows, toy_test.solution has 9"),
        ("toy_valid.data", "1 2 3\n" * 6, "toy_valid.data: has 3 features, toy_train.data has 2"),
        ("toy_valid.data", "", "toy_valid.data: holds no rows"),
        ("toy_test.solution", "1 0 0\n" * 9, "every row has the same target (9 rows)"),
        ("toy_test.solution", "", "toy_test.solution: holds no targets"),
        ("toy_test.solution", "1e300\n" * 9, "is not a class index, a whole number from 0 to 99999"),
        ("toy_test.solution", "1 0 0\n0 NaN 1\n" + "0 1 0\n" * 7, "toy_test.solution row 2: a target is missing"),
        ("toy_test.solution", "1 0 0\n1 1 0\n" + "0 1 0\n" * 7, "toy_test.solution row 2: is not one-hot"),
        ("toy_test.solution", "1 0\n0 1\n" + "0 1\n" * 7, "toy_test.solution: has 2 columns"),
        ("toy_feat.type", "Numerical\n", "toy_feat.type: has 1 types, the data have 2 features"),
        ("toy_feat.type", "Numerical\nText\n", "toy_feat.type line 2: 'Text' is none of"),
        ("other_public.info", "x = 1\n", "more than one info file"),
    ],
)
def test_broken_files_are_errors_that_name_the_place(file, content, words, toy):
    (toy / file).unlink(missing_ok=True)
    if content is not None:
        (toy / file).write_text(content)
    report = check_dataset(toy)
    assert words in sentences(report.errors)
    assert all(problem.mend for problem in report.errors)


def test_a_folder_that_is_none_is_an_error_and_no_exception(tmp_path):
    assert check_dataset(tmp_path / "absent").errors
    (tmp_path / "file").write_text("")
    assert check_dataset(tmp_path / "file").errors
    (tmp_path / "empty").mkdir()
    assert "public.info" in sentences(check_dataset(tmp_path / "empty").errors)


def test_a_huge_feat_num_does_not_cost_memory(toy):
    (toy / "toy_feat.type").unlink()
    (toy / "toy_train.data").write_text("1:1\n" * 12)
    change_info(toy, "feat_num = 2", "feat_num = 999999999999")
    assert "feat_num is 999999999999" in sentences(check_dataset(toy).errors)


def test_files_of_others_are_named_and_not_imported(toy):
    (toy / "notes.txt").write_text("hello")
    assert "notes.txt" in sentences(check_dataset(toy).warnings)


def test_class_indices_in_one_column_are_expanded(toy):
    for part in ("train", "valid", "test"):
        path = toy / f"toy_{part}.solution"
        one_hot = np.loadtxt(path)
        np.savetxt(path, one_hot.argmax(axis=1) + 1, fmt="%d")
    assert check_dataset(toy).errors == []
    dataset = load_dataset(toy)
    assert dataset.train.y.tolist() == [0, 1, 2] * 4
    assert dataset.solutions["test"].shape == (9, 3)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 1), (1, 2)])
def test_binary_targets_become_zero_and_one(low, high, tmp_path):
    folder = write_dataset(
        tmp_path / "two",
        "two",
        task="binary.classification",
        metric="auc_metric",
        time_budget=10,
        train=(np.ones((4, 1)), np.array([low, high, high, low])),
        test=(np.ones((2, 1)), np.array([low, high])),
    )
    assert load_dataset(folder).train.y.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("line", ["label_num = soon", "test_num = x", "feat_num = nan", "target_num = 1e300"])
def test_counts_that_are_none_are_passed_over_where_the_data_tell(line, toy):
    with (toy / "toy_public.info").open("a") as file:
        file.write(line + "\n")
    assert load_dataset(toy).solutions["test"].shape == (9, 3)
    dataset = InputDataset(toy)
    assert dataset.features("test").shape == (9, 2) and dataset.targets().tolist() == [0, 1, 2] * 4
    assert dataset.targets_per_row in (1, 3)


def test_a_sentence_about_a_dataset_has_nothing_in_it_that_a_terminal_would_act_on(toy):
    change_info(toy, "'bac_metric'", "'\x1b[2J\u202erm'")
    (toy / "toy_train.data").write_bytes(b"1 \x1b]0;x\x07\n")
    report = check_dataset(toy)
    assert report.errors and sentences(report.errors).replace("\n", "").isprintable()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("task", ["binary", "multiclass", "multilabel", "regression"])
def test_what_is_written_is_accepted_and_loads_the_same(task, sparse, tmp_path):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((20, 5)) < 0.5, 0, rng.normal(size=(20, 5)))
    X[0, 0] = np.nan
    X[3] = 0
    targets = {
        "binary": np.arange(20) % 2,
        "multiclass": np.arange(20) % 4,
        "multilabel": np.stack([np.arange(20) % 2, np.arange(20) % 3 == 0], axis=1).astype(int),
        "regression": rng.normal(size=20),
    }
    y = targets[task]
    folder = write_dataset(
        tmp_path / task,
        task,
        task=task,
        metric="R2" if task == "regression" else "AUC",
        time_budget=12.5,
        train=(X, y),
        valid=(X[:8], y[:8]),
        test=(X[8:], None) if task == "binary" else (X[8:], y[8:]),
        sparse=sparse,
    )
    report = check_dataset(folder)
    assert sentences(report.errors) == ("binary_test.solution: is missing" if task == "binary" else "")
    dataset = load_dataset(folder)
    read = dataset.train.X.toarray() if sparse else dataset.train.X
    assert scipy.sparse.issparse(dataset.train.X) is sparse
    np.testing.assert_array_equal(read, X)
    np.testing.assert_array_equal(dataset.train.y, y)
    assert dataset.info["time_budget"] == 12.5


def test_files_are_public_or_solutions_and_private_info_is_neither(toy):
    public = {path.name for path in public_files(toy)}
    hidden = {part: path.name for part, path in solution_files(toy).items()}
    assert hidden == {"valid": "toy_valid.solution", "test": "toy_test.solution"}
    assert "toy_private.info" not in public and not public & set(hidden.values())
    assert "toy_train.solution" in public


def test_a_table_before_splitting_is_never_public():
    public = {path.name for path in public_files(shared_case("datasets/adult_chalab_sample"))}
    assert "adult.solution" not in public and "adult.data" not in public


@pytest.mark.parametrize("case", SPLIT_CASES)
def test_a_prepared_input_holds_no_hidden_label_and_reads_the_same(case, tmp_path):
    source = shared_case(f"datasets/{case}")
    prepared = prepare_input(source, tmp_path / "input", alias=None, metric=None, time_budget=60)
    solutions = {path.read_bytes() for path in solution_files(source).values()}
    for path in prepared.rglob("*"):
        assert "test.solution" not in path.name and "valid.solution" not in path.name
        assert "private" not in path.name
        if path.is_file():
            assert path.read_bytes() not in solutions
            assert not path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
    loaded, run = load_dataset(source), InputDataset(prepared)
    for part in ("train", "valid", "test"):
        expected, found = getattr(loaded, part).X, run.features(part)
        assert type(found) is type(expected) and found.dtype == np.float64
        difference = (
            abs(found - expected).nnz
            if scipy.sparse.issparse(found)
            else not np.array_equal(found, expected, equal_nan=True)
        )
        assert not difference
    np.testing.assert_array_equal(run.targets(), loaded.train.y)
    assert run.info["time_budget"] == 60 and run.info["train_num"] == len(loaded.train.y)


def test_the_cache_reads_like_the_text_beside_it(toy, tmp_path):
    prepared = prepare_input(toy, tmp_path / "input", alias=None, metric="F1", time_budget=5)
    cached = InputDataset(prepared)
    copied = shutil.copytree(prepared, tmp_path / "text", ignore=shutil.ignore_patterns("cache"))
    text = InputDataset(copied)
    for part in ("train", "valid", "test"):
        np.testing.assert_array_equal(cached.features(part), text.features(part))
    np.testing.assert_array_equal(cached.targets(), text.targets())
    assert text.info["metric"] == "f1_metric"


def test_changing_features_in_place_changes_neither_the_cache_nor_the_next_reading(tmp_path):
    source = shared_case("datasets/madeline")
    prepared = prepare_input(source, tmp_path / "input", alias=None, metric=None, time_budget=None)
    dataset = InputDataset(prepared)
    first = dataset.features("valid")
    kept = first.copy()
    first[:] = -1
    np.testing.assert_array_equal(dataset.features("valid"), kept)


def test_under_an_alias_nothing_tells_the_name(toy, tmp_path):
    prepared = prepare_input(toy, tmp_path / "input", alias="dataset3", metric="auc", time_budget=7)
    for path in prepared.rglob("*"):
        assert "toy" not in path.name
        if path.is_file():
            assert b"toy" not in path.read_bytes()
    info = InputDataset(prepared).info
    assert info["name"] == "dataset3" and info["metric"] == "auc_metric" and "usage" not in info
    assert not list(prepared.glob("*.name"))


def test_names_of_features_are_there_where_nothing_is_hidden(toy, tmp_path):
    prepared = prepare_input(toy, tmp_path / "input")
    assert (prepared / "toy_feat.name").read_text() == "a\nb\n"


def test_a_cache_is_taken_over_only_for_the_same_text(toy, tmp_path):
    once = prepare_input(toy, tmp_path / "once")
    again = prepare_input(once, tmp_path / "again", alias="hidden")
    np.testing.assert_array_equal(InputDataset(again).features("test"), InputDataset(once).features("test"))
    (once / "toy_test.data").chmod(0o644)
    (once / "toy_test.data").write_text("7 7\n" * 9)
    third = prepare_input(once, tmp_path / "third")
    assert (InputDataset(third).features("test") == 7).all()


def test_preparing_over_something_or_from_nothing_is_refused(toy, tmp_path):
    with pytest.raises(FileExistsError):
        prepare_input(toy, toy)
    (toy / "toy_train.solution").unlink()
    with pytest.raises(DataError, match=r"toy_train\.solution"):
        prepare_input(toy, tmp_path / "input")


def test_a_folder_around_the_dataset_is_stepped_into(toy):
    assert check_dataset(toy.parent).name == "toy"


def test_what_was_laid_out_before_is_linked_and_not_read_again(toy, tmp_path, monkeypatch):
    once = prepare_input(toy, tmp_path / "once")
    monkeypatch.setattr("ingestion.dataset_input.open_tables", None)  # what reads the text
    again = prepare_input(once, tmp_path / "again", alias="hidden", metric="F1", time_budget=7, link=True)
    for name in ("cache/train.npy", "cache/train.solution.npy"):
        assert (again / name).samefile(once / name)
    assert (again / "hidden_test.data").samefile(once / "toy_test.data")
    told = {"name": "hidden", "metric": "f1_metric", "time_budget": 7}
    expected = {**InputDataset(once).info, **told}
    del expected["usage"]
    assert InputDataset(again).info == expected


def test_without_leave_to_link_every_file_is_a_copy(toy, tmp_path):
    once = prepare_input(toy, tmp_path / "once")
    again = prepare_input(once, tmp_path / "again")
    for path in again.rglob("*"):
        assert path.is_dir() or (path.stat().st_nlink <= 2 and not path.samefile(once / path.relative_to(again)))


@pytest.mark.parametrize("name", ["toy_public.info", "toy_feat.type", "toy_train.solution", "toy_valid.data"])
def test_whatever_changes_in_the_text_is_read_again(name, toy, tmp_path):
    once = prepare_input(toy, tmp_path / "once")
    path = once / name
    path.chmod(0o644)
    path.write_text(path.read_text() + ("usage = 'new'\n" if name.endswith("info") else "\n"))
    again = prepare_input(once, tmp_path / "again", link=True)
    assert not (again / "toy_public.info").samefile(once / "toy_public.info")
    assert InputDataset(again).info["usage"] == ("new" if name.endswith("info") else "Podium dataset")
    np.testing.assert_array_equal(InputDataset(again).features("valid"), InputDataset(once).features("valid"))


def test_features_from_text_are_handed_over_once_and_copied_from_then_on(toy):
    dataset = InputDataset(toy)
    for _ in range(3):
        features = dataset.features("test")
        assert features[0, 0] == 3.0
        features[:] = -1
