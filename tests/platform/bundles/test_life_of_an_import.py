"""A bundle that was sent: read, asked about, imported, and kept no longer than that."""

import datetime as dt

import pytest
from django.core.files import File
from django.utils import timezone

from accounts.refusals import Refused
from bundles import receiving, work
from bundles.models import BundleImport
from competitions.models import Competition, Phase, Program
from tests.platform import factories
from tests.platform.bundles.importing.writing import YAML, packed

pytestmark = pytest.mark.django_db
State = BundleImport.State


@pytest.fixture
def alice():
    return factories.user("alice", is_superuser=True)


def sent(path, person) -> BundleImport:
    """A bundle that was sent, before the worker reads it."""
    with path.open("rb") as file:
        return receiving.receive(person, File(file), filename=path.name)


def read(bundle: BundleImport) -> BundleImport:
    """The same, after the worker read it."""
    work.process(bundle.pk)
    bundle.refresh_from_db()
    return bundle


def test_it_is_read_and_then_waits_for_its_owner(tmp_path, alice):
    bundle = read(sent(packed(tmp_path), alice))
    assert bundle.state == State.ASKS
    assert bundle.report["found"]
    assert not Competition.objects.exists()
    assert not Program.objects.exists()


def test_its_owner_imports_it_and_the_file_goes(tmp_path, alice):
    bundle = read(sent(packed(tmp_path), alice))
    storage, name = bundle.file.storage, bundle.file.name
    receiving.answer(bundle, {}, is_wanted=True)
    bundle = read(bundle)
    assert bundle.state == State.IMPORTED
    assert bundle.competition.title == "Iris"
    assert not bundle.file
    assert not storage.exists(name)


def test_an_answer_about_an_image_is_remembered_for_the_next_bundle(tmp_path, alice):
    path = packed(tmp_path, yaml=YAML + "docker_image: lab/gpu:3\n")
    bundle = read(sent(path, alice))
    receiving.answer(bundle, {"image:lab/gpu:3": "podium-sandbox:latest", "nonsense": "x"}, is_wanted=True)
    bundle = read(bundle)
    assert "nonsense" not in bundle.answers
    again = read(sent(path, alice))
    receiving.answer(again, {}, is_wanted=True)
    read(again)
    assert set(Phase.objects.values_list("image", flat=True)) == {"podium-sandbox:latest"}


def test_one_with_errors_is_kept_with_its_report(tmp_path, alice):
    bundle = read(sent(packed(tmp_path, yaml=YAML.replace("overview.md", "gone.md")), alice))
    assert bundle.state == State.REFUSED
    assert "gone.md" in bundle.report["errors"][0]["message"]
    assert bundle.file


def test_a_worker_that_was_lost_is_followed_by_another(tmp_path, alice):
    bundle = sent(packed(tmp_path), alice)
    past = timezone.now() - dt.timedelta(minutes=5)
    BundleImport.objects.filter(pk=bundle.pk).update(state=State.READING, tries=1, deadline=past)
    work.reconcile()
    assert read(bundle).state == State.ASKS


def test_a_bundle_that_loses_two_workers_fails(tmp_path, alice):
    bundle = sent(packed(tmp_path), alice)
    past = timezone.now() - dt.timedelta(minutes=5)
    BundleImport.objects.filter(pk=bundle.pk).update(state=State.READING, tries=2, deadline=past)
    work.reconcile()
    bundle.refresh_from_db()
    assert bundle.state == State.FAILED


def test_a_file_that_nobody_came_back_to_is_removed(tmp_path, alice):
    bundle = read(sent(packed(tmp_path), alice))
    BundleImport.objects.filter(pk=bundle.pk).update(deadline=timezone.now())
    work.reconcile()
    bundle.refresh_from_db()
    assert not bundle.file
    with pytest.raises(Refused, match="no longer kept"):
        receiving.answer(bundle, {}, is_wanted=True)


def test_who_may_not_make_competitions_sends_none(tmp_path):
    with pytest.raises(Refused, match="may not make competitions"):
        sent(packed(tmp_path), factories.user("bob"))


def test_the_wish_to_run_solutions_is_kept_where_there_are_some(tmp_path, alice):
    bundle = read(sent(packed(tmp_path), alice))
    receiving.answer(bundle, {"solutions": "yes"}, is_wanted=False)
    bundle = read(bundle)
    assert "solutions" not in bundle.answers
    BundleImport.objects.filter(pk=bundle.pk).update(report={**bundle.report, "solutions": 1})
    bundle.refresh_from_db()
    receiving.answer(bundle, {"solutions": "yes"}, is_wanted=True)
    bundle.refresh_from_db()
    assert bundle.answers["solutions"] == "yes"
