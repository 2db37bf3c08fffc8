"""Comparing sets of models: sentences and figures, and what is said where there is too little to compare."""

import json

import numpy as np
import pytest

from analysis.results import Note
from analysis.spaces.comparing import MOST_COMPARED, compare
from analysis.spaces.modelset import ModelSet, Options, compared


def models(name: str, count: int = 30, *, shift: float = 0.0, seed: int = 0, **columns) -> ModelSet:
    """Models whose errors fall with their parameters."""
    random = np.random.default_rng(seed)
    params = random.uniform(1, 9, count)
    errors = 10 - params + shift + random.normal(0, 0.3, count)
    return ModelSet(name, {"error": errors, "params": params, **columns})


def notes(result) -> str:
    return " ".join(block.text for block in result.blocks if isinstance(block, Note))


BY_PARAMS = Options(complexities=("params",), bins=4)


def test_figures_say_their_numbers_in_a_sentence_and_are_plain_json():
    found = compare([models("a"), models("b", shift=2, seed=1)], BY_PARAMS)
    assert found.headline.startswith("a and b differ, D = ")
    assert "after normalising by parameters the gap is" in found.headline
    for figure in found.figures():
        assert figure.sentence.endswith(".") and figure.n and figure.method and figure.rows
    json.dumps(found.to_json(), allow_nan=False)
    areas = {row[0]: row[3] for row in found.named("sets_by_params").rows}
    assert areas["a"] > areas["b"]
    assert "the lowest" in found.named("random_search_by_params").sentence
    assert len({block.key for block in found.figures()}) == len(list(found.figures()))


def test_one_set_is_described_without_tests():
    found = compare([models("a")], BY_PARAMS)
    assert "of the 30 models of a have an error under" in found.headline
    assert found.named("tests") is None and found.named("tests_by_params") is None


def test_sets_of_fewer_than_ten_are_refused_and_of_fewer_than_a_hundred_marked():
    found = compare([models("a"), models("tiny", 9)], BY_PARAMS)
    assert "tiny (9)" in notes(found) and "Fewer have: a (30)" in notes(found)
    assert [row[0] for row in found.named("sets").rows] == ["a"]
    assert "no set of at least 10" in compare([models("tiny", 9)], BY_PARAMS).headline
    assert "no set of at least 10" in compare([], BY_PARAMS).headline


def test_failures_are_counted():
    errors = np.array([0.5] * 12 + [np.nan] * 3)
    found = compare([ModelSet("a", {"error": errors})], Options())
    assert found.named("sets").rows[0][1:3] == (12, 3)


def test_a_share_of_the_models_is_under_the_chosen_error():
    sets = [ModelSet("a", {"error": np.arange(10.0)})]
    found = compare(sets, Options(threshold=4.0, largest=10.0))
    assert found.named("sets").rows[0][6:] == (0.4, pytest.approx(0.55))


def test_scores_become_errors():
    found = compared(ModelSet("a", {"auc": np.array([0.9, np.nan, 0.6])}), Options(error="auc", is_score=True))
    assert found.errors == pytest.approx([0.1, 0.4]) and found.failed == 1


@pytest.mark.parametrize(
    "column",
    [np.full(30, 3.0), np.full(30, np.nan), np.zeros(30)],
    ids=["all alike", "all missing", "all zero"],
)
@pytest.mark.parametrize("is_log", [False, True])
def test_a_complexity_that_cannot_be_normalised_by_is_told(column, is_log):
    sets = [ModelSet(name, {**models(name).columns, "size": column}) for name in "ab"]
    found = compare(sets, Options(complexities=("size",), is_log=is_log))
    assert "size" in notes(found)
    assert found.named("distributions") is not None


def test_all_tied_errors_do_not_differ():
    sets = [ModelSet(name, {**models(name).columns, "error": np.full(30, 0.5)}) for name in "ab"]
    found = compare(sets, BY_PARAMS)
    assert "not certain, D = 0.000, p = 1" in found.headline


def test_sets_without_a_common_range_are_not_normalised():
    low, high = models("low"), models("high")
    high.columns["params"] += 100
    assert "share no range" in notes(compare([low, high], BY_PARAMS))


def test_empty_bins_are_dropped_or_refused():
    gap = models("gap", 40)
    gap.columns["params"] = np.concatenate([np.linspace(1, 3, 20), np.linspace(7, 9, 20)])
    options = Options(complexities=("params",), bins=8)
    found = compare([gap, models("b", seed=1)], options)
    assert "some set has no model there" in " ".join(found.named("distributions_by_params").warnings)
    strict = Options(complexities=("params",), bins=8, is_strict=True)
    assert "bins of complexity are empty" in notes(compare([gap, models("b", seed=1)], strict))


def test_a_chosen_range_replaces_the_common_one():
    options = Options(complexities=("params",), bins=2, limits={"params": (2.0, 4.0)})
    found = compare([models("a", 200), models("b", 200, seed=1)], options)
    assert "from 2 to 4" in found.named("distributions_by_params").sentence


def test_more_sets_than_can_be_told_apart_are_cut_with_a_note():
    sets = [models(f"s{index}", 12, seed=index) for index in range(MOST_COMPARED + 1)]
    found = compare(sets, Options())
    assert f"Of 13 sets the first {MOST_COMPARED} are compared" in notes(found)


def test_the_same_sets_and_seed_give_the_same_result():
    def result():
        return compare([models("a"), models("b", seed=1)], BY_PARAMS).to_json()

    assert result() == result()


def test_names_of_columns_become_plain_names_of_files():
    sets = [ModelSet("a", {**models("a").columns, "Train time [s]": np.arange(1.0, 31.0)})]
    found = compare(sets, Options(complexities=("Train time [s]",)))
    assert found.named("errors_by_train_time_s") is not None
