"""The suite of the platform's core once more, on a real PostgreSQL."""

import os
import subprocess
import sys

import pytest

from tests.shared import CHECKOUT

pytestmark = pytest.mark.services

# Where transactions, locks and orders of rows decide; what else the platform does is the same on every database.
CORE = [
    "tests/platform/analysis/test_basic_methods.py",
    "tests/platform/analysis/test_run_on.py",
    "tests/platform/analysis/test_work.py",
    "tests/platform/api",
    "tests/platform/competitions",
    "tests/platform/leaderboards",
    "tests/platform/submissions",
]


def test_the_core_of_the_platform_does_on_postgresql_what_it_does_on_sqlite(postgresql):
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "not sqlite", "--durations=5", *CORE],
        cwd=CHECKOUT,
        env={**os.environ, "DATABASE_URL": postgresql.url()},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert answer.returncode == 0, answer.stdout[-12_000:] + answer.stderr[-3000:]
    assert "database: postgresql" in answer.stdout
