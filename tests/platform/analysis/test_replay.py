"""The challenge of 2015/16, replayed from its published scores: the numbers of the chapter come out again."""

import json
from dataclasses import replace

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client

from accounts.refusals import Refused
from analysis import work
from analysis.inputs.audience import Audience, scopes, usual_scope
from analysis.inputs.boards import load_boards
from analysis.models import Computed, Replay
from analysis.replay.claims import CLAIMS
from analysis.replay.contest import CLOSES
from analysis.replay.facts import raw_value
from analysis.replay.loading import load
from analysis.replay.notes import answers, as_published
from analysis.replay.reading import rows_by
from analysis.replay.source import model_of, read
from analysis.results import Result
from analysis.sections import BY_KEY
from competitions import clock
from competitions.models import Competition
from submissions.again import HAS_PREDICTIONS
from submissions.changes import Rescore
from submissions.models import Run, Score, Submission
from tests.platform import factories as make
from tests.shared import shared_case

ALL = Audience(kind="open", part="test")
# What of the chapter comes out again; what does not is said on the pages.
REPRODUCED = {
    "error_bars": True,
    "test_sizes": True,
    "difficulty": True,
    "rounds": True,
    "ratio": False,
    "importance": True,
    "separation": True,
    "left_out": False,
    "tuning": True,
    "gains": True,
    "wallis": False,
    "starts": True,
}


def of_madeline(file) -> bool:
    return file.dataset == "madeline" and file.model == "aad_freiburg"


@pytest.fixture(scope="module")
def published():
    shared_case("analysis/automl2016")
    return read(shared_case("published_2016").parent)


