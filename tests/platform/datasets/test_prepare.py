"""Preparing a table: the split is fair, the features are numbers, and the same recipe gives the same bytes."""

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from datasets.prepare import Recipe, RecipeError, prepare, prepare_folder, suggest
from datasets.prepare.drawing import Draw
from datasets.prepare.writing import write_features
from datasets.tables import Table, read_table
from datasets.tables.describing import describe_frame, describe_matrix
from ingestion.dataset import check_dataset, load_dataset
from tests.shared import shared_case


def people(rows: int = 400) -> Table:
    """Numbers, categories, dates, gaps, groups, and a class of which a quarter is `rare`."""
    draw = np.random.default_rng(0)
    age = draw.normal(40, 10, rows)
    age[::7] = np.nan
    frame = pd.DataFrame(
        {
            "age": age,
            "job": pd.Categorical(draw.choice(["cook", "nurse", "smith"], rows)),
            "flag": draw.integers(0, 2, rows).astype(float),
            "when": pd.date_range("2018-01-01", periods=rows).to_numpy().astype("datetime64[us]"),
            "family": draw.integers(0, 40, rows).astype(float),
            "name": pd.Categorical([f"person {row}" for row in range(rows)]),
            "height": draw.normal(170, 5, rows),
            "class": pd.Categorical(np.where(np.arange(rows) % 4 == 0, "rare", "usual")),
        }
    )
    return Table("people", describe_frame(frame), frame=frame)


def recipe(**changed) -> Recipe:
    given = {"name": "secret", "task": "binary", "metric": "auc", "target": ["class"], "seed": 7, **changed}
    return Recipe.from_json(given)


def features_of(prepared, part: str = "train"):
    return prepared.features.X[prepared.parts[part]]


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def refusal(table: Table, chosen: Recipe) -> str:
    with pytest.raises(RecipeError) as caught:
        prepare(table, chosen)
    return " | ".join(f"{problem} {problem.mend}" for problem in caught.value.problems)


# The recipe -----------------------------------------------------------------------------------------------------


def test_a_recipe_survives_json():
    chosen = recipe(drop=["name"], kinds={"family": "categorical"}, probes=0.5, split="group", split_by="family")
    assert Recipe.from_json(chosen.to_json()) == chosen
    assert chosen.to_json()["version"] == 1


