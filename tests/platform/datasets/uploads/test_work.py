"""The work on an upload: imported, refused with everything that is wrong, or failed by our own fault."""

import pytest

from datasets.models import Dataset, DatasetVersion
from datasets.uploads import receiving, reconciler, work
from datasets.uploads.models import Upload
from datasets.uploads.telling import LEASE, Superseded, Teller
from tests.platform import factories as make
from tests.platform.datasets.uploads.conftest import sent, zipped

pytestmark = pytest.mark.django_db


def worked(upload: Upload) -> Upload:
    work.process(upload.pk)
    upload.refresh_from_db()
    return upload


def test_a_good_dataset_is_imported_and_its_file_is_no_longer_kept(olga, tmp_path):
    upload = worked(sent(olga, zipped(tmp_path), title="Tiny set", description="Six rows."))
    assert (upload.state, upload.progress) == ("imported", 1.0)
    assert upload.sentence == "Imported as tiny, version 1."
    dataset = Dataset.objects.get(owner=olga, slug="tiny")
    assert (dataset.title, dataset.description) == ("Tiny set", "Six rows.")
    assert upload.version == dataset.versions.get()
    assert not upload.parts.exists()


def test_one_that_is_only_checked_can_be_imported_afterwards(olga, tmp_path):
    upload = worked(sent(olga, zipped(tmp_path), check_only=True))
    assert (upload.state, DatasetVersion.objects.count()) == ("checked", 0)
    assert "would be kept as tiny" in upload.sentence
    receiving.work_again(upload, job=Upload.Job.IMPORT)
    assert worked(upload).state == "imported"


def test_of_a_refused_one_the_report_and_the_file_are_all_that_is_kept(olga, tmp_path):
    broken = {"valid.data": "0.5 x 2\n" * 4, "test.solution": "1\n1\n"}
    upload = worked(sent(olga, zipped(tmp_path, **broken)))
    assert upload.state == "refused"
    places = {problem["place"] for problem in upload.report["errors"]}
    assert places >= {"tiny_valid.data:1", "tiny_test.solution"} or len(places) >= 2, upload.report
    assert upload.parts.exists()
    assert not Dataset.objects.exists()


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv.gz", b"\x1f\x8b text", "packed with gzip"),
        ("a.zip", make.zip_bytes({"a.csv": "x", "b.csv": "y"}), "a.csv, b.csv"),
        ("a.zip", b"PK\x03\x04\0 broken", "no table of a known kind"),
        ("a.zip", make.zip_bytes({"../evil_train.data": "x"}), "evil_train.data"),
        ("a.zip", make.zip_bytes({"a/x_train.data": "1"}), "info"),
        ("a.bin", b"\0\1\2", "no table of a known kind"),
    ],
)
def test_what_is_no_dataset_is_refused_with_the_reason(olga, name, content, sentence):
    upload = worked(sent(olga, content, name))
    assert upload.state == "refused"
    assert sentence in upload.report["errors"][0]["message"]


def test_a_fault_of_ours_shows_no_trace(olga, tmp_path, monkeypatch, caplog):
    def broken(*args, **kwargs):
        raise KeyError("inner secret")

    monkeypatch.setattr(work, "import_dataset", broken)
    upload = worked(sent(olga, zipped(tmp_path)))
    assert (upload.state, upload.sentence) == ("failed", work.OUR_FAULT)
    assert "inner secret" in caplog.text
    assert "inner secret" not in str(upload.report) + upload.sentence
    assert upload.parts.exists()


def test_one_at_a_time_and_the_next_is_rung_for(olga, tmp_path, rung):
    first, second = sent(olga, zipped(tmp_path)), sent(olga, b"\0", "a.bin")
    assert work.claim(first.pk).pk == first.pk
    assert work.claim(second.pk) is None
    second.refresh_from_db()
    assert second.sentence == "Waits until another upload has been read."
    work.end(Upload.objects.get(pk=first.pk), "refused", "No.", {})
    assert rung[-1] == second.pk
    assert work.claim(second.pk).pk == second.pk


def test_a_waiting_one_is_claimed_once(olga):
    upload = sent(olga, b"\0", "a.bin")
    assert worked(upload).state == "refused"
    assert work.claim(upload.pk) is None


