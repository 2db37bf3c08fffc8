"""`platform/` and `docker/` share names with a module and a package; they must not stand in front of them."""

import subprocess
import sys

import pytest

from tests.shared import CHECKOUT

CODE = "import platform, docker; print(platform.python_version()); print(docker.DockerClient.__name__)"


@pytest.mark.parametrize("folder", ["platform", "docker"])
def test_the_folder_has_no_init_file(folder):
    assert (CHECKOUT / folder).is_dir()
    assert not (CHECKOUT / folder / "__init__.py").exists()


@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, "-c", CODE],
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", CODE],
    ],
)
def test_the_standard_library_and_the_docker_package_are_the_ones_imported(command, tmp_path):
    environ = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(CHECKOUT), "PODIUM_HOME": str(tmp_path / "home")}
    answer = subprocess.run(command, cwd=CHECKOUT, env=environ, capture_output=True, text=True)
    assert answer.stdout.split()[-2:] == [".".join(map(str, sys.version_info[:3])), "DockerClient"], answer.stderr
