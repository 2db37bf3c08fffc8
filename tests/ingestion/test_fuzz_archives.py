"""Archives of strangers, by the thousand: refused in a sentence, or opened inside their folder; nothing else."""

import os
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from io import BytesIO
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ingestion.archive import Limits, RefusedArchive, check_python_syntax, open_archive, recognise
from tests.ingestion.fuzzing import bounded, changed, fuzz

LIMITS = Limits(entries=60, expanded_bytes=1024**2, ratio=100, ratio_floor_bytes=64 * 1024)

PIECES = [
    "a",
    "A",
    "..",
    ".",
    "",
    "é",
    "e\u0301",
    "ß",
    "SS",
    "con",
    "model.py",
    "metadata",
    "__MACOSX",
    ".git",
    "tiny_test.predict",
    "tiny_test_000.predict",
    "x" * 300,
    "a\\b",
    "c:",
    "\u202etxt",
    "\x00",
    "\n",
    "~",
    "*",
]
CONTENTS = [
    b"",
    b"#!/bin/sh\n",
    b"\x7fELF",
    b"command: sh $program/run.sh\n",
    b"command: [1, 2]\n",
    b"a: &a [*a, *a]\n",
    b"class Model:\n    pass\n",
    b"def broken(:\n",
    b"(" * 500,
    b"\x00" * 5_000,
    b"1\n" * 50,
    b"PK\x03\x04",
]

names = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("/".join)
kinds = st.sampled_from(
    [
        0,
        stat.S_IFREG | 0o644,
        stat.S_IFREG | 0o4755,
        stat.S_IFLNK | 0o777,
        stat.S_IFDIR | 0o755,
        stat.S_IFIFO | 0o600,
        stat.S_IFCHR | 0o600,
        0o170000,
    ]
)
sizes = st.sampled_from([None, 0, 1, 1024**2, 2**31, 2**32 - 1])


@st.composite
def entries(draw):
    """(local header and data, record of the central directory without the offset) of one entry, honest or not."""
    name = draw(names).encode("utf-8", "surrogatepass")
    content = draw(st.one_of(st.sampled_from(CONTENTS), st.binary(max_size=200)))
    method = draw(st.sampled_from([0, 8, 8, 8, 12, 14, 99]))
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(content) + packer.flush() if method == 8 else content
    flags = draw(st.sampled_from([0, 0, 0, 0x800, 0x1, 0x8, 0x40, 0x2000]))
    extra = draw(
        st.sampled_from([b"", struct.pack("<HHQQ", 1, 16, 2**40, 1), b"\x01\x00\xff\xff", b"\x75\x70\x05\x00"])
    )
    size = draw(sizes)
    size = len(content) if size is None else size
    crc = zlib.crc32(content) ^ draw(st.sampled_from([0, 0, 0, 1]))
    other = draw(st.sampled_from([name, name, name, b"other"]))
    head = struct.pack("<HHHHHLLLHH", 20, flags, method, 0, 0x21, crc, len(packed), size, len(other), len(extra))
    local = b"PK\x03\x04" + head + other + extra + packed
    packed_size = draw(st.sampled_from([len(packed), len(packed), 0, 2**32 - 1]))
    kind = draw(kinds) << 16 | draw(st.sampled_from([0, 0x10]))
    head = struct.pack("<HHHHHLLLHH", 20, flags, method, 0, 0x21, crc, packed_size, size, len(name), len(extra))
    record = b"PK\x01\x02" + struct.pack("<H", 0x0314) + head + struct.pack("<HHHL", 0, 0, 0, kind), name + extra
    return local, record


