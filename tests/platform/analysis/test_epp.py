"""EPP: the published numbers, what a Bradley-Terry model must keep, and the section over a board."""

import datetime as dt
import json

import altair as alt
import numpy as np
import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit

from analysis import work
from analysis.inputs.audience import Audience
from analysis.inputs.boards import BoardTable, Dataset, Entry, Loaded
from analysis.measures.epp import difference, rate, wins_across_rounds, wins_in_rounds
from analysis.measures.epp_rounds import covariance_by_rounds
from analysis.results import Result
from analysis.sections import epp as section
from analysis.sections.base import quiet
from tests.platform import factories as make
from tests.platform.series import BAD, GOOD, enter, finish
from tests.shared import shared_case

# Four players in six rounds; player A and B tie once.
SCORES = np.array(
    [
        [0.9, 0.8, 0.7, 0.61, 0.75, 0.66],
        [0.85, 0.82, 0.65, 0.6, 0.75, 0.6],
        [0.8, 0.81, 0.72, 0.5, 0.7, 0.61],
        [0.7, 0.83, 0.6, 0.55, 0.65, 0.4],
    ]
)


@pytest.fixture(scope="module")
def vectors():
    return json.loads(shared_case("analysis/vectors.json").read_text())


def test_it_counts_wins_with_ties_as_halves(vectors):
    assert wins_in_rounds(SCORES).tolist() == vectors["epp"]["tiny"]["wins_matrix"]


def test_it_gives_the_epp_and_errors_of_the_small_example(vectors):
    tiny = vectors["epp"]["tiny"]
    rating = rate(wins_in_rounds(SCORES))
    assert rating.ridge == 0 and not rating.is_separated
    assert rating.epp == pytest.approx(tiny["epp_mean0"], abs=1e-8)
    assert rating.stderr_against(0) == pytest.approx(tiny["se_vs_A_each_match_once"], abs=1e-8)
    assert rating.deviance == pytest.approx(tiny["deviance_each_match_once"], abs=1e-9)
    assert rating.freedom == 3
    gap = rating.difference(0, 3)
    assert gap.probability == pytest.approx(tiny["p_A_beats_D"], abs=1e-8)
    assert (gap.wald, gap.p_value) == pytest.approx((tiny["wald_A_vs_D_df1"]["z2"], tiny["wald_A_vs_D_df1"]["p"]))


def test_a_ridge_gives_the_epp_of_the_small_example(vectors):
    expected = vectors["epp"]["tiny"]["ridge_lambda_0.5_mean0"]
    assert rate(wins_in_rounds(SCORES), ridge=0.5).epp == pytest.approx(expected, abs=1e-8)


def test_a_difference_is_a_probability(vectors):
    case = vectors["epp"]["calculate_probability"]
    assert expit(case["epp"][0] - case["epp"][1]) == pytest.approx(case["expected"], abs=1e-7)


@pytest.mark.parametrize("ties", ["half", "dropped"])
def test_it_gives_the_published_epp_of_vtab(vectors, ties):
    vtab = vectors["epp"]["vtab"]
    names = list(vtab["scores"])
    wins = wins_in_rounds(np.array([vtab["scores"][name] for name in names]))
    expected = vtab["epp_ties_half_ref_WAE-UKL"]
    if ties == "dropped":  # as in the paper's figure S1, whose package floors halves
        wins = np.floor(wins)
        expected = vtab["epp_ties_dropped_ref_WAE-UKL(EloML glm floors .5)"]
    rating = rate(wins)
    found = rating.epp - rating.epp[names.index("WAE-UKL")]
    assert dict(zip(names, found, strict=True)) == pytest.approx(expected, abs=1e-6)


def test_it_agrees_with_logistic_regression_of_statsmodels():
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM

    wins = wins_in_rounds(SCORES)
    first, second = np.triu_indices(4, 1)
    design = np.zeros((len(first), 4))
    design[np.arange(len(first)), first], design[np.arange(len(first)), second] = 1, -1
    won = np.column_stack([wins[first, second], wins[second, first]])
    fitted = GLM(won, design[:, 1:], family=Binomial()).fit()
    rating = rate(wins)
    assert rating.epp[1:] - rating.epp[0] == pytest.approx(fitted.params, abs=1e-6)
    assert rating.stderr_against(0)[1:] == pytest.approx(fitted.bse, rel=1e-5)
    assert rating.deviance == pytest.approx(fitted.deviance, abs=1e-6)


