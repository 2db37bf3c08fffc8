"""The benchmark runs; what it measures is for people to read and never a reason to fail."""

import subprocess
import sys

import pytest

from benchmarks.reference import load_reference, score_with_reference
from scoring import score
from tests.scoring.test_properties import make
from tests.shared import CHECKOUT

# In the manner of the kit of 2015: Python 2, and imports that are gone.
OLD_SCORER = """
import numpy as np
import scipy as sp
from sklearn.preprocessing import *
from pip import get_installed_distributions as lib
import psutil

def sanitize_array(array):
    return array

def r2_metric(solution, prediction, task='regression'):
    kept = filter(lambda x: x == x, np.ravel(solution))
    mean = reduce(lambda a, b: a + b, kept) / len(kept)
    error = map(lambda x: x ** 2, np.ravel(solution - prediction))
    return sp.maximum(-9., 1 - sum(error) / sum((solution - mean) ** 2)[0])
"""


def test_a_scorer_written_for_python_two_can_be_lent_what_it_misses(tmp_path):
    (tmp_path / "libscores.py").write_text(OLD_SCORER)
    functions = load_reference(tmp_path)
    drawn = make("regression", 1, 30)
    found = score_with_reference(functions, drawn.solution, drawn.prediction, task="regression", metric="R2")
    ours = score(drawn.solution, drawn.prediction, task="regression", metric="R2", stderr=False)
    assert found == pytest.approx(ours.value)


def test_it_prints_ratio_peak_and_bar_of_every_scorer(tmp_path):
    (tmp_path / "libscores.py").write_text(OLD_SCORER)
    done = subprocess.run(
        [sys.executable, "benchmarks/scoring.py", "--only", "r2", "--scale", "0.001",
         "--reference", str(tmp_path)],
        cwd=CHECKOUT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    head, r2 = done.stdout.splitlines()
    assert "peak" in head
    assert r2.startswith("R2, 5 M")
    assert r2.count("MB") == 3
    assert r2.rpartition("| ")[2]
