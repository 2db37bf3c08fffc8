"""Receiving an upload in pieces: nothing is lost, nothing is taken twice, nobody sends who may not."""

import io
import threading
from pathlib import Path

import pytest
from django.db import connection

from accounts.refusals import Refused
from competitions.models import Organizer
from datasets import encryption
from datasets.uploads import policy, receiving
from datasets.uploads.models import Upload, UploadPart
from tests.platform import factories as make
from tests.platform.datasets.uploads.conftest import sent

pytestmark = pytest.mark.django_db


def piece(upload, content: bytes, offset: int) -> Upload:
    return receiving.receive(upload, io.BytesIO(content), offset=offset, length=len(content))


def stored(upload) -> bytes:
    return b"".join(part.stored().read() for part in upload.parts.all())


def stored_names() -> set[str]:
    storage = UploadPart._meta.get_field("file").storage
    return {f"uploads/{name}" for name in storage.listdir("uploads")[1]} if storage.exists("uploads") else set()


def test_a_file_in_pieces_is_the_file(olga, tmp_path, rung, django_capture_on_commit_callbacks):
    upload = receiving.begin(olga, filename="a.csv", size=10)
    piece(upload, b"0123", 0)
    piece(upload, b"456", 4)
    assert (upload.state, upload.received) == ("receiving", 7)
    with django_capture_on_commit_callbacks(execute=True):
        piece(upload, b"789", 7)
    assert upload.state == "waiting"
    assert rung == [upload.pk]
    receiving.assemble(upload, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_bytes() == b"0123456789"


def test_the_same_unfinished_file_goes_on_where_it_was(olga):
    upload = receiving.begin(olga, filename="a.csv", size=10, fingerprint="a.csv:10:1")
    piece(upload, b"0123", 0)
    again = receiving.begin(olga, filename="a.csv", size=10, fingerprint="a.csv:10:1")
    assert (again.pk, again.received) == (upload.pk, 4)
    assert receiving.begin(olga, filename="a.csv", size=10, fingerprint="a.csv:10:2").pk != upload.pk


@pytest.mark.parametrize("offset", [0, 3, 5])
def test_a_piece_at_another_place_is_refused_with_the_place_that_is_next(olga, offset):
    upload = receiving.begin(olga, filename="a.csv", size=10)
    piece(upload, b"0123", 0)
    with pytest.raises(Refused, match="next byte to send is 4") as refused:
        piece(upload, b"45", offset)
    assert refused.value.status == 409
    assert stored(upload) == b"0123"


def test_of_two_that_send_the_same_bytes_one_is_taken_and_the_other_leaves_no_file(olga):
    upload = receiving.begin(olga, filename="a.csv", size=10)
    stale = Upload.objects.get(pk=upload.pk)
    before = stored_names()
    piece(upload, b"0123", 0)
    with pytest.raises(Refused, match="arrived already"):
        piece(stale, b"abcd", 0)
    assert stored(upload) == b"0123"
    assert stored_names() - before == {upload.parts.get().file.name}


def test_a_piece_that_breaks_off_is_not_kept(olga):
    upload = receiving.begin(olga, filename="a.csv", size=10)
    with pytest.raises(Refused, match="broke off"):
        receiving.receive(upload, io.BytesIO(b"012"), offset=0, length=5)
    upload.refresh_from_db()
    assert (upload.received, upload.parts.count()) == (0, 0)


@pytest.mark.parametrize("length", [0, 11, receiving.MOST_PIECE_BYTES + 1])
def test_a_piece_of_a_wrong_length_is_refused(olga, length):
    upload = receiving.begin(olga, filename="a.csv", size=10)
    with pytest.raises(Refused, match="wrong length"):
        receiving.receive(upload, io.BytesIO(b"x" * 20), offset=0, length=length)


def test_an_empty_file_and_one_that_is_too_large_are_refused(olga, settings):
    settings.MAX_DATASET_BYTES = 100
    with pytest.raises(Refused, match="empty"):
        receiving.begin(olga, filename="a.csv", size=0)
    with pytest.raises(Refused, match="larger than the limit"):
        receiving.begin(olga, filename="a.csv", size=101)


def test_pieces_are_sealed_where_the_operator_set_a_key(olga, settings, tmp_path):
    settings.SOLUTIONS_KEY = encryption.new_key()
    upload = sent(olga, b"hidden targets")
    part = upload.parts.get()
    assert b"hidden" not in Path(part.file.storage.path(part.file.name)).read_bytes()
    receiving.assemble(upload, tmp_path / "whole")
    assert (tmp_path / "whole").read_bytes() == b"hidden targets"


def test_a_file_for_which_the_disk_has_no_room_is_refused(olga, monkeypatch):
    monkeypatch.setattr(receiving.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 19}))
    with pytest.raises(Refused, match="no room"):
        receiving.begin(olga, filename="a.csv", size=10)


