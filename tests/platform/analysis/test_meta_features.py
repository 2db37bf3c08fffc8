"""The meta-features of datasets: computed once each, and what the section says of those that are known."""

import dataclasses
import datetime as dt
import json
from pathlib import Path

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone

from analysis import bell, meta, work
from analysis.inputs.audience import Audience
from analysis.inputs.basic import BasicRow
from analysis.inputs.boards import Loaded
from analysis.inputs.meta import Described
from analysis.measures import meta_features as measures
from analysis.measures import prediction, separation
from analysis.measures.meta_names import DEFINITIONS
from analysis.models import MetaFeatures
from analysis.results import Note, Result
from analysis.sections import BY_KEY
from analysis.sections.base import quiet
from analysis.sections.meta_features import build, load, spaced
from analysis.work import packed, unpacked
from competitions.models import Phase, Task
from datasets.actions import import_dataset
from datasets.models import Dataset, DatasetVersion
from ingestion.dataset import write_dataset
from tests.platform import factories as make
from tests.platform.analysis.boards import made_board
from tests.platform.series import enter, finish

METHODS = ("knn", "nb", "rf", "sgd")


@pytest.fixture(scope="module", autouse=True)
def _few_trees():
    """Enough to tell what these datasets tell; the extra group takes longest and is measured elsewhere."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(measures, "extra", lambda *args, **more: {})
        patched.setattr(prediction, "TREES", 40)
        patched.setattr(prediction, "FOLD_TREES", 10)
        patched.setattr(prediction, "REPEATS", 2)
        patched.setattr(separation, "BOOTSTRAPS", 10)
        yield


def texts(result: Result) -> str:
    return " ".join(block.text for block in result.blocks if isinstance(block, Note))


def values(count: int, *, seed: int = 0) -> dict[int, Described]:
    """Made meta-features of versions 1 to count: the first tells nothing, the second everything."""
    rng = np.random.default_rng(seed)
    return {
        pk: Described(
            {"NumberOfInstances": int(rng.integers(10, 99)), "ClassEntropy": pk / count, "Landmark1NN": None},
            False,
            False,
            "",
        )
        for pk in range(1, count + 1)
    }


@pytest.fixture(scope="module")
def learned() -> Result:
    """Sixteen datasets whose winners' scores and best basic methods follow from one of their meta-features."""
    count = 16
    winners = [pk / count for pk in range(1, count + 1)]
    best = [[0.5 if (place == 3) == (score > 0.5) else 0.1 for score in winners] for place in range(4)]
    board = made_board([winners, *best], versions=list(range(1, count + 1)), baselines=4)
    rows = tuple(BasicRow(0, 1 + place, method, False) for place, method in enumerate(METHODS))
    result = build(Loaded((board,), {"basic": rows, "described": values(count)}), quiet)
    assert json.dumps(unpacked(packed(result)).to_json()) == json.dumps(result.to_json())
    return result


def test_what_tells_the_score_is_named_with_its_cross_validated_r2(learned):
    figure = learned.named("importance")
    assert figure.sentence.startswith("The most important by impurity are ClassEntropy")
    assert "Cross-validated R² is" in figure.sentence
    assert learned.extras["prediction"]["order"][0] == "ClassEntropy"
    assert learned.extras["prediction"]["r2"] > 0.5 and not figure.warnings


def test_predictions_stand_beside_the_scores(learned):
    figure = learned.named("predicted-scores")
    assert len(figure.rows) == 16 and "always guessing the mean misses by" in figure.sentence


def test_the_left_out_accuracy_always_stands_beside_the_majority(learned):
    figure = learned.named("discriminants")
    assert "Left out one by one" in figure.sentence and "always naming the most frequent" in figure.sentence
    assert {row[1] for row in figure.rows} == {"nearest neighbours", "linear model (SGD)"}
    assert learned.named("discriminant-features").rows[0][0] == "ClassEntropy"


def test_every_dataset_has_its_meta_features_and_nearest_datasets(learned):
    table = learned.named("meta-features-size")
    assert [column.key for column in table.columns] == ["dataset", "NumberOfInstances"]
    assert len(table.rows) == 16 and table.columns[1].label == "Number Of Instances"
    assert {row[0] for row in learned.named("likeness").rows} == {f"set{pk}" for pk in range(1, 17)}


def test_scores_that_follow_from_nothing_are_not_predicted_and_the_page_warns():
    scores = np.random.default_rng(7).random((1, 12))
    found = build(
        Loaded((made_board(scores, versions=list(range(1, 13))),), {"basic": (), "described": values(12, seed=1)}),
        quiet,
    )
    assert found.extras["prediction"]["r2"] <= 0
    assert any("explains nothing" in warning for warning in found.named("importance").warnings)
    assert "do not predict" in found.headline
    assert "Organizers can let the platform run the basic methods" in texts(found)