def test_one_that_was_removed_stops_the_work_on_it(olga, tmp_path, monkeypatch, caplog):
    upload = sent(olga, zipped(tmp_path))
    monkeypatch.setattr(receiving, "assemble", lambda upload, path: [path.write_bytes(b"x"), upload.delete()])
    work.process(upload.pk)
    assert not Upload.objects.exists()
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    with pytest.raises(Superseded):
        Teller(upload)(0.5, "Half.")


def test_progress_is_told_in_parts_and_not_too_often(olga, monkeypatch):
    upload = work.claim(sent(olga, b"\0", "a.bin").pk)
    now = iter([100.0, 100.1, 101.0])
    monkeypatch.setattr("datasets.uploads.telling.time.monotonic", lambda: next(now))
    tell = Teller(upload).part(0.2, 0.6)
    shown = []
    for fraction, sentence in ((0.0, "begins"), (0.25, "too soon"), (0.5, "half")):
        tell(fraction, sentence)
        upload.refresh_from_db()
        shown.append((round(upload.progress, 3), upload.sentence))
    assert shown == [(0.2, "begins"), (0.2, "begins"), (0.4, "half")]


def test_what_waits_is_rung_for_again(olga, rung):
    upload = sent(olga, b"x")
    rung.clear()
    reconciler.reconcile(upload.deadline)
    assert rung == [upload.pk]


def test_a_lost_worker_costs_one_more_try_then_the_reading_is_given_up(olga, tmp_path):
    upload = work.claim(sent(olga, zipped(tmp_path)).pk)
    lost_at = upload.deadline + LEASE
    reconciler.reconcile(lost_at)
    upload.refresh_from_db()
    assert (upload.state, upload.tries) == ("waiting", 1)
    upload = work.claim(upload.pk)
    reconciler.reconcile(upload.deadline + LEASE)
    upload.refresh_from_db()
    assert (upload.state, upload.sentence) == ("failed", reconciler.LOST)
    assert upload.parts.exists()


def test_a_worker_killed_when_all_was_kept_imports_nothing_twice(olga, tmp_path, monkeypatch):
    waiting = sent(olga, zipped(tmp_path))
    monkeypatch.setattr(work, "_told", lambda upload, report: exit_at_once())
    with pytest.raises(SystemExit):
        work.process(waiting.pk)
    monkeypatch.undo()
    waiting.refresh_from_db()
    assert waiting.state == "working"
    reconciler.reconcile(waiting.deadline + LEASE)
    upload = worked(waiting)
    assert (upload.state, upload.tries) == ("imported", 2)
    assert DatasetVersion.objects.get() == upload.version
    assert upload.sentence == f"Imported as {upload.version.dataset.slug}, version 1."


def exit_at_once():
    raise SystemExit(9)


def test_what_another_try_imports_is_not_kept_for_the_first(olga, tmp_path):
    slow = work.claim(sent(olga, zipped(tmp_path)).pk)
    reconciler.reconcile(slow.deadline + LEASE)
    work.claim(slow.pk)
    with pytest.raises(Superseded), work.scratch_folder("upload-") as folder:
        work._work(slow, folder)
    assert not DatasetVersion.objects.exists()


def test_a_worker_that_was_given_up_writes_nothing_more(olga, tmp_path):
    slow = work.claim(sent(olga, zipped(tmp_path)).pk)
    reconciler.reconcile(slow.deadline + LEASE)
    fresh = work.claim(slow.pk)
    work.end(slow, "refused", "Late.", {})
    fresh.refresh_from_db()
    assert (fresh.state, fresh.tries) == ("working", 2)


def test_files_that_nobody_came_back_to_are_removed(olga, tmp_path):
    half = receiving.begin(olga, filename="a.csv", size=9)
    refused = worked(sent(olga, b"\0", "a.bin"))
    late = refused.deadline + receiving.KEPT_FOR
    reconciler.reconcile(late)
    assert not Upload.objects.filter(pk=half.pk).exists()
    refused.refresh_from_db()
    assert (refused.parts.count(), refused.deadline, refused.state) == (0, None, "refused")
    assert refused.report["errors"]
