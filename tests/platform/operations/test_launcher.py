"""The launcher and the environment it keeps: real shells, real virtual environments, no network."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from operations import environment
from tests.shared import CHECKOUT


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A small checkout in a folder with a space: nothing to install, a manage.py that says what it was given."""
    root = tmp_path_factory.mktemp("a place") / "check out"
    (root / "platform" / "operations").mkdir(parents=True)
    shutil.copy(CHECKOUT / "podium", root / "podium")
    shutil.copy(CHECKOUT / "platform/operations/environment.py", root / "platform/operations")
    (root / "requirements.txt").write_text("# nothing\n")
    (root / "requirements-dev.txt").write_text("# nothing either\n")
    (root / "manage.py").write_text("import json, os, sys\nprint(json.dumps([os.getcwd(), *sys.argv[1:]]))\n")
    return root


def podium(root: Path, *arguments: str, cwd: Path | None = None, **variables: str):
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PODIUM"))}
    environ["PODIUM_PYTHON"] = sys.executable
    environ.update(variables)
    return subprocess.run(
        [str(root / "podium"), *arguments],
        cwd=cwd or root,
        env={key: value for key, value in environ.items() if value},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_help_names_every_command_and_ends_with_0():
    answer = podium(CHECKOUT, "help")
    assert answer.returncode == 0
    for command in ("demo", "up", "worker", "test", "doctor", "images", "manage"):
        assert f"\n  {command} " in answer.stdout


@pytest.mark.parametrize("arguments", [(), ("dmeo",), ("--once",)])
def test_an_unknown_command_shows_the_usage_and_ends_with_2(arguments):
    answer = podium(CHECKOUT, *arguments)
    assert answer.returncode == 2
    assert "usage: ./podium" in answer.stderr
    assert answer.stdout == ""


def test_a_machine_without_a_new_enough_python_gets_the_line_that_mends_it(clone, tmp_path):
    for name in ("dirname", "readlink", "cat"):
        (tmp_path / name).symlink_to(shutil.which(name))
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python3").chmod(0o755)
    shutil.rmtree(clone / ".venv", ignore_errors=True)
    answer = podium(clone, "manage", "check", PODIUM_PYTHON="", PATH=str(tmp_path))
    assert answer.returncode == 1
    assert "apt-get install python3" in answer.stderr


def test_a_wrong_podium_python_is_named(clone):
    answer = podium(clone, "manage", "check", PODIUM_PYTHON="/nowhere/python")
    assert answer.returncode == 1
    assert "/nowhere/python" in answer.stderr


def test_the_environment_is_made_once_and_again_only_when_requirements_change(clone):
    shutil.rmtree(clone / ".venv", ignore_errors=True)
    first = podium(clone, "manage", "one two")
    assert first.returncode == 0, first.stderr
    assert "Making a virtual environment" in first.stderr
    assert json.loads(first.stdout) == [str(clone), "one two"]

    second = podium(clone, "manage")
    assert second.returncode == 0
    assert second.stderr == ""

    (clone / "requirements.txt").write_text(f"# changed at {time.time()}\n")
    third = podium(clone, "manage")
    assert "Installing" in third.stderr
    assert "Making a virtual environment" not in third.stderr
    assert podium(clone, "manage").stderr == ""


def test_it_works_from_another_folder_and_through_a_link(clone, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link"
    link.symlink_to(os.path.relpath(clone / "podium", link.parent))
    podium(clone, "manage")
    environ = {**os.environ, "PODIUM_PYTHON": sys.executable}
    answer = subprocess.run([str(link), "manage", "x"], cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert json.loads(answer.stdout) == [str(tmp_path), "x"], answer.stderr


def test_an_installation_that_failed_says_why_and_is_done_again(clone):
    podium(clone, "manage")
    (clone / "requirements.txt").write_text("./not-there.whl\n")
    failed = podium(clone, "manage")
    assert failed.returncode == 1
    assert "not-there.whl" in failed.stderr
    assert failed.stdout == ""
    assert environment.read_stamp(clone / ".venv") == {}
    (clone / "requirements.txt").write_text("# mended\n")
    assert podium(clone, "manage").returncode == 0


def test_two_launchers_at_once_install_once(clone):
    (clone / "requirements.txt").write_text(f"# at once {time.time()}\n")
    shutil.rmtree(clone / ".venv", ignore_errors=True)
    environ = {**os.environ, "PODIUM_PYTHON": sys.executable}
    both = [
        subprocess.Popen(
            [str(clone / "podium"), "manage"],
            env=environ,
            cwd=clone,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = [process.communicate(timeout=120)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert sum("Making a virtual environment" in text for text in said) == 1


def test_the_test_tools_are_asked_for_by_test_alone(clone):
    site = environment.wanted_stamp(clone, development=False)
    tests = environment.wanted_stamp(clone, development=True)
    assert set(tests) - set(site) == {"requirements-dev.txt"}


def test_an_environment_with_the_test_tools_serves_the_site_too(clone, tmp_path):
    venv = tmp_path / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").touch()
    tests = environment.wanted_stamp(clone, development=True)
    (venv / environment.STAMP).write_text(json.dumps(tests))
    assert environment.is_current(venv, environment.wanted_stamp(clone, development=False))
    (venv / environment.STAMP).write_text(json.dumps({**tests, "python": "3.11.0"}))
    assert not environment.is_current(venv, tests)


def test_a_python_without_venv_and_pip_gets_the_line_that_mends_it(tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "succeeds", lambda command: "import venv" in command)
    with pytest.raises(environment.CannotInstall, match="apt-get install python3-venv"):
        environment.make_venv(tmp_path / ".venv")


def test_a_python_without_ensurepip_uses_its_own_pip_from_outside(tmp_path, monkeypatch):
    real = environment.succeeds
    monkeypatch.setattr(
        environment, "succeeds", lambda command: "ensurepip" not in " ".join(command) and real(command)
    )
    if not environment.outer_pip(environment.base_python()):
        monkeypatch.setattr(environment, "outer_pip", lambda python: True)
    environment.make_venv(tmp_path / ".venv")
    assert not real([str(tmp_path / ".venv/bin/python"), "-I", "-c", "import pip"])
    assert "--python" in environment.pip_command(tmp_path / ".venv")


def test_progress_counts_each_package_once():
    progress = environment.Progress(3)
    for line in (
        "Collecting Django==5.2.19 (from -r requirements.txt (line 42))",
        "  Using cached django-5.2.19-py3-none-any.whl",
        "Collecting django==5.2.19",
        "Processing /wheels/annotated_types-0.8.0-py3-none-any.whl (from -r requirements.txt (line 5))",
        "Requirement already satisfied: numpy==2.4.6 in ./.venv/lib (from -r requirements.txt (line 9))",
    ):
        progress.read(line)
    assert progress.seen == {"django", "annotated-types", "numpy"}
