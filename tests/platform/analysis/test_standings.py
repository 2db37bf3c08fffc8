"""The standings of a board: who leads, by which rule, and what may be said of it."""

import datetime as dt
import json
import math

import altair
import numpy as np
import pytest
from django.utils import timezone

from analysis import work
from analysis.charts import standings as charts
from analysis.inputs.audience import Audience
from analysis.inputs.tables import BoardTable, Dataset, Entry, Loaded
from analysis.results import Note
from analysis.sections import standings
from analysis.sections.base import quiet
from competitions.models import Phase
from tests.platform import factories as make
from tests.platform.leaderboards.columns import making
from tests.platform.series import BAD, GOOD, enter, finish, series
from tests.shared import shared_case

NAN = math.nan


def board(scores, *, stderr=0.01, names=None, kind="binary.classification", tie_rule="earlier", **fields):
    """A board of these scores, entrants received in their order."""
    values = np.array(scores, dtype=float).reshape(len(scores), -1)
    names = names or [f"entrant{row}" for row in range(len(values))]
    entries = tuple(Entry(row, name, True, False, float(row), row + 1) for row, name in enumerate(names))
    datasets = tuple(
        Dataset(task, f"dataset{task}", "BAC", kind, task, 0, 60.0) for task in range(values.shape[1])
    )
    errors = np.where(np.isnan(values), NAN, stderr)
    ids = np.arange(len(values), dtype=np.int64)
    made = BoardTable(
        1,
        1,
        "AutoML[1]",
        "automl",
        1,
        "Novice",
        "",
        "test",
        tie_rule,
        False,
        entries,
        datasets,
        values,
        errors,
        ids,
    )
    return standings.view.replace(made, **fields)


@pytest.fixture(autouse=True)
def without_replicates(monkeypatch, request):
    """Boards made here have no replicates; those of the database have their own, and their pictures are drawn."""
    if "db" in request.fixturenames:
        return
    monkeypatch.setattr(standings.view, "combined_replicates", no_replicates)
    if "pictures" not in request.fixturenames:
        for name in ("places", "rules", "critical_difference", "chances", "win_chances", "by_dataset", "leaders"):
            monkeypatch.setattr(charts, name, lambda *given: {})


def no_replicates(boards):
    return np.empty((*boards[0].scores.shape, 0), np.float32)


@pytest.fixture
def pictures():
    """The test is about the pictures, whose making takes longest."""


def build(made, **facts):
    found = standings.build(Loaded((made,), {"rows": {}, "balanced": {}, "rises": [], **facts}), quiet)
    json.dumps(found.to_json(), allow_nan=False)
    return found


def column(result, key, name):
    block = result.named(key)
    at = [one.key for one in block.columns].index(name)
    return [row[at] for row in block.rows]


def test_places_follow_the_mean_rank_and_the_earlier_of_equals():
    found = build(board([[0.7, 0.8], [0.9, 0.9], [0.8, 0.7]], names=["late", "best", "later"]))
    assert column(found, "standings", "entrant") == ["best", "late", "later"]
    assert column(found, "standings", "place") == [1, 2, 3]
    assert "best leads" in found.headline


def test_equal_mean_ranks_share_a_place_where_the_phase_says_so():
    found = build(board([[0.7, 0.8], [0.9, 0.9], [0.8, 0.7]], tie_rule="shared"))
    assert column(found, "standings", "place") == [1, 2, 2]


def test_missing_scores_stay_in_and_are_counted():
    found = build(board([[0.9, NAN], [0.8, 0.8], [0.7, 0.7]]))
    assert "1 score of 6 is missing" in found.blocks[0].text
    assert column(found, "standings", "missing") == [0, 1, 0]
    assert column(found, "friedman", "failures") == [
        "missing scores are the last rank",
        "missing scores are 0, a constant predictor's",
    ]


def test_baselines_and_organizers_shift_nobody():
    made = board([[0.9], [0.8]])
    entries = (standings.view.replace(made.entries[0], is_ranked=False), made.entries[1])
    found = build(standings.view.replace(made, entries=entries))
    assert column(found, "standings", "mean_rank") == [1]


