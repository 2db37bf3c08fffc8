"""Opening zips of strangers: what is refused, what comes out, and that nothing is left behind."""

import stat
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingestion.archive import Limits, RefusedArchive, open_archive
from ingestion.budget import MIB


def make_zip(path: Path, entries, method=zipfile.ZIP_DEFLATED) -> Path:
    """A zip of (name, content) pairs; a name may be a ZipInfo."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return path


def special(name: str, mode: int, *, system: int = 3) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.create_system = system
    entry.external_attr = mode << 16
    return entry


def refusal(archive: Path, destination: Path, **options) -> RefusedArchive:
    """The refusal of an archive, after checking that it is a sentence and that nothing is left."""
    before = sorted(destination.parent.rglob("*"))
    with pytest.raises(RefusedArchive) as caught:
        open_archive(archive, destination, **options)
    assert sorted(destination.parent.rglob("*")) == before
    sentence = str(caught.value)
    assert sentence.endswith(".") and sentence.isprintable() and "Traceback" not in sentence
    return caught.value


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


NAMES = [
    ("../evil.py", "outside"),
    ("a/../../evil.py", "outside"),
    ("a/..", "outside"),
    ("/etc/cron.d/evil", "absolute"),
    ("//host/share", "absolute"),
    ("C:/evil.py", "absolute"),
    ("c:evil.py", "absolute"),
    ("a\\..\\..\\evil.py", "backslash"),
    ("bell\x07.py", "control"),
    ("line\nbreak.py", "control"),
    ("escape\x1b[2J.py", "control"),
    ("turned\u202eyp.exe", "control"),
    ("x" * 256, "too long"),
    ("é" * 128, "too long"),
    ("a/" * 300 + "b", "too long"),
]


@pytest.mark.parametrize(("name", "what"), NAMES, ids=[repr(name)[:20] for name, _ in NAMES])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_it_refuses_dangerous_names_and_says_which(name, what, tmp_path, out):
    archive = make_zip(tmp_path / "a.zip", [("model.py", "x = 1"), (name, "evil")])
    found = refusal(archive, out)
    assert what in str(found)
    assert found.entry is not None and found.entry.isprintable()


def test_it_refuses_a_name_with_nul_that_zipfile_would_cut(tmp_path, out):
    archive = make_zip(tmp_path / "a.zip", [("model.pyX", "x = 1")])
    archive.write_bytes(archive.read_bytes().replace(b"model.pyX", b"model.py\0"))
    assert "control character" in str(refusal(archive, out))


@pytest.mark.parametrize(
    ("mode", "what"),
    [
        (stat.S_IFLNK | 0o777, "a link"),
        (stat.S_IFIFO | 0o644, "a named pipe"),
        (stat.S_IFSOCK | 0o644, "a socket"),
        (stat.S_IFCHR | 0o666, "a device"),
        (stat.S_IFBLK | 0o666, "a device"),
        (0o150644, "not a regular file"),
    ],
)
@pytest.mark.parametrize("system", [0, 3])
def test_it_refuses_links_and_special_files_whatever_system_wrote_them(mode, what, system, tmp_path, out):
    archive = make_zip(tmp_path / "a.zip", [(special("door", mode, system=system), "/etc/passwd")])
    found = refusal(archive, out)
    assert what in str(found) and found.entry == "door"


@pytest.mark.parametrize(
    ("names", "what"),
    [
        (["model.py", "model.py"], "twice"),
        (["model.py", "./model.py"], "twice"),
        (["a//model.py", "a/model.py"], "twice"),
        (["model.py", "Model.py"], "upper and lower case"),
        (["data/x", "Data/y"], "upper and lower case"),
        (["straße.py", "STRASSE.py"], "upper and lower case"),
        (["caf\u00e9.py", "cafe\u0301.py"], "upper and lower case"),
        (["a", "a/b"], "both a file and a folder"),
        (["a/b", "a"], "both a file and a folder"),
        (["a", "a/"], "both a file and a folder"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_it_refuses_entries_that_collide(names, what, tmp_path, out):
    archive = make_zip(tmp_path / "a.zip", [(name, "" if name.endswith("/") else "x") for name in names])
    assert what in str(refusal(archive, out))


def test_it_refuses_a_bomb_by_its_real_bytes(tmp_path, out):
    archive = make_zip(tmp_path / "a.zip", [("model.py", "x = 1"), ("bomb", b"\0" * (50 * MIB))])
    found = refusal(archive, out)
    assert found.entry == "bomb" and "200 times" in str(found)


def test_padding_around_a_bomb_does_not_hide_it(tmp_path, out):
    noise = bytes(range(256)) * 4096
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("padding", noise, compress_type=zipfile.ZIP_STORED)
        archive.writestr("bomb", b"\0" * (30 * MIB), compress_type=zipfile.ZIP_DEFLATED)
    assert refusal(tmp_path / "a.zip", out).entry == "bomb"


def test_a_small_file_that_packs_well_is_no_bomb(tmp_path, out):
    archive = make_zip(tmp_path / "a.zip", [("adult_feat.type", b"Numerical\n" * 400_000)])
    assert archive.stat().st_size * 200 < 4_000_000
    assert open_archive(archive, out).files == ("adult_feat.type",)


def test_a_header_that_lies_about_the_size_does_not_help(tmp_path, out):
    archive = make_zip(tmp_path / "a.zip", [("bomb", b"\0" * (20 * MIB))])
    archive.write_bytes(archive.read_bytes().replace(struct.pack("<L", 20 * MIB), struct.pack("<L", 10)))
    assert refusal(archive, out).entry == "bomb"


def test_it_refuses_more_than_may_come_out_even_when_it_packs_badly(tmp_path, out):
    archive = make_zip(tmp_path / "a.zip", [("a", b"1" * 600), ("b", b"2" * 600)], zipfile.ZIP_STORED)
    found = refusal(archive, out, limits=Limits(expanded_bytes=1000))
    assert found.entry == "b" and "1000 bytes" in str(found)


def test_it_refuses_too_many_entries_without_reading_them(tmp_path, out):
    archive = make_zip(tmp_path / "a.zip", [(f"{number}", "") for number in range(11_000)])
    assert "10000 entries" in str(refusal(archive, out))


def test_it_refuses_a_directory_that_hides_how_many_entries_it_has(tmp_path, out):
    archive = make_zip(tmp_path / "a.zip", [(f"{number}", "") for number in range(300)])
    data = bytearray(archive.read_bytes())
    end = data.rfind(b"PK\x05\x06")
    data[end + 8 : end + 12] = struct.pack("<2H", 1, 1)
    archive.write_bytes(bytes(data))
    assert "entries" in str(refusal(archive, out, limits=Limits(entries=10)))


def test_it_refuses_encrypted_entries(tmp_path, out):
    archive = make_zip(tmp_path / "a.zip", [("model.py", "x = 1")])
    data = bytearray(archive.read_bytes())
    data[6] |= 1
    data[data.find(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(bytes(data))
    assert "encrypted" in str(refusal(archive, out))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_it_refuses_packing_methods_that_unpack_without_bound(method, tmp_path, out):
    found = refusal(make_zip(tmp_path / "a.zip", [("model.py", "x = 1")], method), out)
    assert "packed by" in str(found) and "deflate" in found.mend


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "empty"),
        (b"hello", "not a zip"),
        (b"\x1f\x8b\x08" + b"0" * 100, "gzip"),
        (b"Rar!\x1a\x07" + b"0" * 100, "RAR"),
        (b"\0" * 257 + b"ustar" + b"\0" * 250, "tar"),
        (b"PK\x03\x04" + b"0" * 100, "cut off"),
        (b"PK\x05\x06" + b"\0" * 18, "holds no files"),
    ],
)
def test_it_says_what_a_file_is_that_is_no_zip(content, what, tmp_path, out):
    (tmp_path / "a.zip").write_bytes(content)
    assert what in str(refusal(tmp_path / "a.zip", out))


@pytest.mark.parametrize("names", [["folder/"], ["__MACOSX/x", ".DS_Store"]])
def test_an_archive_without_files_is_empty(names, tmp_path, out):
    archive = make_zip(tmp_path / "a.zip", [(name, "") for name in names])
    assert "holds no files" in str(refusal(archive, out))


def test_a_changed_byte_is_found(tmp_path, out):
    archive = make_zip(tmp_path / "a.zip", [("model.py", "x = 1\n" * 50)], zipfile.ZIP_STORED)
    archive.write_bytes(archive.read_bytes().replace(b"x = 1\nx", b"x = 2\nx", 1))
    found = refusal(archive, out)
    assert found.entry == "model.py" and "damaged" in str(found)


def test_an_existing_empty_folder_stays_and_is_emptied_on_refusal(tmp_path, out):
    out.mkdir()
    archive = make_zip(tmp_path / "a.zip", [("model.py", "x = 1"), ("bomb", b"\0" * (20 * MIB))])
    refusal(archive, out)
    assert out.is_dir() and not any(out.iterdir())


def test_it_never_unpacks_over_something(tmp_path, out):
    out.mkdir()
    (out / "precious").write_text("kept")
    with pytest.raises(FileExistsError):
        open_archive(make_zip(tmp_path / "a.zip", [("model.py", "x")]), out)
    assert (out / "precious").read_text() == "kept"


def test_it_steps_into_one_folder_and_drops_junk_with_notes(tmp_path, out):
    entries = [
        ("work/", ""),
        ("work/model.py", "x = 1"),
        ("work/__pycache__/model.pyc", "junk"),
        ("__MACOSX/work/._model.py", "junk"),
        ("work/.DS_Store", "junk"),
        ("work/.git/config", "junk"),
        ("work/tools/helper.py", "y = 2"),
    ]
    contents = open_archive(make_zip(tmp_path / "a.zip", entries), out)
    assert contents.files == ("model.py", "tools/helper.py")
    assert contents.root == out / "work"
    assert "__MACOSX" in contents.notes[0] and ".git" in contents.notes[0] and "work" in contents.notes[1]
    assert not any("MACOSX" in str(path) or ".git" in str(path) for path in out.rglob("*"))


def test_executable_bits_are_kept_but_no_others(tmp_path, out):
    entries = [
        (special("run.sh", stat.S_IFREG | 0o4755), "echo"),
        (special("data.txt", stat.S_IFREG | 0o666), "1"),
    ]
    contents = open_archive(make_zip(tmp_path / "a.zip", entries), out)
    modes = {name: stat.S_IMODE((contents.root / name).stat().st_mode) for name in contents.files}
    assert modes == {"run.sh": 0o755, "data.txt": 0o644}


def test_programs_at_the_root_become_executable_when_the_zip_lost_the_bit(tmp_path, out):
    entries = [
        ("run", "#!/usr/bin/python3\n"),
        ("prog", b"\x7fELF\x02"),
        ("notes", "#1"),
        ("lib/x", "#!/bin/sh"),
    ]
    contents = open_archive(make_zip(tmp_path / "a.zip", entries), out)
    executable = {name for name in contents.files if (contents.root / name).stat().st_mode & 0o111}
    assert executable == {"run", "prog"}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_zip_is_refused_or_opened_and_never_worse(data, tmp_path_factory):
    """Any byte may be changed: a refusal that leaves nothing, or files below the destination."""
    folder = tmp_path_factory.mktemp("damaged")
    archive = make_zip(folder / "a.zip", [("model.py", "x = 1\n" * 20), ("lib/helper.py", "y = 2")])
    raw = bytearray(archive.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    archive.write_bytes(bytes(raw))
    out = folder / "out"
    try:
        contents = open_archive(archive, out)
    except RefusedArchive:
        assert not out.exists()
    else:
        assert all((contents.root / name).is_file() for name in contents.files)
    assert {path.name for path in folder.iterdir()} <= {"a.zip", "out"}


def test_a_zip_made_by_the_command_of_python_opens(tmp_path, out):
    (tmp_path / "model.py").write_text("x = 1")
    subprocess.run(
        [sys.executable, "-m", "zipfile", "-c", "a.zip", "model.py"], cwd=tmp_path, check=True, timeout=60
    )
    assert open_archive(tmp_path / "a.zip", out).files == ("model.py",)