@pytest.mark.parametrize(
    ("changed", "place", "word"),
    [
        ({"name": "../evil"}, "name", "cannot be the name"),
        ({"task": "guessing"}, "task", "none of"),
        ({"metric": "r2"}, "metric", "does not fit"),
        ({"probes": 1.0}, "probes", "from 0 to 0.9"),
        ({"probes": float("nan")}, "probes", "from 0 to 0.9"),
        ({"test_rows": 0}, "test_rows", "from 1"),
        ({"seed": "x"}, "seed", "whole number"),
        ({"seed": True}, "seed", "whole number"),
        ({"target": "class"}, "target", "list of names"),
        ({"colour": "red"}, "colour", "no part of a recipe"),
        ({"version": 9}, "version", "version 1"),
        ({"split": "group"}, "split_by", "is empty"),
        ({"split_by": "family"}, "split_by", "not used"),
        ({"split": "time", "shuffle_rows": True}, "shuffle_rows", "never shuffled"),
        ({"is_chronological": True}, "split", "future"),
        ({"kinds": {"age": "colour"}}, "kinds", "none of"),
        ({"features": ["class", "age"]}, "features", "is the target"),
        ({"target": ["class", "flag"]}, "target", "one target"),
        ({"task": "regression", "metric": "r2"}, "split", "no classes"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_recipe_that_cannot_be_followed_is_refused_by_its_field(changed, place, word):
    with pytest.raises(RecipeError) as caught:
        recipe(**changed)
    assert [problem for problem in caught.value.problems if problem.place == place and word in problem.message]


def test_everything_that_is_wrong_is_told_at_once():
    with pytest.raises(RecipeError) as caught:
        recipe(name="", probes=2, seed=-1)
    assert {problem.place for problem in caught.value.problems} == {"name", "probes", "seed"}


@pytest.mark.parametrize(
    "changed",
    [
        {"target": ["nobody"]},
        {"drop": ["nobody"]},
        {"kinds": {"nobody": "text"}},
        {"split": "group", "split_by": "nobody"},
        {"target": []},
    ],
    ids=str,
)
def test_a_recipe_that_names_what_the_table_lacks_is_refused(changed):
    assert refusal(people(), recipe(**changed))


def test_a_column_that_was_nearly_named_is_offered():
    assert "such as height" in refusal(people(), recipe(drop=["heigth"]))


# Repeating ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changed",
    [
        {"probes": 0.5, "missing": "mark"},
        {"split": "group", "split_by": "family", "categories": "one_hot"},
        {"split": "time", "split_by": "when", "rename": False},
    ],
    ids=["probes", "groups", "time"],
)
def test_the_same_recipe_gives_the_same_bytes(tmp_path, changed):
    first = prepare_folder(people(), recipe(**changed), tmp_path / "first")
    again = prepare_folder(people(), recipe(**changed), tmp_path / "again")
    assert files_of(first) == files_of(again)


def test_another_seed_gives_another_dataset(tmp_path):
    first = prepare_folder(people(), recipe(), tmp_path / "first")
    other = prepare_folder(people(), recipe(seed=8), tmp_path / "other")
    assert files_of(first)["secret_test.data"] != files_of(other)["secret_test.data"]


def test_what_is_drawn_for_a_seed_never_changes():
    assert Draw(7, "split").order(8).tolist() == [6, 3, 4, 0, 2, 7, 5, 1]
    assert Draw(7, "rows").below(10, 5).tolist() == [8, 9, 0, 0, 8]


# Splitting ------------------------------------------------------------------------------------------------------


def test_each_row_is_in_one_part_and_classes_keep_their_shares():
    prepared = prepare(people(), recipe(test_rows=80, valid_rows=40))
    rows = np.concatenate(list(prepared.parts.values()))
    assert sorted(rows.tolist()) == list(range(400))
    assert [len(prepared.parts[part]) for part in ("train", "valid", "test")] == [280, 40, 80]
    rare = prepared.targets.labels.index("rare")
    shares = [np.mean(prepared.targets.y[rows] == rare) for rows in prepared.parts.values()]
    assert shares == pytest.approx([0.25, 0.25, 0.25])


def test_the_rule_sizes_the_test_part_by_its_smallest_class():
    large = prepare(people(4000), recipe(expected_error=0.5))
    assert (large.sizes.test, large.sizes.minority) == (400, 100)
    small = prepare(people(400), recipe(expected_error=0.1))
    assert (small.sizes.test, small.sizes.valid) == (120, 60)
    assert "asks for 500" in small.notes[-1]


def test_a_split_by_time_learns_from_the_past_and_is_never_shuffled():
    prepared = prepare(people(), recipe(split="time", split_by="when", test_rows=80, features=["when"]))
    dates = [features_of(prepared, part)[:, 0] for part in ("train", "valid", "test")]
    assert all((np.diff(one) > 0).all() for one in dates)
    assert dates[0].max() < dates[1].min() < dates[1].max() < dates[2].min()


def test_rows_of_one_time_stay_in_one_part():
    table = people()
    table.frame["family"] = np.sort(table.frame["family"])
    prepared = prepare(table, recipe(split="time", split_by="family", test_rows=80, features=["family"]))
    parts = [set(features_of(prepared, part)[:, 0]) for part in ("train", "valid", "test")]
    assert not parts[0] & parts[1] and not parts[1] & parts[2]


def test_one_time_is_in_no_two_parts_or_the_split_is_refused():
    table = people()
    table.frame["height"] = [float(row >= 300) for row in range(400)]
    chosen = recipe(split="time", split_by="height", test_rows=200, valid_rows=0)
    assert [len(rows) for rows in prepare(table, chosen).parts.values()] == [300, 100]
    assert "too few different times" in refusal(table, dataclasses.replace(chosen, valid_rows=50))


def test_the_note_on_the_test_part_counts_the_rows_that_are_in_it():
    prepared = prepare(people(), recipe(split="group", split_by="family", test_rows=79))
    test = prepared.parts["test"]
    smallest = min(np.bincount(prepared.targets.y[test]))
    assert f"The test part has {len(test)} rows, {smallest} of its smallest class" in prepared.notes[-1]


def test_chronological_tables_are_refused_any_other_split():
    table = dataclasses.replace(people(), is_chronological=True)
    assert "never shuffled" in refusal(table, recipe())
    prepared = prepare(table, recipe(split="time"))
    assert np.concatenate(list(prepared.parts.values())).tolist() == list(range(400))


def test_groups_are_never_torn_apart():
    prepared = prepare(people(), recipe(split="group", split_by="family", test_rows=80, features=["family"]))
    families = [set(features_of(prepared, part)[:, 0]) for part in ("train", "valid", "test")]
    assert not families[0] & families[1] and not families[0] & families[2] and not families[1] & families[2]
    assert len(prepared.parts["test"]) >= 80


def test_a_time_that_is_text_and_a_class_too_rare_to_split_are_refused():
    assert "not that of time" in refusal(people(), recipe(split="time", split_by="job"))
    table = people()
    table.frame["family"] = np.where(np.arange(400) == 0, 99.0, table.frame["family"] % 2)
    chosen = {"task": "multiclass", "metric": "bac", "target": ["family"]}
    assert "drop_rare" in refusal(table, recipe(**chosen))
    prepared = prepare(table, recipe(**chosen, drop_rare=3))
    assert len(prepared.targets.labels) == 2
    assert "1 rows" in prepared.notes[0]


def test_parts_that_leave_nothing_to_learn_from_are_refused():
    assert "leave 0 of 400" in refusal(people(), recipe(test_rows=300, valid_rows=100))


# Targets --------------------------------------------------------------------------------------------------------


def test_the_positive_label_is_one():
    usual, rare = prepare(people(), recipe()), prepare(people(), recipe(positive="rare"))
    assert (usual.targets.labels, usual.targets.y.mean()) == (("rare", "usual"), 0.75)
    assert (rare.targets.labels, rare.targets.y.mean()) == (("usual", "rare"), 0.25)
    assert "none of the labels" in refusal(people(), recipe(positive="odd"))
    assert "'rare' is written as 1" in " ".join(rare.notes)


def test_rows_without_a_target_are_left_out_and_counted():
    table = people()
    table.frame.loc[:9, "class"] = None
    prepared = prepare(table, recipe())
    assert len(prepared.targets.rows) == 390
    assert "10 rows without a target" in prepared.notes[0]


@pytest.mark.parametrize(
    ("chosen", "word"),
    [
        ({"target": ["job"]}, "binary task has two"),
        ({"task": "regression", "metric": "r2", "split": "random", "target": ["job"]}, "regression needs numbers"),
        ({"task": "multiclass", "metric": "bac", "target": ["height"]}, "are no classes"),
        ({"task": "multilabel", "metric": "f1", "split": "random", "target": ["flag", "job"]}, "a label has two"),
    ],
    ids=["three classes", "text", "numbers", "no label"],
)
def test_a_target_that_does_not_fit_its_task_is_refused(chosen, word):
    assert word in refusal(people(), recipe(**chosen))


# Features -------------------------------------------------------------------------------------------------------


def plain(**changed):
    chosen = recipe(shuffle_features=False, **changed)
    return prepare(people(), chosen).features


def test_target_text_and_what_the_split_goes_by_are_no_features():
    features = plain(split="group", split_by="family")
    assert features.names == ("age", "job", "flag", "when", "height")
    assert features.types == ("Numerical", "Categorical", "Binary", "Numerical", "Numerical")
    assert "name" in features.notes[0]


def test_categories_become_codes_or_a_column_each():
    coded, spread = plain(features=["job"]), plain(features=["job"], categories="one_hot")
    assert np.unique(coded.X).tolist() == [0, 1, 2]
    assert spread.names == ("job=cook", "job=nurse", "job=smith")
    assert (spread.X.argmax(axis=1) == coded.X[:, 0]).all() and (spread.X.sum(axis=1) == 1).all()


def test_missing_values_are_kept_or_filled_and_marked():
    kept, marked = plain(features=["age"]), plain(features=["age"], missing="mark")
    gaps = np.isnan(kept.X[:, 0])
    assert marked.names == ("age", "age is missing")
    assert (marked.X[:, 1] == gaps).all() and not np.isnan(marked.X).any()


def test_fillings_are_learnt_from_the_training_part_alone():
    prepared = prepare(people(), recipe(features=["age"], missing="mark", shuffle_features=False))
    ages = people().frame["age"].to_numpy()
    train = ages[prepared.targets.rows][prepared.parts["train"]]
    filled = prepared.features.X[np.isnan(ages), 0]
    assert set(filled) == {np.median(train[~np.isnan(train)])}


def test_a_column_is_taken_for_what_the_recipe_says():
    features = plain(features=["family", "name"], kinds={"family": "categorical"})
    assert features.types == ("Categorical", "Categorical")
    assert features.X[:, 1].max() == 399
    assert "cannot be taken for numerical" in refusal(
        people(), recipe(features=["job"], kinds={"job": "numerical"})
    )


def test_probes_hold_the_values_of_real_features_in_another_order():
    prepared = prepare(people(), recipe(features=["age", "height"], probes=0.75, shuffle_features=False))
    assert prepared.features.X.shape[1] == 8
    assert prepared.probes == 6
    assert "probes" not in " ".join(prepared.notes)
    named = prepare(people(), recipe(features=["age", "height"], probes=0.75, rename=False))
    assert "tell everybody which of them are probes" in " ".join(named.notes)
    for part, rows in prepared.parts.items():
        real = [np.sort(prepared.features.X[rows, column]) for column in range(2)]
        for probe in range(2, 8):
            values = np.sort(prepared.features.X[rows, probe])
            assert any(np.array_equal(values, one, equal_nan=True) for one in real), part
    columns = {tuple(np.nan_to_num(prepared.features.X[:, column])) for column in range(8)}
    assert len(columns) == 8


def test_features_are_shuffled_with_their_types():
    kept = prepare(people(), recipe(shuffle_features=False)).features
    moved = prepare(people(), recipe()).features
    assert sorted(kept.names) == sorted(moved.names) and kept.names != moved.names
    assert dict(zip(kept.names, kept.types, strict=True)) == dict(zip(moved.names, moved.types, strict=True))
    place = moved.names.index("height")
    assert (moved.X[:, place] == kept.X[:, kept.names.index("height")]).all()


# The folder -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"task": "multiclass", "metric": "pac", "target": ["job"], "probes": 0.5},
        {"task": "multilabel", "metric": "f1", "target": ["flag", "class"], "split": "random"},
        {"task": "regression", "metric": "abs", "target": ["height"], "split": "time", "split_by": "when"},
    ],
    ids=["binary", "multi-class", "multi-label", "regression"],
)
def test_the_folder_is_a_dataset_in_order_with_the_very_numbers(tmp_path, changed):
    chosen = recipe(**changed)
    folder = prepare_folder(people(), chosen, tmp_path / "out")
    checked = check_dataset(folder)
    assert checked.errors == [] and checked.warnings == []
    prepared, loaded = prepare(people(), chosen), load_dataset(folder)
    for part in ("train", "valid", "test"):
        own = getattr(loaded, part)
        assert np.array_equal(own.X, features_of(prepared, part), equal_nan=True)
        assert np.array_equal(own.y, prepared.targets.y[prepared.parts[part]])
    assert loaded.info["is_chronological_order"] == (chosen.split == "time")


