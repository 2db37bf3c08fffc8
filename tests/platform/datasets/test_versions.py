"""Versions: what a run used never changes, a new one waits until it is swapped in, and boards follow if asked."""

from pathlib import Path

import pytest
from django.core.files.base import ContentFile

from accounts.refusals import Refused
from competitions.actions.remove import remove_dataset
from competitions.models import AuditEntry, Organizer
from datasets.actions import import_dataset
from datasets.models import DatasetVersion, VersionInUse
from datasets.sharing import share
from datasets.versions import remove_version, stored_files
from submissions import making
from submissions.swaps import Runs, SwapIn
from tests.platform import factories as make
from tests.platform.datasets.test_import import small
from tests.platform.series import enter, finish

pytestmark = pytest.mark.django_db


@pytest.fixture
def olga():
    return make.user("olga")


@pytest.fixture
def contest(olga):
    return make.competition(organizer=olga)


@pytest.fixture
def dataset(olga):
    return make.dataset(olga, "tiny")


@pytest.fixture
def task(contest, dataset):
    return make.phase(contest, tasks=0).tasks.create(dataset=dataset)


@pytest.fixture
def entry(task):
    return finish(enter(task.phase, make.user("alice")))


def held(dataset, **fields):
    return make.version(dataset, "tiny", is_held=True, **fields)


CHANGES = {"metric": "BAC", "test_num": 7, "public_sha256": "1" * 64, "checksums": {"a": 1}, "recipe": {"seed": 1}}


@pytest.mark.parametrize("field", CHANGES)
def test_what_a_score_depends_on_cannot_be_changed_once_a_run_used_it(dataset, entry, field):
    version = dataset.current
    setattr(version, field, CHANGES[field])
    with pytest.raises(VersionInUse, match=field):
        version.save()
    with pytest.raises(VersionInUse, match=field):
        DatasetVersion.objects.filter(pk=version.pk).update(**{field: CHANGES[field]})
    version.refresh_from_db()
    assert getattr(version, field) != CHANGES[field]


def test_a_solution_cannot_be_replaced_once_a_run_used_it(dataset, entry):
    version = dataset.current
    with pytest.raises(VersionInUse, match="test_solution"):
        version.test_solution.save("other", ContentFile(b"1\n"))


def test_a_version_that_no_run_used_may_be_changed(dataset):
    version = dataset.current
    version.metric = "BAC"
    version.save()
    DatasetVersion.objects.filter(pk=version.pk).update(test_num=7)
    version.refresh_from_db()
    assert (version.metric, version.test_num) == ("BAC", 7)


def test_what_is_made_of_the_files_may_be_made_again(dataset, entry):
    version = dataset.current
    version.card = {"C": 2}
    version.save()
    DatasetVersion.objects.filter(pk=version.pk).update(findings=[{"code": "x"}], is_held=True)


def test_a_new_version_of_a_dataset_without_runs_is_in_use_at_once(olga, tmp_path):
    import_dataset(small(tmp_path), owner=olga)
    report = import_dataset(small(tmp_path), owner=olga)
    assert report.dataset.current.number == report.version.number == 2


def test_a_new_version_of_a_dataset_with_runs_waits_and_says_so(olga, tmp_path, contest):
    first = import_dataset(small(tmp_path), owner=olga)
    task = make.phase(contest, tasks=0).tasks.create(dataset=first.dataset)
    enter(task.phase, make.user("alice"))
    report = import_dataset(small(tmp_path), owner=olga)
    assert report.to_json()["version"] == 2
    assert any("until the new version is swapped in" in problem.message for problem in report.warnings)
    assert making.current_version(task) == first.version
    SwapIn(version=report.version, by=olga).execute()
    assert making.current_version(task) == report.version


def test_a_swap_alone_leaves_the_runs_as_they_are_and_is_told_in_the_audit_log(olga, dataset, entry, contest):
    old, new = dataset.current, held(dataset)
    swap = SwapIn(version=new, by=olga)
    (effect,) = swap.effects()
    assert (effect.runs, effect.why_not) == (1, "")
    assert "1 run on an older version" in effect.sentence
    swap.execute()
    run = entry.runs.get()
    assert (run.dataset_version, run.state) == (old, "finished")
    assert dataset.current == new
    assert AuditEntry.objects.get(competition=contest).action == "swap_version"
    with pytest.raises(Refused, match="already"):
        SwapIn(version=new, by=olga).execute()


