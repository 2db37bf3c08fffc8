"""How hard datasets are, and what tuning gains: against the numbers of the chapter and of the AutoML benchmark."""

import csv
import json

import numpy as np
import pytest

from analysis.measures.difficulty import FOUR_BASIC, Flag, difficulty, halfway
from analysis.measures.tuned import tuning
from tests.shared import shared_case

ROUNDS = {
    "0": "ADULT CADATA DIGITS DOROTHEA NEWSGROUPS",
    "1": "CHRISTINE JASMINE MADELINE PHILIPPINE SYLVINE",
    "2": "ALBERT DILBERT FABERT ROBERT VOLKERT",
    "3": "ALEXIS DIONIS GRIGORIS JANNIS WALLIS",
    "4": "EVITA FLORA HELENA TANIA YOLANDA",
    "5": "ARTURO CARLO MARCO PABLO WALDO",
}


@pytest.fixture(scope="module")
def vectors():
    return json.loads(shared_case("analysis/vectors.json").read_text())


def table(name: str) -> tuple[list[str], dict[str, np.ndarray]]:
    """A table of the challenge's authors: its columns, and a row for each dataset."""
    with shared_case(f"analysis/automl2016/{name}.csv").open(encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return head[1:], {row[0]: np.array([float(cell) if cell else np.nan for cell in row[1:]]) for row in rows}


@pytest.fixture(scope="module")
def of_2016():
    """The difficulty of each of the thirty datasets."""
    names, winners = table("scores_winner")
    own = [index for index, name in enumerate(names) if not name.endswith("_SameLoss")]
    _, defaults = table("scores_pure_model_def_hp")
    return {
        dataset: difficulty(
            row[own],
            dict(zip(FOUR_BASIC, defaults[dataset], strict=True)) | {"snb": row[names.index("marcboulle")]},
        )
        for dataset, row in winners.items()
    }


def test_difficulties_are_those_of_the_vector(vectors):
    case = vectors["difficulty"]
    for name, expected in case["expected"].items():
        basic = {key.lower(): score for key, score in case["input"]["basic_default"][name].items()}
        found = difficulty(np.array(case["input"]["participants"][name]), basic)
        for value in ("intrinsic", "modelling", "median", "iqr"):
            assert getattr(found, value) == pytest.approx(expected[value], abs=1e-12), (name, value)


def test_difficulties_of_the_challenge_are_those_of_the_chapter(vectors, of_2016):
    case = vectors["automl2016"]
    for key, value in (
        ("intrinsic_1_minus_best", "intrinsic"),
        ("modelling_vs_best_of_4_default", "modelling"),
        ("modelling_vs_SNB(marcboulle)", "modelling_snb"),
    ):
        for dataset, expected in case[key].items():
            assert getattr(of_2016[dataset], value) == pytest.approx(expected, abs=1e-9), (key, dataset)


def test_the_median_difficulty_of_each_round_is_that_of_the_chapter(vectors, of_2016):
    for number, expected in vectors["automl2016"]["median_intrinsic_by_round"].items():
        found = np.median([of_2016[dataset].intrinsic for dataset in ROUNDS[number].split()])
        assert found == pytest.approx(expected, abs=1e-9)


def test_a_basic_score_below_guessing_counts_as_guessing():
    assert difficulty(np.array([0.5]), {"knn": -3.0, "rf": -0.2}).modelling == 0.5


def test_easy_and_unsolved_datasets_are_flagged():
    assert difficulty(np.array([0.999]), {"rf": 0.995}).flags == (Flag.EASY,)
    assert difficulty(np.array([0.01, -0.2]), {"rf": 0.0}).flags == (Flag.UNSOLVED,)
    assert difficulty(np.array([0.5]), {"rf": 0.6}).flags == (Flag.BASIC_WINS,)
    assert difficulty(np.array([0.999]), {}).flags == ()


def test_without_participants_or_basic_methods_nothing_is_known():
    found = difficulty(np.array([np.nan]), {"rf": np.nan})
    assert np.isnan([found.intrinsic, found.modelling, found.median, found.basic]).all()
    assert (found.basic_method, found.flags, found.participants) == ("", (), 0)
    assert np.isnan(halfway(np.array([np.nan])))


def test_tuning_of_the_automl_benchmark_is_that_of_the_vector(vectors):
    case = vectors["default_vs_tuned"]
    default, tuned = np.array(list(case["pairs"].values())).T
    found = tuning(default, tuned)
    assert (found.pairs, found.better, found.equal, found.worse) == (35, 23, 0, 12)
    assert found.p_value == pytest.approx(case["wilcoxon_p"], rel=1e-9)
    assert found.mean_gain == pytest.approx(case["mean_gain"], abs=1e-7)  # the pairs are rounded to six digits
    assert found.median_gain == pytest.approx(case["median_gain"], abs=2e-7)


def test_tuning_in_the_challenge_is_that_of_the_chapter(vectors):
    case = vectors["automl2016"]["default_vs_tuned_task_metric"]
    methods, default = table("scores_pure_model_def_hp")
    _, tuned = table("scores_pure_model_autosklearn_hp")
    before, after = np.array(list(default.values())), np.array([tuned[name] for name in default])
    for column, method in enumerate(methods):
        found = tuning(before[:, column], after[:, column])
        assert [found.pairs, found.better, found.equal, found.worse] == case[method]
    total = tuning(before.ravel(), after.ravel())
    assert [total.pairs, total.better, total.equal, total.worse] == case["total"]
    assert (total.missing, total.failed) == (case["tuned_missing"], case["tuned_score<=0"])


def test_equal_or_missing_scores_have_no_test():
    assert np.isnan(tuning(np.array([0.5, 0.6]), np.array([0.5, 0.6])).p_value)
    nothing = tuning(np.array([np.nan]), np.array([0.5]))
    assert (nothing.pairs, nothing.missing_default) == (0, 1)
    assert np.isnan([nothing.mean_gain, nothing.median_gain, nothing.p_value]).all()