def test_names_are_published_only_where_the_recipe_says_so(tmp_path):
    hidden = prepare_folder(people(), recipe(), tmp_path / "hidden")
    shown = prepare_folder(people(), recipe(rename=False, shuffle_features=False), tmp_path / "shown")
    assert not list(hidden.glob("*.name"))
    assert "job" not in "".join(path.read_text() for path in hidden.iterdir())
    assert (shown / "secret_feat.name").read_text().splitlines() == list(plain().names)
    assert (shown / "secret_label.name").read_text() == "rare\nusual\n"


def sparse_table(rows: int = 300) -> Table:
    draw = np.random.default_rng(1)
    matrix = scipy.sparse.random(rows, 40, density=0.1, format="csr", random_state=draw)
    matrix.data[::11] = np.nan
    codes = scipy.sparse.csr_matrix(draw.integers(0, 3, (rows, 1)).astype(float))
    matrix = scipy.sparse.hstack([matrix, codes], format="csr")
    names = [f"f{column}" for column in range(41)]
    columns = describe_matrix(matrix, names, {40: ("a", "b", "c")})
    return Table("sparse", columns, matrix=matrix, target=draw.integers(0, 2, rows).astype(float))


@pytest.mark.parametrize("changed", [{}, {"missing": "mark", "categories": "one_hot", "probes": 0.5}], ids=str)
def test_sparse_tables_stay_sparse(tmp_path, changed):
    chosen = recipe(target=[], **changed)
    folder = prepare_folder(sparse_table(), chosen, tmp_path / "out")
    assert check_dataset(folder).errors == []
    prepared, loaded = prepare(sparse_table(), chosen), load_dataset(folder)
    assert loaded.info["is_sparse"] is True
    assert np.array_equal(loaded.test.X.toarray(), features_of(prepared, "test").toarray(), equal_nan=True)