@pytest.fixture(scope="module")
def contest(published, django_db_setup, django_db_blocker):
    """The whole replay, with one of the prediction files."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield load(published, owner=make.user("olga"), wanted=of_madeline).competition
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def vectors():
    return json.loads((shared_case("analysis/vectors.json")).read_text())["automl2016"]


class Results:
    """Inputs and result of each section, computed once; of what is about a phase, for all of them together."""

    def __init__(self, contest: Competition) -> None:
        self.contest = contest
        self._known = {}

    def __getitem__(self, key: str):
        if key not in self._known:
            section = BY_KEY[key]
            audience = ALL if section.of_phase else Audience()
            loaded = section.load(self.contest, audience, clock.now(self.contest))
            self._known[key] = loaded, section.build(loaded, lambda share, what: None)
        return self._known[key]

    def rows(self, key: str, table: str, column: str, **equal):
        return rows_by(self[key][1], table, column, **equal)


@pytest.fixture(scope="module")
def results(contest):
    return Results(contest)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.key)
@pytest.mark.django_db
def test_each_statement_of_the_chapter_is_answered_on_its_page(results, claim):
    loaded, result = results[claim.section]
    found = {one.key: answer for one, answer in answers(claim.section, loaded, result)}
    assert found[claim.key].agrees is REPRODUCED[claim.key], found[claim.key].here
    table = rows_by(result, "as-published", "statement")
    assert table[claim.text]["agrees"] == ("yes" if REPRODUCED[claim.key] else "no")


@pytest.mark.django_db
def test_intrinsic_and_modelling_difficulty_are_those_of_the_vectors(results, vectors):
    rows = results.rows("difficulty", "difficulty", "dataset")
    for name, expected in vectors["intrinsic_1_minus_best"].items():
        assert rows[name.lower()]["intrinsic"] == pytest.approx(expected, abs=1e-9)
    for name, expected in vectors["modelling_vs_best_of_4_default"].items():
        assert rows[name.lower()]["modelling"] == pytest.approx(expected, abs=1e-9)
    for name, expected in vectors["modelling_vs_SNB(marcboulle)"].items():
        assert rows[name.lower()]["modelling_snb"] == pytest.approx(expected, abs=1e-9)


@pytest.mark.django_db
def test_tuning_wins_equals_and_loses_as_often_as_in_the_vectors(results, vectors):
    expected = vectors["default_vs_tuned_task_metric"]
    rows = results.rows("tuning", "tuning", "method")
    labels = {
        "KNN": "nearest neighbours",
        "NAIVE BAYES": "naive Bayes",
        "RANDOMFOREST": "random forest",
        "SGD(LINEAR)": "linear model (SGD)",
        "total": "all together",
    }
    for column, label in labels.items():
        found = [rows[label][key] for key in ("pairs", "better", "equal", "worse")]
        assert found == expected[column]
    total = rows["all together"]
    assert (total["missing"], total["failed"]) == (expected["tuned_missing"], expected["tuned_score<=0"])


@pytest.mark.django_db
def test_curves_go_on_after_the_budget_as_in_the_vectors(results, vectors):
    expected = vectors["learning_curves_aad"]
    rows = results.rows("curves", "beyond", "dataset", entrant="aad_freiburg")
    gains = {name: row["gain"] for name, row in rows.items()}
    assert sum(gain is not None and gain <= 0.2 for gain in gains.values()) == expected["gain_after_T<=20%"]
    assert {name for name, gain in gains.items() if gain and gain > 1} == set(expected["gain>100%"])
    assert {name for name, gain in gains.items() if gain is None} == set(expected["score<=0_at_T"])
    ahead = [row["ahead_area"] for row in results.rows("curves", "datasets", "dataset").values()]
    assert [ahead.count("abhishek"), len(ahead)] == expected["alc_to_T_abhishek_higher"]


@pytest.mark.django_db
def test_mean_ranks_and_friedmans_test_are_those_of_the_vectors(results, vectors):
    rows = results.rows("standings", "standings", "entrant")
    ranks = {name: round(row["mean_rank"], 3) for name, row in rows.items()}
    assert ranks == vectors["mean_dense_rank_9_systems_missing_=-1"]
    tests = results.rows("standings", "friedman", "failures")["missing scores are the last rank"]
    assert tests["chi2_ties"] == pytest.approx(vectors["friedman_chi2"], abs=5e-4)
    assert tests["cd"] == pytest.approx(vectors["CD_0.05"], abs=5e-5)


@pytest.mark.django_db
def test_every_classification_set_is_large_enough_as_in_the_vectors(results, vectors):
    rows = results.rows("standings", "error_bars", "dataset").values()
    known = [row["is_enough"] for row in rows if row["is_enough"] is not None]
    assert [sum(known), len(known)] == vectors["N_50_over_E"]["classification_sets_with_N>=50/E"]


@pytest.mark.django_db
def test_meta_features_predict_and_separate_as_in_the_vectors(results, vectors):
    extras = results["meta_features"][1].extras
    importance, separation = vectors["rf_importance_top3"], vectors["lda_basic_winner"]
    assert extras["prediction"]["order"][:3] == importance["expected"]
    assert extras["prediction"]["r2"] == pytest.approx(importance["cv_R2"], abs=0.1)
    expected = {
        "n": separation["n"],
        "features": separation["features"],
        "plain_in_sample": separation["train_acc"],
        "plain_left_out": separation["loo_acc"],
        "left_out": separation["with_shrinkage_loo"],
        "majority": separation["majority"],
    }
    found = {name: extras["separation"][name] for name in expected}
    assert found == pytest.approx(expected, abs=5e-4)


@pytest.mark.django_db
def test_epp_over_all_datasets_is_that_of_the_vectors(results, vectors):
    rows = results.rows("epp", "epp_table", "entrant")
    for name, expected in vectors["epp_mean0_rounds=30_datasets"].items():
        assert rows[name]["epp"] == pytest.approx(expected, abs=6e-4)


@pytest.mark.django_db
def test_scores_are_as_published_and_ranks_follow(contest, published):
    boards = load_boards(contest, ALL, clock.now(contest))
    found = {
        (dataset.name, entry.name): board.scores[row, column]
        for board in boards
        for column, dataset in enumerate(board.datasets)
        for row, entry in enumerate(board.entries)
        if entry.is_ranked and board.scores[row, column] == board.scores[row, column]
    }
    assert found == published.scores
    assert [board.round_name for board in boards][::5] == ["Preparation", "Master"]


@pytest.mark.django_db
def test_a_published_prediction_has_the_published_score_and_its_standard_error(contest, published):
    score = Score.objects.get(run__submission__phase__round__competition=contest, replicates__isnull=False)
    file = next(file for file in published.predictions if of_madeline(file))
    assert score.value == pytest.approx(file.score, abs=1e-9)
    assert score.stderr == pytest.approx(0.0121, abs=2e-3)
    assert not score.run.submission.entrant.held_a_role and score.run.submission.entrant.is_baseline


@pytest.mark.django_db
def test_loading_again_changes_nothing(contest, published):
    before = Submission.objects.count(), Score.objects.count()
    again = load(published, owner=contest.created_by, wanted=of_madeline)
    assert again.was_there and not again.rounds and again.competition == contest
    assert (Submission.objects.count(), Score.objects.count()) == before


@pytest.mark.django_db
def test_published_scores_without_predictions_are_never_scored_again(contest):
    phase = contest.phases().get(round__number=1)
    scored = Rescore(by=contest.created_by, phase=phase).preview(clock.now(contest)).rescored
    assert scored == 1
    runs = Run.objects.filter(submission__phase=phase)
    assert runs.filter(HAS_PREDICTIONS).count() == 1 < runs.count()


@pytest.mark.django_db
def test_the_command_says_what_there_is(contest, published, capsys):
    call_command("replay_2016", str(published.folder), "--owner", "olga", "--json")
    said = json.loads(capsys.readouterr().out)
    assert (said["slug"], said["was_there"], said["rounds"]) == (contest.slug, True, [])
    with pytest.raises(SystemExit):
        call_command("replay_2016", "/nowhere", "--owner", "olga")
    assert "scores_winner.csv" in capsys.readouterr().err


@pytest.mark.django_db
def test_the_error_bars_of_a_round_stand_beside_those_computed_here(contest):
    phase = contest.phases().get(round__number=1)
    section = BY_KEY["standings"]
    loaded = section.load(contest, Audience(phase=phase.pk, part="test"), clock.now(contest))
    bars = rows_by(
        Result("", as_published("standings", loaded, Result("", ()))), "published-error-bars", "dataset"
    )
    assert bars["madeline"]["published"] == 0.04
    assert bars["madeline"]["spread"] == pytest.approx(0.0374, abs=0.005)


@pytest.mark.django_db
def test_loading_goes_on_where_it_stopped(published):
    two_rounds = replace(published, datasets=published.datasets[3:7], curves={})

    def stop(sentence: str) -> None:
        if sentence.startswith("Round 1"):
            raise KeyboardInterrupt

    owner = make.user("otto")
    with pytest.raises(KeyboardInterrupt):
        load(two_rounds, owner=owner, tell=stop, wanted=lambda file: False)
    half = Replay.objects.get(competition__created_by=owner)
    assert half.facts["loaded"] == [0]
    assert half.competition.state == Competition.State.DRAFT
    done = load(two_rounds, owner=owner, wanted=lambda file: False)
    assert done.rounds == [1] and done.competition.state == Competition.State.PUBLISHED


@pytest.mark.django_db
def test_everybody_reads_on_the_page_what_is_not_reproduced(contest):
    address = f"/competitions/{contest.slug}/analysis/difficulty/"
    Client().get(address)
    work.process(Computed.objects.filter(competition=contest, section="difficulty").latest("pk").pk)
    page = Client().get(address).content.decode()
    assert "As published" in page and "Not reproduced (10.5.6)" in page


@pytest.mark.django_db
def test_its_datasets_and_its_boards_open_for_everybody(contest):
    assert contest.phases().last().closes_at == CLOSES
    for page in ("", "datasets/", "leaderboard/", "leaderboard/history/"):
        assert Client().get(f"/competitions/{contest.slug}/{page}").status_code == 200


@pytest.mark.django_db
def test_a_competition_of_its_own_has_no_such_block():
    phase = make.phase(make.competition())
    section = BY_KEY["difficulty"]
    loaded = section.load(phase.competition, Audience(sees_hidden=True), clock.now(phase.competition))
    assert "replay" not in loaded.facts
    assert section.build(loaded, lambda share, what: None).named("as-published") is None


def test_a_folder_without_the_tables_is_refused(tmp_path):
    with pytest.raises(Refused, match=r"scores_winner\.csv"):
        read(tmp_path)


def test_lines_of_old_macs_and_spaces_in_names_are_read(tmp_path):
    (tmp_path / "info.csv").write_bytes(
        b",feat_num,is_sparse,has_missing,label_num,metric,target_num,task,test_num,time_budget,train_num,valid_num\r"
        b"TINY,3,0,1,2,'bac_metric',1,'binary.classification',6,,8,4\r"
    )
    (tmp_path / "scores_winner.csv").write_bytes(b",one,one_SameLoss,two,two_SameLoss\rTINY,0.5,0.5,,\r")
    (tmp_path / "errorbars_winner.csv").write_bytes(b",one_SameLoss_std,one_std,two_std\rTINY,0.1,0.2,\r")
    (tmp_path / "scores_pure_model_def_hp.csv").write_bytes(
        b",KNN,NAIVE BAYES,RANDOMFOREST,SGD(LINEAR)\rTINY,,.1,,\r"
    )
    (tmp_path / "meta_feature.csv").write_bytes(b",ClassEntropy,PCA\rTINY,1.0,\r")
    found = read(tmp_path)
    assert found.systems == ("one", "two")
    assert found.scores == {("tiny", "one"): 0.5} and found.spreads == {("tiny", "one"): 0.2}
    assert found.default == {("tiny", "nb"): 0.1}
    assert found.datasets[0].meta_features == {"ClassEntropy": 1.0}
    assert (found.datasets[0].time_budget, found.predictions, found.curves) == (1200.0, (), {})


def test_models_are_named_without_their_kind_of_task():
    assert model_of("basic/alexis_test_OneVsRestClassifier_RidgeClassifier.predict.xz") == "Ridge"
    assert model_of("basic/cadata_test_RandomForestRegressor.predict.xz") == "RandomForest"
    assert model_of("aad_freiburg_timebudget/adult_test_00009.predict.xz") == "aad_freiburg"


def test_a_score_before_it_was_normalised():
    assert raw_value(0.5, "bac_metric", task="multiclass.classification", classes=5) == pytest.approx(0.6)
    assert raw_value(0.5, "auc_metric", task="multiclass.classification", classes=5) == pytest.approx(0.75)
    assert raw_value(-2.0, "a_metric", task="regression", classes=0) == -2.0


def test_a_replay_begins_with_all_rounds_together(contest):
    now = clock.now(contest)
    usual = usual_scope(scopes(contest, Audience(), now), now)
    assert usual is not None and usual.is_combined
    assert {look.phase.round.number for look in usual.looks} == set(range(6))