def test_of_a_concealed_dataset_nothing_is_shown():
    board = made_board([[0.5, 0.6]], versions=[1, 2])
    concealed = dataclasses.replace(board.datasets[1], version_id=None, name="dataset2")
    board = dataclasses.replace(board, datasets=(board.datasets[0], concealed))
    found = build(Loaded((board,), {"basic": (), "described": values(2)}), quiet)
    assert "dataset2" not in json.dumps(found.to_json())
    assert "1 dataset is still concealed" in texts(found)


def test_datasets_without_meta_features_are_counted_with_the_reason():
    board = made_board([[0.5, 0.6, 0.7]], versions=[1, 2, 3])
    described = {2: Described({}, False, False, meta.TOO_SLOW), 3: Described({}, False, True, "")}
    found = build(Loaded((board,), {"basic": (), "described": described}), quiet)
    assert found.headline == "No dataset has meta-features yet."
    assert "2 datasets are without" in texts(found) and f"set2 has no meta-features: {meta.TOO_SLOW}" in texts(
        found
    )


@pytest.mark.parametrize("scores", [[[0.5]], [[0.5] * 10], [[np.nan] * 10]], ids=["one", "tied", "all missing"])
def test_too_little_to_learn_from_is_said(scores):
    count = len(scores[0])
    board = made_board(scores, versions=list(range(1, count + 1)))
    found = build(Loaded((board,), {"basic": (), "described": values(count)}), quiet)
    assert "are needed to learn from" in texts(found) and found.named("meta-features-size") is not None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("NumberOfInstances", "Number Of Instances"),
        ("PCAKurtosisFirstPC", "PCA Kurtosis First PC"),
        ("Landmark1NN", "Landmark 1NN"),
        ("LandmarkR2Ridge", "Landmark R2 Ridge"),
    ],
)
def test_names_become_words(name, words):
    assert spaced(name) == words


@pytest.fixture
def stored(db, tmp_path) -> DatasetVersion:
    """An imported dataset of forty training rows."""
    return imported(tmp_path)


def imported(folder: Path, **more) -> DatasetVersion:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] > 0).astype(int)
    X[0, 1] = np.nan
    made = write_dataset(
        folder / "made",
        "made",
        task="binary.classification",
        metric="BAC",
        time_budget=10,
        train=(X[:40], y[:40]),
        test=(X[40:], y[40:]),
        **more,
    )
    report = import_dataset(made, owner=make.user("olga"))
    assert report.ok and report.dataset is not None
    return report.dataset.current


def test_a_dataset_is_measured_once(stored):
    assert meta.compute_due(timezone.now()) == 1
    assert meta.compute_due(timezone.now()) == 0
    found = stored.meta_features
    assert not found.is_waiting and found.sentence == ""
    assert found.values["NumberOfInstances"] == 40 and found.values["NumberOfMissingValues"] == 1
    assert found.values["StratifiedLandmarkDecisionTree"] > 0.8
    assert found.sample.startswith("All 40 rows and 4 features")


def test_the_text_gives_the_same_as_the_arrays(stored):
    from_arrays = meta.measure(stored)
    stored.cache_zip = ""
    assert meta.measure(stored) == from_arrays


def test_files_that_cannot_be_read_are_said_without_their_name(db):
    version = make.dataset(make.user("olga"), "secret").current
    assert meta.compute_due(timezone.now()) == 1
    assert version.meta_features.sentence == meta.UNREADABLE
    assert meta.compute_due(timezone.now()) == 0


def lost(version: DatasetVersion, *, tries: int) -> MetaFeatures:
    """What a worker leaves that was killed."""
    return MetaFeatures.objects.create(
        version=version, tries=tries, deadline=timezone.now() - dt.timedelta(hours=1)
    )


def test_what_a_worker_lost_is_begun_anew(stored):
    row = lost(stored, tries=1)
    assert meta.compute_due(timezone.now()) == 1
    row.refresh_from_db()
    assert row.values and row.tries == 2 and not row.is_waiting


def test_what_was_lost_too_often_is_given_up(stored):
    row = lost(stored, tries=bell.MOST_TRIES)
    assert meta.compute_due(timezone.now()) == 0
    row.refresh_from_db()
    assert (row.sentence, row.values, row.is_waiting) == (meta.LOST, {}, False)


def test_what_another_worker_computes_is_left_to_it(stored):
    MetaFeatures.objects.create(version=stored, tries=1, deadline=timezone.now() + dt.timedelta(minutes=1))
    assert meta.compute_due(timezone.now()) == 0


def test_other_definitions_are_computed_again_and_published_values_stay(stored):
    MetaFeatures.objects.create(version=stored, definitions="0", values={"NumberOfInstances": 1})
    published = make.dataset(make.user("pia"), "other").current
    MetaFeatures.objects.create(version=published, definitions="0", origin="published", values={"Old": 1})
    assert meta.compute_due(timezone.now()) == 1
    stored.refresh_from_db()
    published.refresh_from_db()
    assert stored.meta_features.values["NumberOfInstances"] == 40
    assert stored.meta_features.definitions == DEFINITIONS
    assert published.meta_features.values == {"Old": 1}