def test_only_so_many_files_are_kept(olga, monkeypatch):
    monkeypatch.setattr(receiving, "MOST_KEPT", 2)
    sent(olga, b"x")
    receiving.begin(olga, filename="half.csv", size=9)
    with pytest.raises(Refused, match="kept already"):
        receiving.begin(olga, filename="more.csv", size=1)


@pytest.mark.parametrize("name", ["../../etc/passwd", "C:\\data\\passwd", "/a/b/passwd"])
def test_a_file_is_kept_by_its_last_name(olga, name):
    assert receiving.begin(olga, filename=name, size=1).filename == "passwd"


@pytest.mark.parametrize("name", ["", ".", "..", "/"])
def test_a_file_without_a_name_gets_one(olga, name):
    assert receiving.begin(olga, filename=name, size=1).filename == "dataset"


def test_a_long_name_is_cut_before_its_ending(olga):
    name = receiving.begin(olga, filename="ä" * 300 + ".parquet", size=1).filename
    assert name == "ä" * 75 + ".parquet"


def test_who_organizes_nothing_may_not_send(olga):
    contest = make.competition("other")
    rita, eddy, alice = make.user("rita"), make.user("eddy"), make.user("alice")
    Organizer.objects.create(competition=contest, user=rita, role=Organizer.Role.REVIEWER)
    Organizer.objects.create(competition=contest, user=eddy, role=Organizer.Role.EDITOR)
    may = {user.username: policy.may_upload(user) for user in (olga, eddy, rita, alice)}
    assert may == {"olga": True, "eddy": True, "rita": False, "alice": False}
    with pytest.raises(Refused, match="Only organizers"):
        receiving.begin(alice, filename="a.csv", size=1)


def test_an_upload_is_seen_by_its_owner_alone(olga):
    upload = sent(olga, b"x")
    sam = make.user("sam", is_superuser=True)
    assert list(policy.visible_uploads(olga)) == [upload]
    assert list(policy.visible_uploads(sam)) == []


def test_what_is_removed_leaves_no_file(olga):
    upload = sent(olga, b"x" * 20)
    names = [part.file.name for part in upload.parts.all()]
    receiving.discard(upload)
    assert not Upload.objects.exists()
    storage = UploadPart._meta.get_field("file").storage
    assert names
    assert not any(storage.exists(name) for name in names)


@pytest.mark.django_db(transaction=True)
def test_two_at_once_with_the_same_piece_make_one(transactional_db):
    make.competition("contest")
    upload = receiving.begin(make.user("olga"), filename="a.csv", size=4)
    taken: list[str] = []
    start = threading.Barrier(2)

    def send(content: bytes) -> None:
        mine = Upload.objects.get(pk=upload.pk)
        start.wait()
        try:
            piece(mine, content, 0)
            taken.append(content.decode())
        except Refused:
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=send, args=[content]) for content in (b"aaaa", b"bbbb")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 1
    assert stored(upload) == taken[0].encode()


def test_letters_that_databases_do_not_take_are_left_out(olga):
    odd = {"filename": "a\0\ud800.csv", "title": "x\0y", "description": "\udfffz", "fingerprint": "\0f"}
    upload = receiving.begin(olga, size=1, **odd)
    upload.refresh_from_db()
    assert (upload.filename, upload.title, upload.description, upload.fingerprint) == ("a.csv", "xy", "z", "f")
