"""Meta-features and what they predict, on arrays: by hand, and against published numbers."""

import csv
import json

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_iris

from analysis.measures import encoding, meta_features, meta_names, moments, prediction, separation, similarity
from ingestion.dataset import load_dataset
from tests.shared import shared_case

BASIC = ("KNN", "NAIVE BAYES", "RANDOMFOREST", "SGD(LINEAR)")


def table(path) -> dict[str, dict[str, float]]:
    """A table with a first column of names, as numbers by row and column; an empty cell is NaN."""
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {row.pop(""): {key: float(value or "nan") for key, value in row.items()} for row in rows}


@pytest.fixture(scope="module")
def published():
    """Meta-features (30, k) with their names, the best system's scores, and the best basic method of each "
    "dataset."""
    folder = shared_case("analysis/automl2016")
    features = table(folder / "meta_feature.csv")
    systems = table(folder / "scores_winner.csv")
    basic = table(folder / "scores_pure_model_def_hp.csv")
    names = list(next(iter(features.values())))
    X = np.array([list(row.values()) for row in features.values()])
    best = [np.nanmax([v for k, v in systems[one].items() if not k.endswith("_SameLoss")]) for one in features]
    labels = [int(np.nanargmax([basic[one][method] for method in BASIC])) for one in features]
    return X, names, np.array(best), np.array(labels)


@pytest.fixture(scope="module")
def vectors():
    return json.loads(shared_case("analysis/vectors.json").read_text())