def test_with_two_players_rounds_and_matches_are_the_same_units():
    scores = np.array([[1.0, 1, 1, 0, 0], [0.0, 0, 0, 1, 1]])
    rating = rate(wins_in_rounds(scores))
    by_rounds = covariance_by_rounds(scores, rating.epp, 0.0)
    assert by_rounds == pytest.approx(rating.covariance * 5 / 4)


def test_rounds_as_units_claim_less_where_all_matches_of_a_round_share_its_scores():
    rng = np.random.default_rng(0)
    truth = np.linspace(-1, 1, 30)
    drawn = [truth + rng.logistic(size=(12, 30)) for _ in range(40)]
    ratings = [(scores.T, rate(wins_in_rounds(scores.T), ridge=1e-6)) for scores in drawn]
    gaps = [rating.epp[-1] - rating.epp[0] for _, rating in ratings]
    matches = np.mean([rating.difference(29, 0).stderr for _, rating in ratings])
    spread = [covariance_by_rounds(scores, rating.epp, 0.0) for scores, rating in ratings]
    rounds = np.mean([difference(np.zeros(30), one, 29, 0).stderr for one in spread])
    assert matches < 0.6 * np.std(gaps)
    assert 0.7 * np.std(gaps) < rounds < 1.3 * np.std(gaps)


def test_players_who_always_win_get_a_finite_epp_by_a_ridge():
    scores = np.vstack([SCORES + 10, SCORES])
    rating = rate(wins_in_rounds(scores))
    assert rating.is_separated and rating.ridge == 0.5
    assert rating.components.tolist() == [0] * 4 + [1] * 4
    assert np.isfinite(rating.epp).all() and rating.epp[:4].min() > rating.epp[4:].max()


@pytest.mark.parametrize(
    "scores",
    [np.ones((3, 5)), np.full((3, 5), np.nan), np.ones((2, 1)), np.ones((1, 4)), np.ones((0, 3)), np.ones((3, 0))],
    ids=["all tied", "all missing", "one round", "one player", "no player", "no round"],
)
def test_equal_players_have_equal_epp(scores):
    rating = rate(wins_in_rounds(scores))
    assert rating.epp == pytest.approx(np.zeros(len(scores)), abs=1e-9)
    assert np.isfinite(rating.stderr).all()


def test_a_missing_score_loses_to_every_other_and_ties_with_missing_ones():
    scores = np.array([[0.1, np.nan], [np.nan, np.nan]])
    assert wins_in_rounds(scores).tolist() == [[0.0, 1.5], [0.5, 0.0]]


def test_all_rounds_may_meet_all_rounds():
    scores = np.array([[3.0, 1.0], [2.0, 1.0]])
    assert wins_across_rounds(scores).tolist() == [[0.0, 2.5], [1.5, 0.0]]


@settings(max_examples=15, deadline=None)
@given(arrays(np.float64, (5, 6), elements=st.integers(0, 9).map(float)), st.randoms(use_true_random=False))
def test_neither_the_order_of_rounds_nor_a_monotone_transform_changes_epp(scores, random):
    order = random.sample(range(6), 6)
    found = rate(wins_in_rounds(scores))
    assert rate(wins_in_rounds(np.exp(scores[:, order] / 3))).epp == pytest.approx(found.epp, abs=1e-6)
    chances = expit(found.epp[:, None] - found.epp[None, :])
    assert chances + chances.T == pytest.approx(np.ones((5, 5)))
    assert found.epp.sum() == pytest.approx(0, abs=1e-8)


def test_a_player_who_never_wins_leaves_the_others_nearly_where_they_were():
    found = rate(wins_in_rounds(SCORES), ridge=1e-3).epp
    more = rate(wins_in_rounds(np.vstack([SCORES, np.zeros((1, 6))])), ridge=1e-3).epp[:4]
    assert more - more.mean() == pytest.approx(found, abs=0.05)


