"""The sections about difficulty and tuning say what their boards hold, also where these hold little."""

import json

import numpy as np
import pytest

from analysis.inputs.basic import BasicRow
from analysis.inputs.boards import Loaded
from analysis.results import Note, Result
from analysis.sections import difficulty, tuning
from analysis.sections.base import quiet
from analysis.work import packed, unpacked
from tests.platform.analysis.boards import made_board

METHODS = ("knn", "nb", "rf", "sgd")
NAN = np.nan


def basic(board: int, first: int, *, tuned: bool = False) -> list[BasicRow]:
    """The four methods in rows of a board that begin with `first`."""
    return [BasicRow(board, first + place, method, tuned) for place, method in enumerate(METHODS)]


def cells(result: Result, key: str) -> list[dict]:
    """The rows of a figure or table by their columns."""
    block = result.named(key)
    names = [column.key for column in block.columns]
    return [dict(zip(names, row, strict=True)) for row in block.rows]


def kept(result: Result) -> Result:
    """The result as it comes back from where it is kept."""
    found = unpacked(packed(result))
    assert json.dumps(result.to_json()) == json.dumps(found.to_json())
    return found


@pytest.fixture(scope="module")
def judged() -> Result:
    """Two participants and four methods on three datasets: one is good, one easy, one hard."""
    scores = [
        [0.80, 0.999, 0.01],
        [0.60, 0.990, NAN],
        [0.10, 0.995, -2.0],
        [0.20, 0.980, 0.0],
        [0.30, 0.970, NAN],
        [NAN, 0.960, 0.0],
    ]
    return kept(difficulty.build(Loaded((made_board(scores, baselines=4),), {"basic": basic(0, 2)}), quiet))


def test_every_dataset_has_its_difficulty(judged):
    good, easy, unsolved = cells(judged, "difficulty")
    assert (good["best"], good["basic"]) == (0.8, 0.3)
    assert good["modelling"] == pytest.approx(0.5)
    assert good["basic_method"] == "random forest"
    assert "too easy" in easy["flags"] and "unsolved" in unsolved["flags"]
    assert unsolved["modelling"] == pytest.approx(0.01)  # what is worse than guessing counts as guessing


def test_failures_of_basic_methods_are_counted(judged):
    last = [block.text for block in judged.blocks if isinstance(block, Note)][-1]
    assert "12 ran" in last and "2 of these have no score and 3 have a score at or below 0" in last


def test_the_picture_and_its_sentence_name_the_good_problem(judged):
    assert "set100" in judged.named("modelling").sentence
    assert judged.named("modelling-snb") is None


def test_no_problem_is_good_where_a_basic_method_is_the_best():
    scores = [[0.8, 0.6], [0.7, 0.5], [0.81, 0.9], [0.2, 0.2], [0.2, 0.2], [0.2, 0.2]]
    found = difficulty.build(Loaded((made_board(scores, baselines=4),), {"basic": basic(0, 2)}), quiet)
    assert "On no dataset is a participant above the best basic method." in found.headline
    assert "Good problems" not in found.named("modelling").sentence


def test_names_of_entrants_stand_in_data_alone(judged):
    spec = dict(judged.named("scores").spec)
    datasets = spec.pop("datasets", {})
    layers = [{key: value for key, value in layer.items() if key != "data"} for layer in spec.pop("layer")]
    assert "entrant 0" not in json.dumps([spec, layers]) and datasets == {}


def test_medians_of_blind_and_tuned_phases_are_compared():
    boards = (
        made_board([[0.2], [0.4]], versions=[7]),
        made_board([[0.6], [0.8]], number=2, kind="final", versions=[7]),
    )
    (row,) = cells(difficulty.build(Loaded(boards, {"basic": ()}), quiet), "automl-tweakathon")
    assert (row["automl"], row["later"]) == (pytest.approx(0.3), pytest.approx(0.7))


def test_basic_methods_of_another_board_with_the_same_data_count():
    boards = (
        made_board([[0.9]], versions=[7]),
        made_board([[0.5], [0.1], [0.2], [0.3], [0.4]], number=2, kind="final", versions=[7], baselines=4),
    )
    (row,) = cells(difficulty.build(Loaded(boards, {"basic": basic(1, 1)}), quiet), "difficulty")
    assert row["basic"] == 0.4


@pytest.mark.parametrize(
    "scores",
    [[[NAN, NAN]], [[0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]], [[0.5]]],
    ids=["all missing", "one entrant", "all tied", "one dataset"],
)
def test_little_is_no_failure(scores):
    loaded = Loaded((made_board(scores),), {"basic": ()})
    assert kept(difficulty.build(loaded, quiet)).headline
    assert any(isinstance(block, Note) for block in kept(tuning.build(loaded, quiet)).blocks)


def test_nothing_is_no_failure():
    assert kept(difficulty.build(Loaded((), {"basic": ()}), quiet)).headline


def test_tuning_counts_gains_losses_and_failures():
    default = [[0.5, 0.5], [0.4, -1.0], [0.3, 0.3], [NAN, 0.2]]
    tuned = [[0.6, 0.5], [0.3, 0.1], [NAN, 0.4], [0.5, 0.0]]
    board = made_board([[0.9, 0.9], *default, *tuned], baselines=8)
    loaded = Loaded((board,), {"basic": [*basic(0, 1), *basic(0, 5, tuned=True)]})
    result = kept(tuning.build(loaded, quiet))
    assert "tuning is better on 3, equal on 1 and worse on 2" in result.headline
    total = cells(result, "tuning")[-1]
    assert (total["pairs"], total["missing"], total["failed"]) == (6, 1, 1)


def test_a_method_that_ran_only_one_way_is_in_no_pair():
    board = made_board([[0.9], [0.5], [0.4], [0.3], [0.2]], baselines=4)
    result = tuning.build(Loaded((board,), {"basic": basic(0, 1)}), quiet)
    assert result.headline == tuning.NOTHING
