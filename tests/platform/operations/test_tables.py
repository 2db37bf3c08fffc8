"""Commands before the first start of the site say what to do, without a traceback."""

import os
import subprocess
import sys

import pytest

from tests.shared import CHECKOUT


@pytest.mark.parametrize(
    "command",
    [
        ["createsuperuser", "--noinput", "--username", "olga", "--email", "olga@example.org"],
        ["allow_organizer", "olga"],
    ],
)
def test_a_command_before_the_first_start_says_what_to_do(command, tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    answer = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=CHECKOUT,
        env={
            **{name: value for name, value in os.environ.items() if name != "DATABASE_URL"},
            "PODIUM_HOME": str(home),
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DJANGO_SUPERUSER_PASSWORD": "correct horse battery",
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert answer.returncode == 1
    assert "./podium up" in answer.stderr
    assert "Traceback" not in answer.stderr
