"""Prediction files of strangers, by the thousand: copied when plain and bounded, told in a sentence if not."""

import os
import shutil
import tempfile
from io import BytesIO
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ingestion.collect import Collector, Expected, is_complete
from ingestion.predictions import UnreadablePrediction, read_prediction
from ingestion.sandbox.output import open_folder
from tests.ingestion.fuzzing import bounded, changed, fuzz

EXPECTED = Expected("tiny", {"valid": 3, "test": 4}, 1)
NAMES = [
    "tiny_valid.predict",
    "tiny_test.predict",
    "tiny_valid_000.predict",
    "tiny_test_000.predict",
    "tiny_valid_1.npy",
    "tiny_test_1.npy",
    "tiny_test_00000000000000000000.predict",
    "tiny_test_-1.predict",
    "tiny_test_\u0663.predict",
    ".tiny_test.predict",
    "other_test.predict",
    "scores.json",
]


def npy(array: np.ndarray, **options) -> bytes:
    file = BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def npy_that_says(shape: str, kind: str = "<f8") -> bytes:
    """A header of a .npy file with this shape, and sixteen bytes behind it."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"\x00" * 16


CONTENTS = [
    b"0.5\n" * 3,
    b"0.5\n" * 4,
    b"0.5\n" * 3 + b"0.5",
    b"",
    npy(np.full(4, 0.5)),
    npy(np.full((3, 1), 0.5)),
    npy(np.array(["a", "b"])),
    npy(np.array([None, {}], dtype=object), allow_pickle=True),
    npy_that_says("(4,)"),
    npy_that_says("(1000000000000,)"),
    npy_that_says("(2, 1000000000)"),
    npy_that_says("(-1,)"),
    npy_that_says("(0, 1000000000000)"),
    npy_that_says("(4," * 100),
    npy_that_says("(4,)", "<f8',)" * 5),
    npy_that_says("(2,)", "|O"),
    npy_that_says("(1,)", "|S999999999"),
    npy_that_says("()"),
]

contents = st.one_of(st.sampled_from(CONTENTS), st.sampled_from(CONTENTS).flatmap(changed))
KINDS = ["file", "file", "file", "file", "link", "pipe", "folder", "hole"]


def put(folder: Path, name: str, kind: str, content: bytes) -> None:
    """Something of this kind under this name."""
    path = folder / name
    match kind:
        case "file":
            path.write_bytes(content)
        case "link":
            path.symlink_to("/etc/passwd")
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "hole":
            with path.open("wb") as file:
                file.truncate(10 * 1024**4)


@fuzz
@given(
    st.dictionaries(st.sampled_from(NAMES), st.tuples(st.sampled_from(KINDS), contents), max_size=6),
    st.booleans(),
    st.booleans(),
)
def test_fuzz_an_output_folder_is_emptied_whatever_lies_in_it(found, ended_early, any_time):
    cage = Path(tempfile.mkdtemp(prefix="podium-fuzz-"))
    (cage / "output").mkdir()
    (cage / "keep").mkdir()
    for name, (kind, content) in found.items():
        put(cage / "output", name, kind, content)
    descriptor = open_folder(cage / "output")
    collector = Collector(EXPECTED, cage / "keep", 60.0, any_time=any_time)
    try:
        with bounded():
            for seconds in (1.0, 2.0, 3.0):
                collector.look(descriptor, seconds)
            collector.last_look(descriptor, 4.0, ended_early=ended_early)
            for file in collector.predictions():
                kind, content = found[file.name]
                assert kind == "file" and file.path.read_bytes() == content
                assert file.path.parent == cage / "keep" and file.bytes <= EXPECTED.largest(file.part)
        assert all(sentence.isprintable() for sentence in collector.refused)
        assert {path.name for path in cage.iterdir()} == {"output", "keep"}
    finally:
        os.close(descriptor)
        shutil.rmtree(cage)


@fuzz
@given(contents)
def test_fuzz_a_collected_file_is_a_table_or_a_sentence(content):
    with tempfile.NamedTemporaryFile(suffix=".predict") as file:
        path = Path(file.name)
        path.write_bytes(content)
        with bounded():
            is_complete(path, EXPECTED, "test", settled=True)
            try:
                assert read_prediction(path).ndim == 2
            except UnreadablePrediction as error:
                assert str(error).endswith(".")
