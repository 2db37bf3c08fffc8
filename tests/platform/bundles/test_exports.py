"""Exports: asked for by owners, written by the site's worker, kept where solutions are and for a day."""

import datetime as dt
import os
import zipfile

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from accounts.refusals import Refused
from bundles.exporting import work
from bundles.exporting.action import ExportBundle
from bundles.importing import import_bundle
from bundles.models import BundleExport, bundle_storage
from bundles.sweeping import sweep
from competitions.models import Organizer
from tests.platform import factories
from tests.platform.bundles.importing.writing import packed

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return factories.user("alice")


@pytest.fixture
def contest(tmp_path, alice):
    return import_bundle(packed(tmp_path), organizer=alice).competition


def test_an_owner_gets_a_bundle_and_the_audit_log_says_so(alice, contest):
    action = ExportBundle(alice, contest)
    action.execute()
    work.process(action.export.pk)
    made = BundleExport.objects.get()
    assert made.state == BundleExport.State.READY
    assert made.file.storage.location.endswith("solutions")
    with zipfile.ZipFile(made.file.open()) as bundle:
        assert "competition.yaml" in bundle.namelist()
    assert contest.audit.filter(action="export_bundle", user=alice).exists()


def test_an_editor_does_not(contest):
    bob = factories.user("bob")
    Organizer.objects.create(competition=contest, user=bob, role=Organizer.Role.EDITOR)
    with pytest.raises(Refused, match="Only owners"):
        ExportBundle(bob, contest).execute()


def test_it_is_gone_after_its_day(alice, contest):
    action = ExportBundle(alice, contest)
    action.execute()
    work.process(action.export.pk)
    made = BundleExport.objects.get()
    storage, name = made.file.storage, made.file.name
    BundleExport.objects.update(deadline=timezone.now())
    work.reconcile()
    assert not BundleExport.objects.exists()
    assert not storage.exists(name)


def test_a_competition_without_programs_of_its_own_is_not_one(alice):
    native = factories.competition("native", alice)
    factories.phase(native)
    with pytest.raises(Refused, match="scoring programs"):
        ExportBundle(alice, native).execute()


def test_files_that_no_row_knows_are_removed_after_a_while(contest):
    storage = bundle_storage()
    lost = storage.save("exports/lost.zip", ContentFile(b"PK"))
    old = (timezone.now() - dt.timedelta(days=1)).timestamp()
    os.utime(storage.path(lost), (old, old))
    kept = contest.programs.get().file.name
    os.utime(storage.path(kept), (old, old))
    assert sweep() == 1
    assert storage.exists(kept)
    assert not storage.exists(lost)
