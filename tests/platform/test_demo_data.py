"""The demo's datasets are real, complete and hidden where they must be; its results entry is honest."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from ingestion.dataset import Dataset, check_dataset, load_dataset, solution_files
from operations.demo_data import BLIND_DATASETS, DEMO_DATASETS, build_demo_datasets, build_results_entry
from scoring import score
from scoring.reading import read_table


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return build_demo_datasets(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def loaded(folders: list[Path]) -> list[Dataset]:
    return [load_dataset(folder) for folder in folders]


def test_all_datasets_pass_the_check_of_the_door_without_a_warning(folders: list[Path]) -> None:
    assert [folder.name for folder in folders] == list(DEMO_DATASETS)
    for folder in folders:
        report = check_dataset(folder)
        assert (report.errors, report.warnings) == ([], [])
        assert report.facts is not None
        assert report.facts.has_valid_solution and report.facts.has_test_solution
        assert 8 <= float(report.info["time_budget"]) <= 12


def test_those_of_round_0_cover_three_kinds_of_task_and_the_sparse_layout(loaded: list[Dataset]) -> None:
    assert {str(data.info["task"]).split(".")[0] for data in loaded} == {
        "multiclass",
        "multilabel",
        "regression",
    }
    assert {str(data.info["metric"]).split("_")[0] for data in loaded} == {"bac", "f1", "r2"}
    assert sum(bool(data.info["is_sparse"]) for data in loaded) == 1


def test_every_class_and_label_is_in_every_part(loaded: list[Dataset]) -> None:
    for data in loaded:
        if data.info["task"] != "regression":
            for solution in data.solutions.values():
                assert (solution.sum(axis=0) > 0).all()


def test_no_row_is_in_two_parts(folders: list[Path]) -> None:
    for folder in folders:
        rows = [set(path.read_text().splitlines()) for path in sorted(folder.glob("*.data"))]
        assert len(rows) == 3
        assert all(not first & second for first, second in ((rows[0], rows[1]), (rows[0], rows[2])))


def test_the_private_info_tells_the_source_and_the_public_info_does_not(folders: list[Path]) -> None:
    for folder in folders:
        about = DEMO_DATASETS[folder.name]
        private = (folder / f"{folder.name}_private.info").read_text()
        public = (folder / f"{folder.name}_public.info").read_text()
        assert about.origin.split(",")[0] in private
        assert about.origin.split(",")[0] not in public


def test_the_same_seed_gives_the_same_bytes_and_another_seed_another_split(
    folders: list[Path], tmp_path: Path
) -> None:
    again = build_demo_datasets(tmp_path / "again")
    other = build_demo_datasets(tmp_path / "other", 7)
    for first, second, third in zip(folders, again, other, strict=True):
        for path in first.iterdir():
            assert path.read_bytes() == (second / path.name).read_bytes()
        name = f"{first.name}_train.data"
        assert (first / name).read_bytes() != (third / name).read_bytes()


def test_the_results_entry_scores_well_on_every_dataset_but_not_perfectly(
    folders: list[Path], loaded: list[Dataset], tmp_path: Path
) -> None:
    archive = build_results_entry(folders, tmp_path / "results.zip")
    zipfile.ZipFile(archive).extractall(tmp_path / "open")
    for data in loaded:
        for part in ("valid", "test"):
            solution = data.solutions[part]
            prediction = read_table(tmp_path / "open" / f"{data.name}_{part}.predict", shape=solution.shape)
            value = score(
                solution, prediction, task=data.info["task"], metric=data.info["metric"], stderr=False
            ).value
            assert 0.15 < value < 1.0, (data.name, part)


def test_the_results_entry_never_looks_at_a_hidden_label(folders: list[Path], tmp_path: Path) -> None:
    hidden = tmp_path / "public"
    copies = []
    for folder in folders:
        copy = hidden / folder.name
        copy.mkdir(parents=True)
        secret = {path.name for path in solution_files(folder).values()}
        for path in folder.iterdir():
            if path.name not in secret:
                (copy / path.name).write_bytes(path.read_bytes())
        copies.append(copy)
    with_labels = build_results_entry(folders, tmp_path / "with.zip")
    without = build_results_entry(copies, tmp_path / "without.zip")
    with zipfile.ZipFile(with_labels) as first, zipfile.ZipFile(without) as second:
        assert first.namelist() == second.namelist() and len(first.namelist()) == 2 * len(DEMO_DATASETS)
        for name in first.namelist():
            assert np.array_equal(np.loadtxt(first.open(name)), np.loadtxt(second.open(name)))


@pytest.mark.parametrize("number", BLIND_DATASETS)
def test_the_datasets_of_later_rounds_are_as_whole_and_ask_something_else(number: int, tmp_path: Path) -> None:
    made = build_demo_datasets(tmp_path, datasets=BLIND_DATASETS[number])
    assert [folder.name for folder in made] == list(BLIND_DATASETS[number])
    for folder in made:
        report = check_dataset(folder)
        assert (report.errors, report.warnings) == ([], [])
        assert report.facts is not None
        assert report.facts.has_valid_solution and report.facts.has_test_solution
    titles = [about.title for group in (DEMO_DATASETS, *BLIND_DATASETS.values()) for about in group.values()]
    assert len(titles) == len(set(titles))
