"""The stored files of a version: their checksums, their arrays, and what happens where one was changed."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from django.core.files.storage import storages
from django.core.management import call_command

from datasets import encryption, files
from datasets.actions import import_dataset
from datasets.encryption import CannotDecrypt
from datasets.models import DatasetVersion
from datasets.sealing import NothingToDo, Seal, inventory, reseal
from ingestion import dataset_input
from ingestion.dataset import prepare_input
from ingestion.dataset_pack import unpack_cache
from ingestion.program.data import Dataset as LaidOut
from operations import doctor
from tests.platform import factories as make
from tests.platform.datasets.test_import import small

pytestmark = pytest.mark.django_db

OLD, NEW = encryption.new_key(), encryption.new_key()
LABELS = b"1\n1\n0\n0\n"


@pytest.fixture(autouse=True)
def empty_storage(monkeypatch, tmp_path):
    """A storage of solutions that no other test has written to."""
    storage = DatasetVersion._meta.get_field("test_solution").storage
    monkeypatch.setitem(vars(storage), "location", str(tmp_path / "solutions"))


@pytest.fixture
def olga():
    return make.user("olga")


@pytest.fixture
def version(olga, tmp_path):
    return import_dataset(small(tmp_path), owner=olga).version


def text_of(version, part="test"):
    with files.solution_path(version, part, f"tiny_{part}.solution") as path:
        return path.read_bytes()


def stored(field) -> Path:
    return Path(field.storage.path(field.name))


def test_every_file_has_its_checksum_and_the_solutions_are_among_them(version):
    assert {"tiny_train.data", "tiny_public.info", "tiny_valid.solution", "tiny_test.solution"} <= set(
        version.checksums
    )
    assert "tiny_private.info" not in version.checksums
    assert version.checksums["tiny_test.solution"]["bytes"] == len(LABELS)
    assert files.damages(version) == []


def test_an_import_keeps_the_arrays_beside_the_text_and_a_run_starts_from_them(version, tmp_path, monkeypatch):
    zipfile.ZipFile(io.BytesIO(version.public_zip.read())).extractall(tmp_path / "fetched")
    packed = tmp_path / "cache.zip"
    packed.write_bytes(version.cache_zip.read())
    unpack_cache(packed, tmp_path / "fetched" / "tiny")
    monkeypatch.setattr(dataset_input.Tables, "features", lambda *args: pytest.fail("the text was parsed"))
    laid = LaidOut(prepare_input(tmp_path / "fetched" / "tiny", tmp_path / "input"))
    assert np.array_equal(laid.features("train")[0], [0.5, 1, 2])


def test_the_arrays_can_be_built_later_and_are_the_same(version):
    first = version.cache_sha256
    DatasetVersion.objects.update(cache_zip="", cache_sha256="", cache_bytes=0)
    version.refresh_from_db()
    assert not version.cache_zip
    files.build_cache(version)
    version.refresh_from_db()
    assert version.cache_sha256 == first
    assert version.cache_bytes == version.cache_zip.size


@pytest.mark.parametrize("name", ["public_zip", "cache_zip", "test_solution"])
def test_a_stored_file_that_was_changed_is_found(version, name):
    path = stored(getattr(version, name))
    path.write_bytes(path.read_bytes() + b"0\n")
    (problem,) = files.damages(version)
    assert "tiny (version 1)" in problem and "SHA-256" in problem


def test_a_stored_file_that_is_gone_is_found(version):
    stored(version.valid_solution).unlink()
    (problem,) = files.damages(version)
    assert "solution of valid" in problem


def test_nothing_is_scored_with_a_solution_that_was_changed(version):
    assert text_of(version) == LABELS
    stored(version.test_solution).write_bytes(b"0\n0\n0\n0\n")
    with pytest.raises(files.Damaged, match="not the one that was imported"):
        text_of(version)


def test_a_failed_import_leaves_no_stored_file(olga, tmp_path, monkeypatch):
    before = {path for path in Path(storages["default"].location).rglob("*") if path.is_file()}
    monkeypatch.setattr(DatasetVersion, "save", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        import_dataset(small(tmp_path), owner=olga)
    assert {path for path in Path(storages["default"].location).rglob("*") if path.is_file()} == before
    assert sum(inventory().values()) == 0


def test_an_encrypted_solution_is_scored_with_from_memory(settings, olga, tmp_path):
    settings.SOLUTIONS_KEY = NEW
    version = import_dataset(small(tmp_path), owner=olga).version
    assert LABELS not in stored(version.test_solution).read_bytes()
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path / "there is no such folder")
    assert text_of(version) == LABELS
    assert files.damages(version) == []


def test_solutions_from_before_the_key_are_encrypted_then_rotated_then_decrypted(settings, version):
    field = version.test_solution
    with pytest.raises(NothingToDo):
        reseal()
    settings.SOLUTIONS_KEY = OLD
    assert inventory() == {Seal.PLAIN: 2}
    assert reseal() == {"changed": 2}
    assert reseal() == {"left": 2}
    assert LABELS not in stored(field).read_bytes()
    settings.SOLUTIONS_KEY = f"{NEW},{OLD}"
    assert inventory() == {Seal.OLDER: 2}
    assert reseal() == {"changed": 2}
    settings.SOLUTIONS_KEY = NEW
    assert inventory() == {Seal.CURRENT: 2}
    assert text_of(version) == LABELS
    assert files.damages(version) == []
    assert reseal(decrypt=True) == {"changed": 2}
    assert stored(field).read_bytes() == LABELS


def test_what_no_key_opens_stays_as_it_is(settings, version):
    settings.SOLUTIONS_KEY = OLD
    reseal()
    before = stored(version.test_solution).read_bytes()
    settings.SOLUTIONS_KEY = NEW
    assert reseal() == {"unknown": 2}
    assert stored(version.test_solution).read_bytes() == before
    with pytest.raises(CannotDecrypt):
        text_of(version)
    assert len(files.damages(version)) == 2


def test_a_scratch_file_of_one_that_was_killed_is_removed(settings, version):
    left = stored(version.test_solution).parent / ".replacing-abc"
    left.write_bytes(LABELS)
    settings.SOLUTIONS_KEY = NEW
    assert inventory() == {Seal.PLAIN: 2}
    reseal()
    assert not left.exists()


def verdict():
    (finding,) = doctor.check_solutions()
    return finding.verdict, finding.sentence


def test_the_doctor_tells_how_solutions_are_kept(settings, version):
    assert verdict()[0] == "ok" and "not encrypted" in verdict()[1]
    settings.SOLUTIONS_KEY = NEW
    assert verdict()[0] == "note" and "2 files are not yet" in verdict()[1]
    reseal()
    assert verdict()[0] == "ok" and "only the site" in verdict()[1]
    settings.SOLUTIONS_KEY = ""
    assert verdict()[0] == "missing"


def run(capsys, *arguments):
    """(exit code, the JSON line) of a command."""
    code = 0
    try:
        call_command(*arguments, "--json")
    except SystemExit as end:
        code = end.code
    return code, json.loads(capsys.readouterr().out.strip().splitlines()[-1])


def test_the_command_encrypts_and_makes_keys(settings, version, capsys):
    code, answer = run(capsys, "encrypt_solutions")
    assert (code, answer["ok"]) == (1, False) and "--new-key" in answer["mend"]
    code, answer = run(capsys, "encrypt_solutions", "--new-key")
    settings.SOLUTIONS_KEY = answer["key"]
    assert run(capsys, "encrypt_solutions") == (0, {"ok": True, "changed": 2, "left": 0, "unknown": 0})
    settings.SOLUTIONS_KEY = NEW
    assert run(capsys, "encrypt_solutions")[0] == 1


def test_the_command_checks_the_files_and_builds_missing_arrays(version, capsys):
    DatasetVersion.objects.update(cache_zip="")
    assert run(capsys, "check_datasets")[1]["versions"] == [
        {"slug": "tiny", "number": 1, "problems": [], "cache": False}
    ]
    code, answer = run(capsys, "check_datasets", "tiny", "--build-caches")
    assert (code, answer["versions"][0]["cache"]) == (0, True)
    stored(version.public_zip).write_bytes(b"")
    code, answer = run(capsys, "check_datasets")
    assert (code, answer["ok"]) == (1, False)
    assert run(capsys, "check_datasets", "unknown")[0] == 1