def test_large_parts_are_written_as_they_read_back(tmp_path, monkeypatch):
    monkeypatch.setattr("datasets.prepare.writing._AT_A_TIME", 50)
    dense = np.random.default_rng(2).normal(size=(37, 7)) * 10.0 ** np.arange(-3, 4)
    csr = scipy.sparse.random(37, 90, density=0.2, format="csr", random_state=2)
    for values in (dense, csr):
        write_features(tmp_path / "x.data", values)
        rows = (tmp_path / "x.data").read_text().split("\n")
        assert rows.pop() == ""
        assert len(rows) == 37
    pairs = [[pair.split(":") for pair in row.split()] for row in rows]
    back = np.zeros((37, 90))
    for row, entries in enumerate(pairs):
        for index, value in entries:
            back[row, int(index) - 1] = float(value)
    assert np.array_equal(back, csr.toarray())


# Suggestions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "task", "metric", "split"),
    [
        ([], "binary.classification", "AUC", "stratified"),
        (["job"], "multiclass.classification", "BAC", "stratified"),
        (["height"], "regression", "R2", "random"),
        (["flag", "class"], "multilabel.classification", "F1", "random"),
    ],
)
def test_a_recipe_is_suggested_by_the_values_of_the_target(target, task, metric, split):
    found = suggest(people(), target=target)
    assert (found.task, found.metric, found.split) == (task, metric, split)
    assert found.target == (tuple(target) or ("class",))
    assert found.problems() == []


@pytest.mark.shared
@pytest.mark.parametrize("name", ["adult_chalab_sample", "sparse_newsgroups_chalab_sample"])
def test_a_dataset_that_is_not_split_gets_the_recipe_of_its_info_file(tmp_path, name):
    table = read_table(shared_case(f"datasets/{name}")).table
    found = dataclasses.replace(suggest(table), split="random", valid_rows=0, test_rows=4)
    assert found.task == table.task
    assert found.problems() == []