def test_too_few_datasets_are_said_to_be_too_few_and_how_many_would_do():
    generator = np.random.default_rng(0)
    found = build(board(generator.uniform(size=(12, 2))))
    [verdict] = [block.text for block in found.blocks if isinstance(block, Note) and "tell" in block.text]
    assert "2 datasets are too few for 12 entrants" in verdict
    assert "mute below" in verdict


def test_every_dataset_is_left_out_once_and_the_winner_then_is_told():
    found = build(board([[0.9, 0.9, 0.1], [0.8, 0.8, 0.8], [0.7, 0.7, 0.9]]))
    without = dict(
        zip(column(found, "without_dataset", "dataset"), column(found, "without_dataset", "winner"), strict=True)
    )
    assert without["dataset2"] == "entrant0"
    assert len(without) == 3


def test_a_leader_by_a_hair_is_tied_and_one_by_a_mile_is_not():
    close = build(board([[0.80, 0.80], [0.799, 0.799]], stderr=0.05))
    assert column(close, "standings", "tie_group") == [1, 1]
    assert "not told apart" in close.named("places").sentence
    clear = build(board([[0.8, 0.8], [0.2, 0.2]], stderr=0.01))
    assert column(clear, "standings", "tie_group") == [1, 2]
    assert column(clear, "standings", "first_by_rows") == [1, 0]


def test_both_questions_of_chance_are_answered_and_told_apart():
    found = build(board([[0.9, 0.9, 0.9, 0.1], [0.8, 0.8, 0.8, 0.8]], stderr=0.001))
    by_rows, by_datasets = (row[3] for row in found.named("first").rows if row[1] == "entrant0")
    assert by_rows == 1 and 0.5 < by_datasets < 1
    assert "draws of test rows" in found.named("first").sentence


def test_boards_without_error_bars_say_nothing_of_chance():
    found = build(board([[0.9, 0.8], [0.8, 0.9], [0.1, 0.2]], stderr=NAN))
    assert found.named("first") is None and found.named("rules") is not None
    assert any(isinstance(block, Note) and "no error bars" in block.text for block in found.blocks)


def test_the_rule_of_fifty_over_e_is_checked_by_the_balanced_accuracy_of_the_best():
    facts = {"rows": {0: {"rows": 600, "labels": 2}, 1: {"rows": 400, "labels": 2}}, "balanced": {0: 0.8, 1: 0.8}}
    found = build(board([[0.8, 0.8], [0.6, 0.6]]), **facts)
    assert column(found, "error_bars", "error") == pytest.approx([0.1, 0.1])
    assert column(found, "error_bars", "needed") == [500, 500]
    assert column(found, "error_bars", "is_enough") == [True, False]
    assert column(found, "error_bars", "subsample_spread") == pytest.approx([0.03, 0.03])


def test_a_regression_has_no_rule_of_fifty_over_e():
    found = build(board([[0.8], [0.7]], kind="regression"), rows={0: {"rows": 600, "labels": 0}})
    assert column(found, "error_bars", "needed") == [None]


def test_two_entrants_can_be_compared_by_a_form():
    found = build(board([[0.9, 0.9], [0.2, 0.2]], stderr=0.01, names=["anna", "ben"]))
    first, second = standings.duel.choices(found)
    assert first.options == (("0", "anna"), ("1", "ben"))
    assert second.options[0] == ("1", "ben")  # so that the form asks something at once
    [note] = standings.duel.answer(found, {"first": "0", "second": "1"})
    assert "anna is ahead of ben in 100% of the draws of test rows" in note.text
    assert "+0.7000" in note.text and "more than the chance" in note.text
    [same] = standings.duel.answer(found, {"first": "1", "second": "1"})
    assert "two different" in same.text
    for asked in ({}, {"first": "0"}, {"first": "7", "second": "0"}, {"first": "x", "second": "²"}):
        assert standings.duel.answer(found, asked) == ()
    assert standings.duel.choices(build(board([[0.5]]))) == ()


@pytest.mark.parametrize(
    "scores",
    [
        [[0.5]],
        [[0.5], [0.5]],
        [[0.5, 0.5]] * 3,
        [[NAN, NAN]] * 3,
        [[NAN], [0.5]],
        [[0.1, NAN, 0.2]],
        [[0.0] * 6] * 2,
    ],
)
@pytest.mark.parametrize("stderr", [0.0, 0.01, NAN])
def test_little_or_nothing_to_compare_is_said_and_breaks_nothing(scores, stderr):
    assert build(board(scores, stderr=stderr)).headline


