"""Small files that claim much: read in a process of its own, whose memory is watched and limited from outside."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ingestion.test_fuzz_datasets import make_dataset
from tests.ingestion.test_fuzz_predictions import npy_that_says
from tests.shared import CHECKOUT

MIB = 1024**2
# What a process may take besides a few times the size of the files: working memory of the readers.
ROOM = 160 * MIB

# Everything that reads is imported before the memory is measured; no reservation above the room is granted either.
READER = """
import json, resource, sys
from pathlib import Path
import scipy.sparse
from ingestion.dataset import check_dataset, load_dataset, prepare_input
from ingestion.predictions import read_prediction
from ingestion.program.data import Dataset
from ingestion.program.errors import DataError
from benchmarks.scoring import peak, start_peak

what, folder, room = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
pages = int(Path("/proc/self/statm").read_text().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2 * room,) * 2)
before, said = start_peak(), ""
try:
    if what == "check":
        said = "; ".join(map(str, check_dataset(folder).errors))
    elif what == "load":
        load_dataset(folder)
    elif what == "run":
        Dataset(folder).features("train")
    elif what == "prediction":
        read_prediction(folder / "x.npy")
except Exception as error:
    said = f"{type(error).__name__}: {error}"
print(json.dumps({"said": said, "grown": peak() - before}))
"""


def info(folder: Path, line: str) -> None:
    with (folder / "toy_public.info").open("a") as file:
        file.write(line + "\n")


def claims_a_billion_features(folder: Path) -> None:
    (folder / "toy_feat.type").unlink()
    info(folder, "feat_num = 1000000000000")


def has_an_enormous_index(folder: Path) -> None:
    (folder / "toy_train.data").write_text("1000000000000000:1\n" * 12)


def claims_a_billion_classes(folder: Path) -> None:
    info(folder, "label_num = 1000000000000")
    for part in ("train", "valid", "test"):
        (folder / f"toy_{part}.solution").write_text("".join(f"{row % 3}\n" for row in range(12)))


def has_an_enormous_class(folder: Path) -> None:
    for part in ("train", "valid", "test"):
        (folder / f"toy_{part}.solution").write_text("0\n1\n" * 5 + "2\n99999\n")
    (folder / "toy_test.solution").write_text("0\n1\n" * 5 + "2\n1000000000000000\n")


def is_one_endless_number(folder: Path) -> None:
    (folder / "toy_train.data").write_bytes(b"1" * 40 * MIB)


def is_one_endless_line(folder: Path) -> None:
    (folder / "toy_train.data").write_bytes(b"1 " * 8 * MIB)


def is_nothing_but_newlines(folder: Path) -> None:
    (folder / "toy_train.data").write_bytes(b"1:1\n" + b"\n" * 30 * MIB + b"2:1\n")


def is_nothing_but_blanks(folder: Path) -> None:
    (folder / "toy_train.data").write_bytes(b" " * 60 * MIB)


def has_a_cache_that_claims_much(folder: Path) -> None:
    (folder / "cache").mkdir()
    entry = {"kind": "dense", "shape": [10**9, 4]}
    (folder / "cache" / "cache.json").write_text(json.dumps({"version": 1, "parts": {"train": entry}}))
    (folder / "cache" / "train.npy").write_bytes(npy_that_says("(1000000000, 4)"))


def is_a_prediction_that_claims_much(folder: Path) -> None:
    (folder / "x.npy").write_bytes(npy_that_says("(1000000000000,)"))


@pytest.mark.parametrize(
    ("layout", "change", "ways", "words"),
    [
        ("sparse", claims_a_billion_features, ("check", "load", "run"), "feat_num is 1000000000000"),
        ("sparse", has_an_enormous_index, ("check", "load", "run"), "is outside 1 to 4"),
        ("dense", claims_a_billion_classes, ("check", "load"), ""),
        ("dense", has_an_enormous_class, ("check", "load"), "holds class 99999, but there are 3"),
        ("dense", is_one_endless_number, ("check", "load", "run"), "longer than any number"),
        ("sparse", is_one_endless_number, ("check", "load", "run"), "longer than any number"),
        ("dense", is_one_endless_line, ("check", "load", "run"), ""),
        ("sparse_binary", is_one_endless_line, ("check", "load", "run"), "given twice"),
        ("sparse", is_nothing_but_newlines, ("check", "load", "run"), ""),
        ("dense", is_nothing_but_blanks, ("check", "load", "run"), ""),
        ("dense", has_a_cache_that_claims_much, ("run",), "cannot be read from the cache"),
        ("dense", is_a_prediction_that_claims_much, ("prediction",), "holds no table"),
    ],
)
def test_what_files_claim_costs_no_memory(
    layout: str, change: Callable[[Path], None], ways: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    folder = make_dataset(tmp_path / "toy", layout)
    change(folder)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    for way in ways:
        command = [sys.executable, "-c", READER, way, str(folder), str(ROOM + 8 * size)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=CHECKOUT, check=True)
        answer = json.loads(done.stdout.splitlines()[-1])
        assert words in answer["said"]
        assert "MemoryError" not in answer["said"] and "more memory" not in answer["said"]
        assert answer["grown"] < ROOM + 8 * size, f"{way} took {answer['grown']} bytes for {size}"