def test_it_gives_the_epp_of_the_2016_systems(vectors):
    import csv

    lines = list(csv.reader(shared_case("analysis/automl2016/scores_winner.csv").open()))
    columns = {name: at for at, name in enumerate(lines[0]) if name and not name.endswith("_SameLoss")}
    scores = [[float(line[at] or "nan") for line in lines[1:]] for at in columns.values()]
    rating = rate(wins_in_rounds(np.array(scores)))
    expected = vectors["automl2016"]["epp_mean0_rounds=30_datasets"]
    assert dict(zip(columns, rating.epp, strict=True)) == pytest.approx(expected, abs=5e-4)


def board(scores: np.ndarray, **fields) -> BoardTable:
    """A board of those scores, n x T, on datasets `one`, `two` and so on; its entrants are named by letters."""
    count, sets = scores.shape
    entries = tuple(Entry(index, "abcdefgh"[index], True, False, 0.0, index + 1) for index in range(count))
    datasets = tuple(
        Dataset(index, f"set{index}", "bac", "binary.classification", index, 0, 60) for index in range(sets)
    )
    about = {
        "phase_id": 1,
        "number": 1,
        "title": "Final",
        "phase_kind": "final",
        "round": 1,
        "round_name": "",
        "track": "",
        "part": "test",
        "tie_rule": "first",
        "is_anonymous": False,
    }
    ids = np.arange(count)
    return BoardTable(
        **(about | fields), entries=entries, datasets=datasets, scores=scores, stderr=scores * 0, submissions=ids
    )


def built(scores: np.ndarray, monkeypatch, drawn: np.ndarray | None = None) -> Result:
    """The section over such a board, as it comes back from where results are kept."""
    drawn = np.empty((*scores.shape, 0), dtype=np.float32) if drawn is None else drawn
    monkeypatch.setattr(section, "combined_replicates", lambda boards: drawn)
    return Result.from_json(section.build(Loaded((board(scores),)), quiet).to_json())


def test_the_section_ranks_entrants_by_epp(monkeypatch, vectors):
    result = built(SCORES, monkeypatch)
    table = result.named("epp_table")
    assert [row[1] for row in table.rows] == ["a", "b", "c", "d"]
    assert table.rows[0][2] == pytest.approx(vectors["epp"]["tiny"]["epp_mean0"][0], abs=1e-6)
    assert table.rows[3][7] == pytest.approx(1 - vectors["epp"]["tiny"]["p_A_beats_D"], abs=1e-6)
    assert table.rows[0][9:] == (13.5, 18)
    assert [row[6] for row in table.rows] == pytest.approx(
        vectors["epp"]["tiny"]["se_vs_A_each_match_once"], abs=1e-6
    )
    assert "beats the next, b" in result.headline


def test_every_figure_has_numbers_a_sentence_and_a_picture(monkeypatch):
    drawn = np.random.default_rng(0).normal(size=(4, 6, 10)).astype(np.float32)
    result = built(SCORES, monkeypatch, drawn)
    keys = [figure.key for figure in result.figures()]
    assert keys == ["epp", "who_beats_whom", "epp_and_mean", "fit", "epp_within"]
    for figure in result.figures():
        assert figure.rows and figure.sentence and figure.n and figure.method
        assert all(len(row) == len(figure.columns) for row in figure.rows)
        assert alt.Chart.from_dict(figure.spec)  # raises where Vega-Lite does not know it


def test_within_a_dataset_the_test_rows_are_the_rounds(monkeypatch):
    drawn = np.zeros((4, 6, 8), dtype=np.float32)
    drawn[1, 2] = 1.0  # b wins every replicate of the third dataset
    drawn[3, 3] = np.nan  # d has none of the fourth
    result = built(SCORES, monkeypatch, drawn)
    table = result.named("epp_within_table")
    assert table.rows[1][3] > 0 and table.rows[2][3] == pytest.approx(0)
    assert table.rows[3][4] is None
    figure = result.named("epp_within")
    assert "beaten by somebody on 1 of 6 datasets: set2" in figure.sentence
    assert any("ridge" in warning for warning in figure.warnings)