@st.composite
def built_archives(draw):
    """A zip that is written by hand: directories that lie about their entries, come twice, or point elsewhere."""
    body, directory, count = bytearray(draw(st.sampled_from([b"", b"#!/bin/sh\n"]))), bytearray(), 0
    for local, (record, tail) in draw(st.lists(entries(), max_size=6)):
        for _ in range(draw(st.sampled_from([1, 1, 1, 2, 70]))):
            offset = draw(st.sampled_from([len(body), len(body), len(body), 0, 2**32 - 1]))
            directory += record + struct.pack("<L", offset) + tail
            count += 1
        body += local
    directory *= draw(st.sampled_from([1, 1, 1, 2]))
    told = draw(st.sampled_from([count, count, 0, 0xFFFF]))
    start = draw(st.sampled_from([len(body), len(body), 0, 2**32 - 1]))
    end = b""
    if draw(st.booleans()):
        end += b"PK\x06\x06" + struct.pack(
            "<QHHLLQQQQ", 44, 45, 45, 0, 0, told, told, len(directory), start % 2**32
        )
        end += b"PK\x06\x07" + struct.pack("<LQL", 0, len(body) + len(directory), 1)
    comment = draw(st.binary(max_size=30))
    end += b"PK\x05\x06" + struct.pack("<HHHHLLH", 0, 0, told, told, len(directory), start, len(comment)) + comment
    return bytes(body + directory + end)


def ordinary_archive() -> bytes:
    """What an honest participant sends, with a zip inside it."""
    inner, outer = BytesIO(), BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("bomb", b"\x00" * 100_000)
    with zipfile.ZipFile(outer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mine/metadata", "command: sh $program/run.sh $output\n")
        file.writestr("mine/model.py", "class Model:\n    pass\n" * 20)
        file.writestr("mine/data/inner.zip", inner.getvalue())
        file.writestr("mine/tiny_test.predict", "0.5\n" * 100)
    return outer.getvalue()


def open_and_judge(archive: bytes) -> None:
    """Open an archive in a cage and look that nothing but the documented happened."""
    cage = Path(tempfile.mkdtemp(prefix="podium-fuzz-"))
    try:
        path, destination = cage / "archive.zip", cage / "destination"
        path.write_bytes(archive)
        try:
            with bounded():
                contents = open_archive(path, destination, limits=LIMITS)
        except RefusedArchive as error:
            assert str(error).endswith(".") and str(error).isprintable()
            assert not destination.exists()
        else:
            inspect(contents, destination)
        assert {one.name for one in cage.iterdir()} <= {"archive.zip", "destination"}
        assert path.read_bytes() == archive
    finally:
        shutil.rmtree(cage)


def inspect(contents, destination: Path) -> None:
    """What came out is regular, inside, bounded, and can be told what it is."""
    total = 0
    for folder, folders, files in os.walk(destination):
        for name in [*folders, *files]:
            status = os.lstat(os.path.join(folder, name))
            assert stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)
            assert not status.st_mode & (stat.S_ISUID | stat.S_ISGID | stat.S_IWOTH)
            total += status.st_size if stat.S_ISREG(status.st_mode) else 0
    assert total <= LIMITS.expanded_bytes
    assert contents.files and all((contents.root / name).is_file() for name in contents.files)
    assert contents.root.is_relative_to(destination)
    with bounded():
        assert all(isinstance(note, str) for note in check_python_syntax(contents))
        try:
            recognise(contents, ["tiny"])
        except RefusedArchive as error:
            assert str(error).endswith(".")


@fuzz
@given(built_archives())
def test_fuzz_archives_whose_directories_lie(archive):
    open_and_judge(archive)


@fuzz
@given(changed(ordinary_archive()))
def test_fuzz_honest_archives_that_were_damaged(archive):
    open_and_judge(archive)


@fuzz
@given(built_archives().flatmap(changed))
def test_fuzz_lying_archives_that_were_damaged(archive):
    open_and_judge(archive)


@fuzz
@given(st.binary(max_size=300).map(lambda noise: b"PK\x03\x04" + noise + b"PK\x05\x06" + noise))
def test_fuzz_noise_that_begins_like_an_archive(archive):
    open_and_judge(archive)