def test_versions_that_were_replaced_or_are_held_back_are_not_measured(stored):
    newer = DatasetVersion.objects.get(pk=stored.pk)
    newer.pk, newer.number = None, 2
    newer.save()
    assert list(meta.due()) == [newer]
    DatasetVersion.objects.filter(pk=newer.pk).update(is_held=True)
    assert list(meta.due()) == [stored]


def over(contest, *datasets: Dataset) -> Phase:
    """An open phase of these datasets that is over, with an entrant's scores."""
    phase = make.phase(contest, tasks=0)
    for order, dataset in enumerate(datasets):
        Task.objects.create(phase=phase, dataset=dataset, order=order)
    finish(enter(phase, make.user()))
    Phase.objects.filter(pk=phase.pk).update(closes_at=timezone.now() - dt.timedelta(minutes=1))
    return phase


def test_what_a_blind_phase_elsewhere_still_hides_has_no_meta_features_for_everybody(db):
    olga = make.user("olga")
    plain, hidden = described(olga, "plain"), described(olga, "hidden")
    contest = make.competition(organizer=olga)
    over(contest, plain, hidden)
    earlier = timezone.now() - dt.timedelta(days=2)
    blind = make.phase(make.competition(organizer=olga), tasks=0, kind=Phase.Kind.AUTOML, opens_at=earlier)
    Task.objects.create(phase=blind, dataset=hidden, order=0)
    loaded = load(contest, Audience(), timezone.now())
    assert list(loaded.facts["described"]) == [plain.current.pk]
    sooner = load(contest, Audience(sees_hidden=True), timezone.now())
    assert set(sooner.facts["described"]) == {plain.current.pk, hidden.current.pk}


def test_meta_features_that_were_computed_since_ask_for_a_new_result(db):
    olga = make.user("olga")
    contest = make.competition(organizer=olga)
    phase = over(contest, make.dataset(olga, "late"))
    before = load(contest, Audience(), timezone.now()).fingerprint()
    MetaFeatures.objects.create(version=phase.tasks.get().dataset.current, values={"NumberOfInstances": 3})
    assert load(contest, Audience(), timezone.now()).fingerprint() != before


def test_the_page_shows_what_was_measured(db):
    olga = make.user("olga")
    contest = make.competition(organizer=olga)
    over(contest, described(olga, "plain"))
    outcome = work.wanted(contest, BY_KEY["meta_features"], Audience())
    work.process(outcome.row.pk)
    page = Client().get(f"/competitions/{contest.slug}/analysis/meta_features/").content.decode()
    assert "Size, types and missing values" in page and "Number Of Instances" in page
    assert "are needed to learn from" in page


def card(dataset: Dataset, person=None) -> str:
    client = Client()
    if person:
        client.force_login(person)
    answer = client.get(f"/datasets/{dataset.slug}/")
    return answer.content.decode() if answer.status_code == 200 else ""


def described(owner, name: str, **fields) -> Dataset:
    """A dataset with meta-features."""
    made = make.dataset(owner, name)
    Dataset.objects.filter(pk=made.pk).update(**fields)
    known = {"NumberOfInstances": 40 + len(name), "LogNumberOfFeatures": 1.5, "pymfe.nr_disc": 1.0}
    MetaFeatures.objects.create(version=made.current, values=known, sample="All 40 rows.")
    return made


def test_the_card_shows_the_meta_features_to_whom_it_shows_the_card(db):
    olga = make.user("olga")
    public, private = described(olga, "seen", is_public=True), described(olga, "unseen")
    assert "Number Of Instances" in card(public) and "nr_disc" in card(public)
    assert card(private) == ""
    assert "Most alike" in card(private, olga)


def test_the_card_compares_only_with_datasets_that_the_viewer_may_see(db):
    olga, pia = make.user("olga"), make.user("pia")
    public = described(olga, "seen", is_public=True)
    described(olga, "hiddenset")
    described(olga, "lookedfor", is_public=True)
    assert "Hiddenset" in card(public, olga)
    for viewer in (None, pia):
        assert "Lookedfor" in card(public, viewer)
        assert "Hiddenset" not in card(public, viewer)


def test_the_card_says_why_there_are_none(db):
    olga = make.user("olga")
    made = make.dataset(olga, "plain")
    assert "Meta-features" not in card(made, olga)
    row = MetaFeatures.objects.create(version=made.current, deadline=timezone.now())
    assert "They are being computed" in card(made, olga)
    MetaFeatures.objects.filter(pk=row.pk).update(deadline=None, sentence=meta.TOO_SLOW)
    assert meta.TOO_SLOW in card(made, olga)
