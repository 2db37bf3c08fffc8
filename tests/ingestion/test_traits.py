"""The made datasets have the traits they are named for, and are the same each time."""

import hashlib

import numpy as np
import pytest
import scipy.sparse

from ingestion.dataset import check_dataset, load_dataset, prepare_input
from ingestion.program.data import Dataset
from ingestion.traits import TRAITS, trait_named, write_trait


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = tmp_path_factory.mktemp("traits")
    return {trait.name: write_trait(trait, made / trait.name) for trait in TRAITS}


@pytest.fixture(scope="module")
def loaded(folders):
    return {name: load_dataset(folder) for name, folder in folders.items()}


def test_every_trait_that_a_blind_phase_may_have_is_there():
    assert {trait.name for trait in TRAITS} >= {
        *("dense", "sparse", "sparse_binary", "binary", "multiclass", "multilabel", "regression"),
        *("missing", "categorical", "one_feature", "wide", "long", "rare_class", "no_valid"),
    }
    assert {trait.task.split(".")[0] for trait in TRAITS} == {"binary", "multiclass", "multilabel", "regression"}


@pytest.mark.parametrize("trait", TRAITS, ids=lambda trait: trait.name)
def test_a_made_dataset_passes_the_check_of_real_ones(folders, trait):
    report = check_dataset(folders[trait.name])
    assert not report.errors and not report.warnings


@pytest.mark.parametrize("trait", TRAITS, ids=lambda trait: trait.name)
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(folders, trait, tmp_path):
    def digest(folder):
        texts = [path.read_bytes() for path in sorted(folder.iterdir())]
        return hashlib.sha256(b"\0".join(texts)).hexdigest()

    assert digest(write_trait(trait, tmp_path / "again")) == digest(folders[trait.name])
    assert digest(write_trait(trait, tmp_path / "other", seed=1)) != digest(folders[trait.name])


def test_dense_numbers_have_no_other_trait(loaded):
    data = loaded["dense"]
    assert isinstance(data.train.X, np.ndarray) and np.isfinite(data.train.X).all()
    assert set(data.feat_types) == {"Numerical"} and len(data.train.X) > data.train.X.shape[1] > 1


def test_sparse_numbers_are_sparse_and_have_values(loaded):
    X = loaded["sparse"].train.X
    assert scipy.sparse.issparse(X) and X.nnz < 0.05 * np.prod(X.shape) and len(set(X.data.tolist())) > 10


def test_sparse_ones_are_written_as_indices_and_begin_with_an_empty_line(folders, loaded):
    lines = (folders["sparse_binary"] / "sparsebinary_train.data").read_text().split("\n")
    assert lines[0] == ""
    assert all(word.isdigit() for line in lines for word in line.split())
    X = loaded["sparse_binary"].train.X
    assert X[0].nnz == 0 and set(X.data.tolist()) == {1.0}


def test_targets_have_the_form_of_their_task(loaded):
    assert set(loaded["binary"].train.y.tolist()) == {0, 1} and loaded["binary"].train.y.mean() < 0.25
    assert set(loaded["multiclass"].train.y.tolist()) == set(range(5))
    assert loaded["multilabel"].train.y.shape[1] == loaded["sparse_multilabel"].train.y.shape[1] == 6
    assert loaded["multilabel"].train.y.sum(axis=0).min() == 1
    assert len(set(loaded["regression"].train.y.tolist())) > 50
    assert scipy.sparse.issparse(loaded["sparse_multilabel"].train.X)


def test_values_are_missing_in_every_part_and_once_in_a_whole_row(loaded):
    data = loaded["missing"]
    for part in (data.train, data.valid, data.test):
        assert 0.1 < np.isnan(part.X).mean() < 0.5
    assert np.isnan(data.test.X).all(axis=1).any()


def test_a_category_of_the_test_part_is_new(loaded):
    data = loaded["categorical"]
    assert data.feat_types[:3] == ["Categorical", "Categorical", "Binary"]
    assert set(data.test.X[:, 0].tolist()) - set(data.train.X[:, 0].tolist())


def test_shapes_are_one_feature_many_features_and_many_rows(loaded):
    assert loaded["one_feature"].train.X.shape[1] == 1
    rows, columns = loaded["wide"].train.X.shape
    assert columns > 50 * rows
    assert len(loaded["long"].train.X) >= 20_000


def test_rare_classes_have_one_and_two_training_rows(loaded):
    data = loaded["rare_class"]
    assert np.bincount(data.train.y).tolist()[3:] == [1, 2]
    assert {3, 4} <= set(data.test.y.tolist())


def test_the_validation_part_is_absent_for_the_program_too(loaded, folders, tmp_path):
    assert loaded["no_valid"].valid is None
    seen = Dataset(prepare_input(folders["no_valid"], tmp_path / "input"))
    assert not seen.has("valid") and seen.info["valid_num"] == 0


def test_a_program_sees_no_label_of_the_parts_to_predict(folders, tmp_path):
    laid = prepare_input(folders["dense"], tmp_path / "input")
    assert {path.name for path in laid.glob("*.solution")} == {"dense_train.solution"}


def test_a_trait_is_found_by_its_name():
    assert trait_named("wide").title == "more features than rows"
    with pytest.raises(KeyError):
        trait_named("round")