@pytest.fixture(scope="module")
def anneal():
    """Data with the sizes, types, gaps, symbols and classes of OpenML's anneal; the values are made."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(898, 38))
    symbols = [7, *[3] * 8, 2, *[1] * 16, *[0] * 6]
    for column, count in enumerate(symbols):
        X[:, column] = np.arange(898) % count if count else np.nan
    # 22,175 gaps in 29 features, one at least in every row: six are empty, 23 more share the rest.
    left = 22_175 - 6 * 898
    for place, column in enumerate(range(3, 26)):
        gaps = left // 23 + (place < left % 23)
        X[898 - gaps :, column] = np.nan
    y = np.repeat(np.arange(5), [8, 99, 684, 67, 40])
    return X, y, np.arange(38) < 32


def test_the_simple_features_of_anneal_are_those_published(anneal, vectors):
    X, y, is_categorical = anneal
    found = meta_features.simple(X, is_categorical)
    found |= meta_features.classes(y, task="multiclass.classification") | meta_features.symbols(X, is_categorical)
    expected = vectors["metafeatures_anneal"]["published"]
    compared = set(found) & set(expected)
    assert len(compared) == 28
    for name in compared:
        assert found[name] == pytest.approx(expected[name], abs=1e-9), name


def test_a_missing_category_is_a_column_of_its_own(anneal):
    X, _, is_categorical = anneal
    encoded = encoding.one_hot(X, is_categorical)
    assert encoded.shape == (898, 6 + 49 + 29)  # in the real data three of the features with gaps are numbers
    assert np.isfinite(encoded).all()


def test_numbers_are_standardised_and_a_missing_one_becomes_the_mean():
    X = np.array([[1.0], [np.nan], [3.0], [8.0]])
    assert encoding.one_hot(X, np.array([False])).ravel() == pytest.approx(
        np.array([-3.0, 0.0, -1.0, 4.0]) / np.sqrt(26 / 4)
    )


def test_madeline_has_the_published_moments_and_components():
    folder = shared_case("datasets/madeline")
    published = table(shared_case("analysis/automl2016") / "meta_feature.csv")["MADELINE"]
    train = load_dataset(folder).train
    numbers = np.zeros(259, dtype=bool)
    encoded = encoding.one_hot(train.X, numbers)
    found = meta_features.simple(train.X, numbers) | meta_features.classes(train.y, task="binary.classification")
    found |= moments.statistical(encoded) | moments.principal_components(encoded)
    found["PCASkewnessFirstPC"] *= -1  # the sign of a component is arbitrary
    compared = set(found) & set(published)
    assert len(compared) > 30
    for name in compared:
        assert found[name] == pytest.approx(published[name], rel=1e-4), name


def test_moments_are_those_of_a_population():
    found = moments.statistical(np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [4.0, 1.0]]))
    assert found["SkewnessMax"] == pytest.approx(2 / np.sqrt(3))
    assert found["KurtosisMin"] == pytest.approx(-2 / 3)
    assert found["KurtosisSTD"] == 0  # the constant column has none


def test_one_direction_is_one_component():
    line = np.outer(np.arange(10.0), [1.0, 2.0, -3.0, 0.5])
    found = moments.principal_components(line)
    assert found["PCAFractionOfComponentsFor95PercentVariance"] == 0.25
    assert found["PCASkewnessFirstPC"] == pytest.approx(0, abs=1e-12)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, y, meta_features.compute(X, y, ["Numerical"] * 4, task="multiclass.classification")


def test_landmarks_of_rows_in_their_order_are_not_those_of_stratified_folds(iris):
    # Iris is sorted by class: the first fold's class is nearly missing in the other four.
    values = iris[2].values
    assert values["LandmarkDecisionNodeLearner"] < 0.5 < values["StratifiedLandmarkDecisionNodeLearner"]
    assert values["StratifiedLandmarkLDA"] == pytest.approx(0.98, abs=0.01)
    assert values["LandmarkR2Ridge"] is None


def test_iris_has_every_feature_that_its_task_can_have(iris):
    absent = {name for name in meta_names.KNOWN if iris[2].values[name] is None}
    assert absent == {name for name in meta_names.LANDMARKS if name.startswith("LandmarkR2")}
    assert iris[2].sample.startswith("All 150 rows and 4 features")
    assert iris[2].values["pymfe.class_ent"] == pytest.approx(np.log2(3), abs=0.01)


def test_sparse_and_dense_layouts_have_the_same_features():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 6)) * (rng.random((40, 6)) < 0.3)
    X[3, 2] = np.nan
    y = (rng.random((40, 3)) < 0.5).astype(float)
    types = ["Numerical"] * 5 + ["Categorical"]
    dense = meta_features.compute(X, y, types, task="multilabel.classification")
    sparse = meta_features.compute(scipy.sparse.csr_matrix(X), y, types, task="multilabel.classification")
    assert dense.values == sparse.values
    assert dense.values["NumberOfInstancesWithMissingValues"] == 1
    assert dense.values["LandmarkLDA"] is not None


def test_a_regression_has_no_classes_but_landmarks_of_its_own():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    found = meta_features.compute(X, X[:, 0] * 2 + 1, ["Numerical"] * 3, task="regression").values
    assert found["NumberOfClasses"] is None and found["LandmarkLDA"] is None
    assert found["LandmarkR2Ridge"] > 0.9


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.full((3, 2), np.nan), np.array([0, 1, 0])),
        (np.ones((30, 2)), np.zeros(30, dtype=int)),
        (np.arange(4.0).reshape(1, 4), np.array([1])),
        (scipy.sparse.csr_matrix((12, 5)), np.arange(12) % 2),
    ],
    ids=["all missing", "constant, one class", "one row", "empty sparse"],
)
def test_degenerate_data_have_fewer_features_and_no_error(X, y):
    found = meta_features.compute(X, y, ["Numerical"] * X.shape[1], task="binary.classification").values
    assert set(meta_names.KNOWN) <= set(found)
    assert all(value is None or np.isfinite(value) for value in found.values())


def test_large_data_are_measured_on_a_sample_that_is_told(monkeypatch):
    monkeypatch.setattr(encoding, "MOST_ROWS", 50)
    monkeypatch.setattr(encoding, "MOST_FEATURES", 4)
    X = np.random.default_rng(3).normal(size=(200, 9))
    found = meta_features.compute(X, np.arange(200) % 2, ["Numerical"] * 9, task="binary.classification")
    assert "50 of 200 rows and 4 of 9 features (drawn, seed 0)" in found.sample
    assert found.values["NumberOfInstances"] == 200


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        meta_features.compute(np.ones((3, 2)), np.ones(2), ["Numerical"] * 2, task="regression")


def test_the_published_predictors_of_difficulty_come_out_and_predict_nothing(published, vectors, monkeypatch):
    monkeypatch.setattr(prediction, "FOLD_TREES", 15)
    X, names, best, _ = published
    found = prediction.predict(X, best, names)
    expected = vectors["automl2016"]["rf_importance_top3"]
    assert [found.names[index] for index in found.order()[:3]] == expected["expected"]
    assert found.mean_r2 == pytest.approx(expected["cv_R2"], abs=0.1) and found.mean_r2 <= 0
    assert found.is_near_tie(3)
    assert found.gini.sum() == pytest.approx(1)


def test_a_feature_that_tells_the_score_is_found_and_predicts_it(monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 3))
    monkeypatch.setattr(prediction, "TREES", 60)
    monkeypatch.setattr(prediction, "REPEATS", 2)
    found = prediction.predict(X, X[:, 1], ("a", "b", "c"))
    assert found.names[found.order()[0]] == "b"
    assert int(np.argmax(found.permutation)) == 1
    assert found.mean_r2 > 0.5 and not found.is_near_tie(1)


@pytest.mark.parametrize("y", [np.zeros(20), np.arange(5.0)], ids=["all tied", "too few"])
def test_nothing_is_predicted_where_there_is_nothing_to_learn(y):
    assert prediction.predict(np.random.default_rng(0).normal(size=(len(y), 2)), y, ("a", "b")) is None


def test_meta_features_that_do_not_vary_or_have_no_value_predict_nothing():
    X = np.column_stack([np.ones(20), np.full(20, np.nan)])
    assert prediction.predict(X, np.arange(20.0), ("same", "none")) is None


@pytest.fixture(scope="module")
def separated(published):
    X, names, _, labels = published
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(separation, "BOOTSTRAPS", 5)
        return separation.separate(X, labels, names)


def test_the_published_separation_is_one_in_sample_alone(separated, vectors):
    found = separated
    expected = vectors["automl2016"]["lda_basic_winner"]
    assert (found.n, len(found.names)) == (expected["n"], expected["features"])
    assert found.plain_in_sample == expected["train_acc"]
    assert found.plain_left_out == pytest.approx(expected["loo_acc"], abs=0.001)
    assert found.left_out == pytest.approx(expected["with_shrinkage_loo"], abs=0.001)
    assert found.majority == pytest.approx(expected["majority"], abs=0.001)
    assert found.is_shrunk and not found.beats_majority
    assert not any("Landmark" in name for name in found.names)


def test_shrunk_discriminants_spread_the_datasets(published, separated):
    labels, points = published[3], separated.points
    means = np.array([points[labels == label].mean(axis=0) for label in range(4)])
    assert np.all(points.std(axis=0) > 0.3)
    assert np.ptp(means[:, 0]) > np.ptp(means[:, 1]) * 0.8  # the first tells the methods most


def test_labels_that_follow_a_feature_are_told_of_left_out_datasets(monkeypatch):
    monkeypatch.setattr(separation, "BOOTSTRAPS", 20)
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 3))
    labels = (X[:, 2] > 0).astype(int)
    found = separation.separate(X, labels, ("a", "b", "c"))
    assert found.beats_majority and not found.is_shrunk
    assert found.names[int(np.argmin(found.rank_middle))] == "c"
    assert found.points.shape == (30, 2)


@pytest.mark.parametrize(
    "labels", [np.zeros(12, dtype=int), np.arange(3), np.zeros(0, dtype=int)], ids=["one label", "few", "none"]
)
def test_nothing_is_separated_where_there_is_nothing_to_separate(labels):
    assert separation.separate(np.random.default_rng(0).normal(size=(len(labels), 2)), labels, ("a", "b")) is None


def test_a_label_of_one_dataset_alone_is_never_told():
    rng = np.random.default_rng(6)
    found = separation.separate(rng.normal(size=(8, 2)), np.array([0, 0, 0, 0, 0, 0, 0, 1]), ("a", "b"))
    assert found.left_out <= 7 / 8


def test_distances_are_symmetric_scaled_and_blind_to_what_does_not_vary():
    X = np.array([[0.0, 5.0, 1.0], [10.0, 5.0, np.nan], [5.0, 5.0, 3.0]])
    found = similarity.distances(X)
    assert found == pytest.approx(found.T, nan_ok=True)
    assert found[0, 1] == 1.0  # by the first feature alone
    assert found[0, 2] == pytest.approx((0.5 + 1) / 2)
    assert similarity.nearest(found, count=1) == [[2], [2], [1]]


def test_datasets_that_share_no_feature_have_no_distance():
    assert np.isnan(similarity.distances(np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, 3.0]]))[0, 2])
    assert similarity.nearest(np.full((2, 2), np.nan), count=3) == [[], []]