def test_nobody_on_a_board_is_said():
    empty = board([[0.5]]).only(np.array([False]))
    assert "Nobody competes" in build(empty).headline


def test_values_of_which_the_smallest_leads_are_shown_as_they_are():
    found = build(board([[-1.5], [-2.5]], stderr=NAN, measure="Loss", sign=-1))
    assert column(found, "standings", "mean_score") == [1.5, 2.5]
    assert column(found, "scores", "score1") == [1.5, 2.5]
    assert found.named("error_bars") is None


def test_a_missing_value_of_a_column_is_no_value_and_never_the_best():
    found = build(board([[-1.5, -2.0], [-2.5, NAN]], stderr=NAN, measure="Loss", sign=-1))
    assert column(found, "standings", "mean_score") == [1.75, None]
    assert column(found, "rules", "score") == [1, 2]
    assert "0 of 4 other ways of ranking give another winner" in found.named("other_winners").sentence


def test_pictures_are_what_vega_lite_describes(pictures):
    found = build(board([[0.9, 0.5, NAN], [0.8, 0.7, 0.3], [0.1, 0.2, 0.2]]))
    keys = [figure.key for figure in found.figures()]
    assert keys == ["places", "rules", "critical_difference", "first", "pairs", "ranks", "leaders"]
    for figure in found.figures():
        altair.Chart.from_dict(figure.spec, validate=True)


def test_specifications_hold_names_as_data_alone(pictures):
    name = '"]; alert(1); ["'
    found = build(board([[0.9, 0.5], [0.8, 0.7], [0.1, 0.2]], names=[name, "b", "c"]))
    for figure in found.figures():
        spec = dict(figure.spec)
        assert spec.pop("datasets", None) or "data" in spec
        assert "alert" not in json.dumps(spec)


def test_the_systems_of_2016_stand_as_recomputed():
    vectors = json.loads((shared_case("analysis") / "vectors.json").read_text())["automl2016"]
    lines = (shared_case("analysis/automl2016") / "scores_winner.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines]
    systems = [name for name in rows[0] if name and "SameLoss" not in name]
    scores = [[float(row[rows[0].index(name)] or NAN) for row in rows[1:]] for name in systems]
    found = build(board(scores, stderr=NAN, names=systems))
    means = dict(zip(column(found, "standings", "entrant"), column(found, "standings", "mean_rank"), strict=True))
    assert {name: round(value, 3) for name, value in means.items()} == vectors[
        "mean_dense_rank_9_systems_missing_=-1"
    ]
    assert round(column(found, "friedman", "chi2_ties")[0], 3) == vectors["friedman_chi2"]
    assert round(column(found, "friedman", "cd")[0], 4) == vectors["CD_0.05"]


@pytest.mark.django_db
def test_a_series_tells_its_places_over_phases_and_what_tweaking_gained(db):
    made = series(timezone.now() - dt.timedelta(hours=40), datasets=2)
    alice, bob = make.user("alice"), make.user("bob")
    for title in ("AutoML[1]", "Final[1]", "AutoML[2]"):
        finish(enter(made[title], alice), GOOD)
        finish(enter(made[title], bob), BAD if title != "Final[1]" else GOOD)
    audience = Audience(part="test", kind=Phase.Kind.AUTOML)
    found = work.compute_now(made.contest, standings.SECTION, audience)
    assert column(found, "standings", "entrant") == ["alice", "bob"]
    assert len(found.named("ranks").columns) == 1 + 4
    assert column(found, "up", "round") == ["1"]


@pytest.mark.django_db
def test_a_phase_that_a_program_scores_has_standings_by_its_column(db):
    phase = making.phase(tasks=2)
    making.board(phase.competition, ("loss", {"is_ascending": True, "precision": 2}))
    making.entry(phase, "alice", {"loss": 0.25}, {"loss": 1})
    making.entry(phase, "bob", {"loss": 0.5}, {"loss": 2})
    Phase.objects.filter(pk=phase.pk).update(closes_at=timezone.now() - dt.timedelta(minutes=1))
    found = work.compute_now(phase.competition, standings.SECTION, Audience(phase=phase.pk))
    assert column(found, "standings", "entrant") == ["alice", "bob"]
    assert column(found, "standings", "mean_score") == [0.625, 1.25]