def test_the_calculator_tells_how_often_one_beats_another(monkeypatch, vectors):
    drawn = np.zeros((4, 6, 8), dtype=np.float32)
    result = built(SCORES, monkeypatch, drawn)
    tool = section.SECTION.tools[0]
    assert [choice.name for choice in tool.choices(result)] == ["first", "second", "where"]
    (said,) = tool.answer(result, {"first": "0", "second": "3"})
    assert "a beats d in 86% of rounds" in said.text and "p = 0.011" in said.text and "won 5 of 6" in said.text
    assert "With datasets rather than matches as units" in said.text
    (said,) = tool.answer(result, {"first": "0", "second": "3", "where": "2"})
    assert "50% of 8 bootstrap replicates of the test rows of set2" in said.text
    assert tool.answer(result, {"first": "0", "second": "x"}) == ()
    assert tool.answer(result, {"first": "0", "second": "99"}) == ()
    assert tool.answer(result, {}) == ()


def test_separated_groups_and_missing_scores_are_told(monkeypatch):
    scores = np.array([[0.9, 0.8], [0.5, np.nan], [0.4, 0.3]])
    notes = [block.text for block in built(scores, monkeypatch).blocks if block.kind == "note"]
    assert any("1 of 6 scores are missing" in text for text in notes)
    assert any("ridge (0.5" in text for text in notes)


@pytest.mark.parametrize("scores", [np.ones((1, 3)), np.ones((3, 0)), np.ones((0, 0))])
def test_too_few_entrants_or_datasets_are_a_note(monkeypatch, scores):
    result = built(scores, monkeypatch)
    assert [block.kind for block in result.blocks] == ["note"]
    assert section.SECTION.tools[0].choices(result) == ()


@pytest.mark.parametrize("scores", [np.ones((3, 4)), np.full((3, 2), np.nan), np.array([[0.5], [0.4]])])
def test_degenerate_boards_are_analysed_without_a_fault(monkeypatch, scores):
    assert built(scores, monkeypatch).named("epp_table").rows


def test_pictures_have_the_best_and_numbers_have_all(monkeypatch):
    rng = np.random.default_rng(1)
    rating = rate(wins_in_rounds(rng.normal(size=(60, 1)) + rng.normal(size=(60, 20))))
    predicted, observed, pairs = section.fit_points(rating)
    assert len(predicted) == section.SLICES and pairs.sum() == 60 * 59 / 2
    assert predicted == pytest.approx(observed, abs=0.1)


def test_entrants_of_the_same_name_are_told_apart():
    assert section.distinct(["x", "y", "x"]) == ["x", "y", "x (2)"]


@pytest.mark.django_db
def test_it_analyses_a_phase_that_is_over_with_the_replicates_of_its_scores():
    phase = make.phase(make.competition(), closes_at=timezone.now() - dt.timedelta(minutes=1))
    for name, values in (("alice", GOOD), ("bob", BAD)):
        finish(enter(phase, make.user(name), hours_ago=1), values)
    result = work.compute_now(phase.competition, section.SECTION, Audience(phase=phase.pk, part="valid"))
    table = result.named("epp_table")
    assert [row[1] for row in table.rows] == ["alice", "bob"]
    assert result.named("epp_within").rows
    assert work.compute_now(phase.competition, section.SECTION, Audience(phase=phase.pk, part="test")) is None


def test_the_mean_of_a_column_where_the_smallest_leads_is_shown_as_it_is(monkeypatch):
    monkeypatch.setattr(section, "combined_replicates", lambda boards: np.empty((2, 2, 0), dtype=np.float32))
    losses = np.array([[-0.1, -0.3], [-0.5, np.nan]])
    result = section.build(Loaded((board(losses, measure="log loss", sign=-1),)), quiet)
    assert result.named("epp_and_mean").rows == (
        ("a", 0.2, pytest.approx(result.extras["epp"][0])),
        ("b", None, pytest.approx(result.extras["epp"][1])),
    )


def test_of_very_many_entrants_the_best_are_compared(monkeypatch):
    monkeypatch.setattr(section, "MOST_RATED", 3)
    result = built(SCORES, monkeypatch)
    assert [row[1] for row in result.named("epp_table").rows] == ["a", "b", "c"]
    assert any("Of 4 entrants the 3" in block.text for block in result.blocks if block.kind == "note")
