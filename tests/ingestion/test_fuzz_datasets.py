"""Dataset files of strangers, by the thousand: told in problems and DataErrors, or read; never anything else."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from ingestion.dataset import DataError, check_dataset, load_dataset, prepare_input, write_dataset
from ingestion.program.data import CACHE_FOLDER, PARTS
from ingestion.program.data import Dataset as InputDataset
from tests.ingestion.fuzzing import WORDS, bounded, changed, fuzz

LAYOUTS = ("dense", "sparse", "sparse_binary")
CACHE_FILES = ("cache.json", "train.solution.npy", "feat.type")


def make_dataset(folder: Path, layout: str) -> Path:
    """A right dataset with every file of the format."""
    generator = np.random.default_rng(0)
    features = np.where(generator.random((12, 4)) < 0.5, 0.0, generator.normal(size=(12, 4)).round(2))
    if layout == "sparse_binary":
        features = (features != 0).astype(float)
    classes = np.arange(12) % 3
    part = (features, classes)
    write_dataset(
        folder, "toy", task="multiclass", metric="BAC", time_budget=30, train=part, valid=part, test=part,
        feature_names=list("abcd"), label_names=list("xyz"), sparse=layout != "dense", private_info={"title": "t"},
    )  # fmt: skip
    if layout == "sparse_binary":
        for name in PARTS:
            path = folder / f"toy_{name}.data"
            path.write_text(path.read_text().replace(":1", ""))
    return folder


@pytest.fixture(scope="module", params=LAYOUTS)
def right(request, tmp_path_factory):
    """(files of a right dataset by name, the same laid out with its cache)."""
    folder = tmp_path_factory.mktemp("fuzz")
    source = make_dataset(folder / "toy", request.param)
    laid = prepare_input(source, folder / "laid")
    return source, laid


def read_all_ways(folder: Path, cage: Path) -> None:
    """Check, load, lay out and read as a run does: the answers must agree, and nothing else may come out."""
    with bounded():
        report = check_dataset(folder)
    assert not any("more memory" in problem.message for problem in report.errors)
    assert all(str(problem).isprintable() for problem in [*report.errors, *report.warnings])
    with bounded():
        loaded = attempt(lambda: load_dataset(folder))
        laid = attempt(lambda: prepare_input(folder, cage / "laid"))
        read = None if laid is None else attempt(lambda: read_as_a_run_does(laid))
        attempt(lambda: read_as_a_run_does(folder))
    if report.ok:
        assert loaded is not None and read is not None
        for part, features in read.items():
            assert same(features, getattr(loaded, part).X)


def read_as_a_run_does(folder: Path) -> dict:
    dataset = InputDataset(folder)
    dataset.targets()
    assert dataset.targets_per_row >= 1
    return {part: dataset.features(part) for part in PARTS if dataset.has(part)}


def attempt(read):
    """What `read` gives, or None where it raised the one documented error."""
    try:
        return read()
    except DataError as error:
        assert str(error).strip()
        return None


def same(one, other) -> bool:
    if scipy.sparse.issparse(one):
        one, other = one.toarray(), other.toarray()
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True)


def in_a_cage(source: Path, change) -> None:
    """Read a copy of the dataset after `change` was done to it, in a folder that is removed afterwards."""
    cage = Path(tempfile.mkdtemp(prefix="podium-fuzz-"))
    try:
        folder = shutil.copytree(source, cage / "toy")
        for path in folder.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        change(folder)
        read_all_ways(folder, cage)
    finally:
        shutil.rmtree(cage)


@fuzz
@given(data=st.data())
def test_fuzz_any_file_of_a_dataset_damaged(right, data):
    source, _ = right
    names = data.draw(st.lists(st.sampled_from(sorted(p.name for p in source.iterdir())), min_size=1, max_size=2))
    contents = {name: data.draw(changed((source / name).read_bytes())) for name in names}

    def change(folder):
        for name, content in contents.items():
            (folder / name).write_bytes(content)

    in_a_cage(source, change)


@fuzz
@given(data=st.data())
def test_fuzz_what_the_info_file_says(right, data):
    source, _ = right
    keys = ["feat_num", "target_num", "label_num", "train_num", "valid_num", "test_num", "time_budget", "task",
            "metric", "is_sparse", "has_missing", "feat_type", "name"]  # fmt: skip
    lines = data.draw(st.dictionaries(st.sampled_from(keys), st.sampled_from(WORDS), min_size=1, max_size=4))
    without_types = data.draw(st.booleans())

    def change(folder):
        with (folder / "toy_public.info").open("ab") as file:
            for key, word in lines.items():
                file.write(key.encode() + b" = " + word[:200] + b"\n")
        if without_types:
            (folder / "toy_feat.type").unlink()

    in_a_cage(source, change)


@fuzz
@given(data=st.data())
def test_fuzz_tables_made_of_nothing_but_trouble(right, data):
    source, _ = right
    words = st.lists(st.sampled_from([*WORDS, b" ", b"\n", b"1", b"2:1"]), max_size=12).map(b"".join)
    contents = {f"toy_{part}.data": data.draw(words) for part in PARTS}
    in_a_cage(source, lambda folder: [(folder / name).write_bytes(text) for name, text in contents.items()])


@fuzz
@given(data=st.data())
def test_fuzz_a_cache_that_somebody_changed(right, data):
    _, laid = right
    names = sorted(path.name for path in (laid / CACHE_FOLDER).iterdir())
    name = data.draw(st.sampled_from(names))
    content = data.draw(changed((laid / CACHE_FOLDER / name).read_bytes()))
    touch_text = data.draw(st.booleans())

    def change(folder):
        (folder / CACHE_FOLDER / name).write_bytes(content)
        if touch_text:
            (folder / "toy_feat.name").write_text("p\nq\nr\ns\n")

    cage = Path(tempfile.mkdtemp(prefix="podium-fuzz-"))
    try:
        folder = shutil.copytree(laid, cage / "toy")
        for path in folder.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        change(folder)
        with bounded():
            attempt(lambda: read_as_a_run_does(folder))
            again = attempt(lambda: prepare_input(folder, cage / "laid"))
            if again is not None:
                attempt(lambda: read_as_a_run_does(again))
    finally:
        shutil.rmtree(cage)
