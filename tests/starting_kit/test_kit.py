"""kit.py runs, checks and packs as a participant would use it."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ingestion.archive import open_archive, recognise
from ingestion.traits import TRAITS

KIT = Path(__file__).resolve().parents[2] / "starting_kit"
LINEAR = KIT / "sample_linear_submission"


def kit(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run kit.py in a folder, with nothing of this checkout on Python's path."""
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(cwd)}
    command = [sys.executable, str(KIT / "kit.py"), *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=1800)


# These programs end by themselves; a machine that is busy with something else must not stop them.
PATIENT = ("--wall-seconds", "600")


def fields(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(found, dict)
    return found


def submission(folder: Path, source: str) -> Path:
    folder.mkdir()
    (folder / "model.py").write_text(source)
    return folder


CONSTANT = """
import numpy as np
class Model:
    def __init__(self, info): self.columns = int(info["target_num"])
    def fit(self, X, y):
        for self.value in (0.1, 0.5):
            yield
    def predict(self, X): return np.full((X.shape[0], self.columns), self.value){more}
"""


def test_run_scores_every_part_of_the_sample_data_with_errors(tmp_path: Path) -> None:
    done = kit("run", "--submission", LINEAR, "--json", *PATIENT, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "has all rights of your user" in done.stderr
    runs = {one["dataset"]: one for one in fields(done)["runs"]}
    assert set(runs) == {"iris", "patients"}
    for one in runs.values():
        assert one["status"] == "ok"
        for part in ("valid", "test"):
            assert 0.1 < one["scores"][part]["value"] < 1 and one["scores"][part]["stderr"] > 0
    assert (tmp_path / "kit_output" / "iris" / "iris_test.predict").is_file()


def test_run_prints_a_table_with_the_times_of_each_prediction(tmp_path: Path) -> None:
    folder = submission(tmp_path / "constant", CONSTANT.format(more=""))
    done = kit("run", "--submission", folder, "--dataset", KIT / "sample_data" / "iris", *PATIENT, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    row = next(line for line in done.stdout.splitlines() if line.startswith("iris") and " test " in line)
    assert re.search(r"BAC +0\.0000 ± 0\.0000 .* \d\.\d s 0\.000", row)


def test_run_takes_the_submission_with_and_without_the_name_of_the_option(tmp_path: Path) -> None:
    iris = KIT / "sample_data" / "iris"
    for named in ((LINEAR,), ("--submission", LINEAR)):
        done = kit("run", *named, "--dataset", iris, "--json", *PATIENT, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert len(fields(done)["runs"][0]["curve"]) == 1, "the linear sample predicts once"


def test_a_number_of_seconds_that_is_none_is_told_in_words(tmp_path: Path) -> None:
    done = kit("run", "--wall-seconds", "soon", cwd=tmp_path)
    assert done.returncode == 2
    assert "soon is not a number of seconds above zero" in done.stderr


def test_without_solutions_predictions_are_read_and_not_scored(tmp_path: Path) -> None:
    downloaded = tmp_path / "iris"
    hidden = shutil.ignore_patterns("iris_valid.solution", "iris_test.solution")
    shutil.copytree(KIT / "sample_data" / "iris", downloaded, ignore=hidden)
    done = kit("run", LINEAR, "--dataset", downloaded, *PATIENT, cwd=tmp_path)
    assert done.returncode == 0
    assert f"It is not scored: {downloaded} holds no solutions" in done.stderr
    missing = submission(tmp_path / "missing", CONSTANT.format(more=" * np.nan"))
    done = kit("check", missing, "--dataset", downloaded, *PATIENT, cwd=tmp_path)
    assert done.returncode == 1
    assert "line 1, column 1: 'nan' is not a finite number" in done.stdout


def test_a_sandbox_whose_python_package_is_missing_is_told_with_the_line_that_mends_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from starting_kit import kit as module

    def choose(name: str) -> None:
        raise ModuleNotFoundError("No module named 'docker.errors'", name="docker.errors")

    monkeypatch.setattr(module, "choose_sandbox", choose)
    assert module.main(["run", "--sandbox", "docker"]) == 3
    assert capsys.readouterr().err == "The sandbox docker needs the package docker. pip install docker\n"


def test_check_finds_the_samples_in_order(tmp_path: Path) -> None:
    done = kit("check", LINEAR, *PATIENT, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = fields(done)
    assert found["ok"] and found["kind"] == "code"
    assert any("predicts once, at its end" in one["text"] for one in found["findings"])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("class Model(:\n", "model.py line 1"),
        ("class Forecaster:\n    pass\n", "defines no class Model"),
        ("class Model:\n    def fit(self, X, y): pass\n", "has no method predict"),
    ],
    ids=["a syntax error", "no class Model", "no predict"],
)
def test_check_tells_what_is_wrong_without_running_it(tmp_path: Path, source: str, expected: str) -> None:
    done = kit("check", submission(tmp_path / "wrong", source), *PATIENT, cwd=tmp_path)
    assert done.returncode == 1
    assert expected in done.stdout and "FAULT" in done.stdout
    assert "unconfined" not in done.stderr


def test_check_runs_it_shortly_and_tells_of_a_crash_and_of_clipped_values(tmp_path: Path) -> None:
    crash = submission(tmp_path / "crash", CONSTANT.format(more="[:3]"))
    done = kit("check", crash, "--dataset", KIT / "sample_data" / "iris", *PATIENT, cwd=tmp_path)
    assert done.returncode == 1 and "shape (3, 3)" in done.stdout
    large = submission(tmp_path / "large", CONSTANT.format(more=" * 7"))
    done = kit("check", large, "--dataset", KIT / "sample_data" / "iris", "--json", *PATIENT, cwd=tmp_path)
    assert done.returncode == 0
    assert any("clipped" in one["text"] for one in fields(done)["findings"])


def test_check_reads_results_and_names_the_line_at_fault(tmp_path: Path) -> None:
    results = tmp_path / "results"
    results.mkdir()
    (results / "madam_valid.predict").write_text("0.1\n0.9\n")
    (results / "madam_test.predict").write_text("0.1\nhello\n")
    done = kit("check", results, *PATIENT, cwd=tmp_path)
    assert done.returncode == 1
    assert "results for madam" in done.stdout and "madam_test.predict, line 2" in done.stdout


def test_pack_makes_the_same_zip_twice_and_the_door_accepts_it(tmp_path: Path) -> None:
    source = tmp_path / "mine"
    shutil.copytree(LINEAR, source)
    (source / "__pycache__").mkdir()
    (source / "__pycache__" / "model.pyc").write_bytes(b"x")
    done = kit("pack", source, cwd=tmp_path)
    assert done.returncode == 0 and "Upload mine.zip" in done.stderr
    first = (tmp_path / "mine.zip").read_bytes()
    kit("pack", source, "-o", "again.zip", cwd=tmp_path)
    assert (tmp_path / "again.zip").read_bytes() == first
    contents = open_archive(tmp_path / "mine.zip", tmp_path / "open")
    assert contents.files == ("model.py",)
    assert recognise(contents, []).interface == "model"


def test_pack_refuses_what_the_server_would_refuse_and_leaves_no_zip(tmp_path: Path) -> None:
    empty = tmp_path / "notes"
    empty.mkdir()
    (empty / "notes.txt").write_text("to do")
    done = kit("pack", empty, "--json", cwd=tmp_path)
    assert done.returncode == 1
    assert "no model.py" in fields(done)["message"]
    assert not (tmp_path / "notes.zip").exists()


def test_a_dataset_or_submission_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    done = kit("run", "--dataset", tmp_path, cwd=tmp_path)
    assert done.returncode == 1 and "There is no dataset in" in done.stderr
    for command in ("run", "check"):
        done = kit(command, tmp_path / "nothing.zip", cwd=tmp_path)
        assert done.returncode == 1
        assert done.stderr == f"There is no submission at {tmp_path / 'nothing.zip'}.\n"
        assert done.stdout == ""
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    done = kit("check", tmp_path / "empty.zip", *PATIENT, cwd=tmp_path)
    assert done.returncode == 1 and "Traceback" not in done.stderr


def test_check_on_traits_prints_the_grid_and_names_what_to_mend(tmp_path: Path) -> None:
    done = kit("check", LINEAR, "--traits", *PATIENT, "--cores", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "at most 600 s each" in done.stderr and "has all rights of your user" in done.stderr
    assert sum(line.startswith("✓") for line in done.stdout.splitlines()) == len(TRAITS)
    assert "In order: pack it and upload the zip." in done.stdout
    dataset = tmp_path / "kit_output" / "traits" / "datasets" / "wide"
    again = kit("run", LINEAR, "--dataset", dataset, *PATIENT, "--json", cwd=tmp_path)
    assert again.returncode == 0, "a dataset of a trait can be run again by itself"


def test_check_on_traits_fails_where_one_trait_fails(tmp_path: Path) -> None:
    source = CONSTANT.format(more="").replace("def fit(self, X, y):", "def fit(self, X, y):\n        X[:, 1]")
    fragile = submission(tmp_path / "fragile", source)
    done = kit("check", fragile, "--traits", *PATIENT, "--json", cwd=tmp_path)
    found = fields(done)
    assert (done.returncode, found["ok"]) == (1, False)
    assert [row["trait"] for row in found["rows"] if not row["ok"]] == ["one_feature"]
    assert any(one["is_fatal"] and one["text"].startswith("one feature:") for one in found["findings"])


def test_traits_and_no_run_exclude_each_other(tmp_path: Path) -> None:
    assert kit("check", LINEAR, "--traits", "--no-run", cwd=tmp_path).returncode == 2
