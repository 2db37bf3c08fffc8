"""What the bundles' scoring programs make of results, in a real sandbox but without a worker: rows and boards."""

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from accounts.models import User
from accounts.refusals import Refused
from bundles.importing import import_bundle
from competitions.actions import join
from competitions.actions.publishing import Publish
from competitions.models import Competition, Phase
from leaderboards.columns import choosing
from leaderboards.models import ColumnRow
from operations.management.commands.submit import result_of
from submissions import handover
from submissions.actions import submit
from submissions.models import Run, RunState, Submission
from submissions.programs import site_sandbox
from submissions.programs.scoring import score_programmed
from tests.bundles import packing
from tests.platform import factories

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.bubblewrap]

Published = Callable[..., Competition]
Send = Callable[..., Submission]


@pytest.fixture(autouse=True)
def in_bubblewrap(monkeypatch):
    monkeypatch.setenv("PODIUM_SANDBOX", "bubblewrap")
    site_sandbox.site_sandbox.cache_clear()
    yield
    site_sandbox.site_sandbox.cache_clear()


@pytest.fixture
def alice() -> User:
    return factories.user("alice")


@pytest.fixture
def published(tmp_path: Path, alice: User) -> Published:
    """Imports a bundle, publishes it, and lets Alice take part."""

    def publishing(name: str, folder: Path = packing.TRAITS, **options: object) -> Competition:
        path = packing.bundle(folder / name, tmp_path / f"{name}.zip")
        report = import_bundle(path, organizer=factories.user("olga"), **options)
        assert report.competition is not None, report.errors
        Competition.objects.filter(pk=report.competition.pk).update(registration=Competition.Registration.OPEN)
        report.competition.refresh_from_db()
        Publish(None, report.competition).execute()
        join(report.competition, alice)
        return report.competition

    return publishing


@pytest.fixture
def send(tmp_path: Path, alice: User) -> Send:
    """Sends texts under their names to a phase, and scores all that comes of them."""

    def sending(phase: Phase, by: User | None = None, **files: str) -> Submission:
        texts = {name.replace("_", "."): text for name, text in files.items()}
        archive = packing.written(texts, tmp_path / "sent.zip")
        submission = submit(user=by or alice, phase=phase, archive=archive, filename="sent.zip")
        score_all()
        submission.refresh_from_db()
        return submission

    return sending


def score_all() -> None:
    """Score every run that waits for it."""
    for run in Run.objects.filter(state=RunState.COLLECTED):
        score_programmed(run.pk)


def phases(competition: Competition) -> list[Phase]:
    """The phases in their order."""
    return list(competition.phases().select_related("round__competition").order_by("number"))


def scores(phase: Phase) -> dict[str, dict[str, float]]:
    """The scores of a phase by task and column; every run has finished."""
    runs = Run.objects.filter(submission__phase=phase)
    assert {run.state for run in runs} == {RunState.FINISHED}, [run.program_report for run in runs]
    return {run.dataset_name: {one.key: one.value for one in run.column_scores.all()} for run in runs}


def on_boards(phase: Phase) -> list[tuple[str, int]]:
    """Which submissions stand where: the board's key and the number of the submission."""
    rows = ColumnRow.objects.filter(phase=phase, is_frozen=False).order_by("board__order", "position")
    return list(rows.values_list("board__key", "submission__number"))


def test_what_is_sent_to_a_parallel_parent_is_scored_in_its_children(published: Published, send: Send) -> None:
    parent, north, south = phases(published("parallel"))
    sent = send(parent, answer_txt="a b c x")
    assert scores(north) == {"North": {"accuracy": 0.75}}
    assert scores(south) == {"South": {"accuracy": 0.5}}
    told = result_of(sent)
    assert told["state"] == "finished"
    assert {run["task"]: run["scores"] for run in told["runs"]} == {
        "North": {"accuracy": 0.75},
        "South": {"accuracy": 0.5},
    }


def test_submissions_come_over_and_are_scored_again(published: Published, send: Send, clock) -> None:
    clock.set(dt.datetime(2026, 2, 15, tzinfo=dt.UTC))
    first, second = phases(published("series"))
    send(first, answer_txt="a b c x")
    assert scores(first) == {"North": {"accuracy": 0.75}, "South": {"accuracy": 0}}
    clock.set(dt.datetime(2026, 3, 1, 0, 0, 2, tzinfo=dt.UTC))
    assert handover.tick() == 1
    assert handover.tick() == 0
    score_all()
    assert scores(second) == {"South": {"accuracy": 0}, "North": {"accuracy": 0.75}}
    assert len(on_boards(second)) == 1


