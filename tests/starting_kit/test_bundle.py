"""The zip that participants download works by itself, and its pieces are what they say."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ingestion.dataset import check_dataset
from starting_kit.bundle import build_kit

CHECKOUT = Path(__file__).resolve().parents[2]
KIT = CHECKOUT / "starting_kit"


@pytest.fixture(scope="module")
def unzipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("download")
    with zipfile.ZipFile(build_kit(folder)) as archive:
        archive.extractall(folder)
    return folder / "podium_starting_kit"


def call(kit: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(kit)}
    command = [sys.executable, "kit.py", *arguments]
    return subprocess.run(command, cwd=kit, env=environment, capture_output=True, text=True, timeout=300)


def test_it_checks_and_runs_far_from_the_checkout(unzipped: Path) -> None:
    checked = call(unzipped, "check", "--wall-seconds", "20", "--dataset", "sample_data/iris")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "In order" in checked.stdout
    ran = call(unzipped, "run", "--wall-seconds", "60", "--submission", "sample_linear_submission")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "patients" in ran.stdout


def test_its_modules_come_from_the_zip(unzipped: Path) -> None:
    code = "import kit, ingestion.runner as r, scoring as s; print(r.__file__, s.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=unzipped,
        env={"PATH": os.environ.get("PATH", "")},
        capture_output=True,
        text=True,
    )
    assert done.stdout.count(str(unzipped)) == 2, done.stderr


def test_two_builds_are_the_same_bytes(tmp_path: Path) -> None:
    assert build_kit(tmp_path / "one.zip").read_bytes() == build_kit(tmp_path / "two.zip").read_bytes()


def test_it_holds_all_a_participant_needs_and_nothing_of_the_site(tmp_path: Path) -> None:
    with zipfile.ZipFile(build_kit(tmp_path / "kit.zip")) as archive:
        inside = archive.namelist()
    assert {name.split("/")[0] for name in inside} == {"podium_starting_kit"}
    names = {name.split("/", 1)[1] for name in inside}
    needed = {
        "README.md",
        "requirements.txt",
        "kit.py",
        "sample_code_submission/model.py",
        "sample_linear_submission/model.py",
        "sample_autosklearn_submission/model.py",
        "sample_data/iris/iris_public.info",
        "ingestion/sandbox/seccomp.json",
        "scoring/metrics.py",
    }
    assert needed <= names
    assert not [name for name in names if name.startswith(("platform", "tests", "bundle")) or ".pyc" in name]


def test_the_readme_names_only_files_that_are_there(unzipped: Path) -> None:
    text = (unzipped / "README.md").read_text()
    named = re.findall(r"^\| `([a-z_./]+)`(?:, `([a-z_./]+)`)? \|", text, flags=re.MULTILINE)
    for name in filter(None, (one for pair in named for one in pair)):
        assert (unzipped / name).exists(), name


def test_its_requirements_are_the_pins_of_the_server() -> None:
    def pins(path: Path) -> dict[str, str]:
        found = re.findall(r"^([A-Za-z-]+)==(\S+)", path.read_text(), flags=re.MULTILINE)
        return {name.lower(): version for name, version in found}

    kit, server = pins(KIT / "requirements.txt"), pins(CHECKOUT / "requirements.txt")
    assert set(kit) == {"numpy", "scipy", "pandas", "scikit-learn", "pyyaml"}
    assert all(server[name] == version for name, version in kit.items())


def test_the_sample_data_are_in_order_and_come_from_their_script(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(KIT / "make_sample_data.py"), str(tmp_path)], check=True)
    for folder in sorted(tmp_path.iterdir()):
        kept = KIT / "sample_data" / folder.name
        report = check_dataset(kept)
        assert (report.errors, report.warnings) == ([], [])
        assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in kept.iterdir())
        for path in folder.iterdir():
            assert path.read_bytes() == (kept / path.name).read_bytes(), path.name