def test_a_swap_may_have_the_predictions_scored_with_the_new_solutions(olga, dataset, entry):
    new = held(dataset)
    said = SwapIn(version=new, by=olga, runs=Runs.SCORE).execute()
    run = entry.runs.get()
    assert (run.dataset_version, run.state, run.predictions.count()) == (new, "collected", 2)
    assert "1 run on tiny went to version 2." in said


def test_a_swap_may_have_the_code_run_again(olga, dataset, entry):
    new = held(dataset, test_num=9)
    refusing = SwapIn(version=new, by=olga, runs=Runs.SCORE)
    assert "other numbers of samples" in refusing.effects()[0].sentence
    SwapIn(version=new, by=olga, runs=Runs.RUN).execute()
    run = entry.runs.get()
    assert (run.dataset_version, run.state) == (new, "queued")


def test_a_version_with_another_metric_takes_the_runs_along_or_is_refused(olga, dataset, entry):
    new = held(dataset, metric="BAC")
    with pytest.raises(Refused, match="scored by BAC"):
        SwapIn(version=new, by=olga).execute()
    assert dataset.current != new
    SwapIn(version=new, by=olga, runs=Runs.SCORE).execute()
    assert (dataset.current, entry.runs.get().metric) == (new, "BAC")


def test_a_task_with_a_metric_of_its_own_keeps_that(olga, dataset, entry, task):
    task.metric = "AUC"
    task.save()
    SwapIn(version=held(dataset, metric="BAC"), by=olga, runs=Runs.SCORE).execute()
    assert entry.runs.get().metric == "AUC"


def test_a_swap_to_an_earlier_version_undoes_one(olga, dataset, task):
    old, new = dataset.current, held(dataset)
    SwapIn(version=new, by=olga).execute()
    SwapIn(version=old, by=olga).execute()
    assert dataset.current == old
    new.refresh_from_db()
    assert new.is_held


def test_runs_of_a_competition_are_left_to_its_own_organizers(dataset, olga, entry, contest):
    ed = make.user("ed")
    share(dataset, with_user=ed, role="editor", by=olga)
    new = held(dataset)
    swap = SwapIn(version=new, by=ed, runs=Runs.SCORE)
    assert "Its organizers decide" in swap.effects()[0].sentence
    swap.execute()
    assert entry.runs.get().state == "finished"
    Organizer.objects.create(competition=contest, user=ed, role="editor")
    SwapIn(version=new, by=ed, runs=Runs.SCORE).execute()
    assert entry.runs.get().dataset_version == new


@pytest.mark.parametrize("role", ["user", None])
def test_who_may_not_change_a_dataset_swaps_and_removes_no_version(dataset, olga, role):
    bob = make.user("bob")
    if role:
        share(dataset, with_user=bob, role=role, by=olga)
    new = held(dataset)
    for attempt in (SwapIn(version=new, by=bob).execute, lambda: remove_version(new, by=bob)):
        with pytest.raises(Refused, match="Only its owner and editors"):
            attempt()


def test_an_unused_version_is_removed_with_its_files(dataset, olga, django_capture_on_commit_callbacks):
    new = held(dataset)
    paths = [Path(storage.path(name)) for storage, name in stored_files(new)]
    assert len(paths) == 3 and all(path.exists() for path in paths)
    with django_capture_on_commit_callbacks(execute=True):
        remove_version(new, by=olga)
    assert not any(path.exists() for path in paths)
    assert dataset.versions.count() == 1


def test_a_used_version_and_the_only_one_of_a_phase_are_not_removed(dataset, olga, task):
    with pytest.raises(Refused, match="A phase uses"):
        remove_version(dataset.current, by=olga)
    finish(enter(task.phase, make.user("alice")))
    used = dataset.current
    make.version(dataset, "tiny")
    with pytest.raises(Refused, match="Runs have used"):
        remove_version(used, by=olga)


def test_a_removed_dataset_leaves_no_file(dataset, olga, django_capture_on_commit_callbacks):
    paths = [Path(storage.path(name)) for storage, name in stored_files(dataset.current)]
    with django_capture_on_commit_callbacks(execute=True):
        remove_dataset(dataset, by=olga)
    assert not any(path.exists() for path in paths)