def test_organizers_try_a_bundle_whatever_its_dates_and_quotas_and_others_do_not(
    tmp_path: Path, send: Send, alice: User, clock
) -> None:
    clock.set(dt.datetime(2030, 1, 1, tzinfo=dt.UTC))
    olga = factories.user("olga")
    path = packing.bundle(packing.TRAITS / "series", tmp_path / "series.zip")
    competition = import_bundle(path, organizer=olga).competition
    assert competition is not None and competition.state == Competition.State.DRAFT
    first, second = phases(competition)
    for phase in (first, second):
        send(phase, by=olga, answer_txt="a b c d")
        assert scores(phase)["North"] == {"accuracy": 1}
    Publish(None, competition).execute()
    Competition.objects.filter(pk=competition.pk).update(registration=Competition.Registration.OPEN)
    competition.refresh_from_db()
    join(competition, alice)
    with pytest.raises(Refused, match="closed"):
        send(phases(competition)[0], answer_txt="a b c d")


def test_columns_are_computed_of_others(published: Published, send: Send) -> None:
    phase = phases(published("computed_columns"))[0]
    send(phase, scores_json=json.dumps({"one": 1, "two": 2, "three": 6, "mean": 100}))
    row = ColumnRow.objects.get(phase=phase)
    shown = sorted(value for value in row.values.values())
    assert shown == [1, 1, 2, 3, 6, 6, 7]


def test_two_commands_run_one_after_the_other_beside_an_ingestion_program(
    published: Published, send: Send
) -> None:
    phase = phases(published("two_commands"))[0]
    submission = send(phase, answer_txt="a x")
    run = submission.runs.get()
    assert (run.state, run.reason) == (RunState.FINISHED, ""), run.sentence
    assert scores(phase) == {"Open": {"accuracy": 0.5, "lines": 2}}
    assert "the first" in run.program_report["scoring_lines"]
    assert "only data and labels" in run.program_report["ingestion_lines"]


def test_an_ingestion_program_that_is_allowed_labels_runs_beside_them(published: Published, send: Send) -> None:
    competition = published("labels_in_reach", packing.BROKEN, answers={"labels_are_readable": "yes"})
    phase = phases(competition)[0]
    # The file that makes it code: CodaLab's workers take other archives as results.
    run = send(phase, answer_txt="a x", metadata="description: my code").runs.get()
    assert scores(phase) == {"Open": {"accuracy": 0.5}}
    assert "2 labels" in run.program_report["ingestion_lines"]


def test_six_rules_choose_what_stands(published: Published, send: Send, alice: User) -> None:
    phase = phases(published("six_rules"))[0]
    best, last = send(phase, answer_txt="a b"), send(phase, answer_txt="a x")
    by_itself = [("force_last", 2), ("force_latest_multiple", 1), ("force_latest_multiple", 2), ("force_best", 1)]
    assert sorted(on_boards(phase)) == sorted(by_itself)
    choosing.add(best, by=alice)
    last.refresh_from_db()
    choosing.add(last, by=alice)
    chosen = [(key, number) for key, number in on_boards(phase) if key.startswith("add")]
    assert ("add_and_delete_multiple", 1) in chosen and ("add_and_delete_multiple", 2) in chosen
    assert ("add", 2) in chosen and ("add", 1) not in chosen


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('{"accuracy": NaN}', "accuracy is not finite"),
        ('{"accuracy": "good"}', "accuracy is the text 'good'"),
        ('{"accuracy": {"value": 1}}', "accuracy is a mapping"),
        ('{"speed": 1}', "speed"),
        ("no scores at all", "scores.json"),
        ("", "no scores"),
    ],
)
def test_scores_that_are_none_are_the_organizers_fault(
    published: Published, send: Send, written: str, said: str
) -> None:
    submission = send(phases(published("bad_scores"))[0], scores_json=written)
    run = submission.runs.get()
    assert (submission.state, run.reason) == (Submission.State.FAILED, "scoring_failed")
    assert "organizer" in run.sentence and "scoring_program" in run.sentence
    assert said in run.sentence
    assert not submission.uses_quota


def test_only_declared_columns_are_kept(published: Published, send: Send) -> None:
    phase = phases(published("bad_scores"))[0]
    run = send(phase, scores_json='{"accuracy": 0.5, "speed": 1}').runs.get()
    assert scores(phase) == {"Scores": {"accuracy": 0.5}}
    assert any("speed" in note for note in run.program_report["scoring_notes"])


def test_a_scoring_program_finds_what_it_was_promised(published: Published, send: Send) -> None:
    phase = phases(published("manners"))[0]
    send(phase, colorsys_py="raise SystemExit('code of the participant')")
    found = scores(phase)["Looking around"]
    assert found == dict.fromkeys(found, 1) and len(found) == 7
