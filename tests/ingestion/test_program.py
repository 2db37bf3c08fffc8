"""The supervisor inside the sandbox: models of all shapes, and sentences for what goes wrong."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from ingestion.dataset import write_dataset
from ingestion.program.shapes import PredictionError, as_prediction
from ingestion.program.supervisor import make_model
from tests.shared import CHECKOUT

GOOD = """
import numpy as np
class Model:
    def fit(self, X, y):
        self.value = float(np.mean(y))
    def predict(self, X):
        return np.full(X.shape[0], self.value)
"""


def write(folder: Path, task: str) -> Path:
    X = np.arange(20, dtype=float).reshape(10, 2)
    targets = {
        "binary": np.arange(10) % 2,
        "multiclass": np.arange(10) % 3,
        "multilabel": np.stack([np.arange(10) % 2, np.arange(10) % 3 == 0], axis=1).astype(int),
        "regression": np.arange(10) / 3,
    }
    y = targets[task]
    metric = "R2" if task == "regression" else "BAC"
    parts = {"train": (X, y), "valid": (X[:4], y[:4]), "test": (X[:5], y[:5])}
    return write_dataset(folder, "toy", task=task, metric=metric, time_budget=30, **parts)


@pytest.fixture
def start(tmp_path):
    """Runs the supervisor in its own process on a toy dataset; gives exit code, error text and files."""

    def run(source: str, task: str = "binary", options=(), extra=None, **environment):
        submission, output = tmp_path / "submission", tmp_path / "output"
        submission.mkdir()
        output.mkdir()
        (submission / "model.py").write_text(textwrap.dedent(source))
        for name, text in (extra or {}).items():
            (submission / name).write_text(text)
        data = tmp_path / "data"
        if not data.exists():
            write(data, task)
        places = ["--input", str(data), "--output", str(output), "--submission", str(submission)]
        clean = {key: value for key, value in os.environ.items() if not key.startswith("PODIUM_")}
        done = subprocess.run(
            [sys.executable, "-m", "ingestion.program", *places, *options],
            cwd=submission,
            env={**clean, "PYTHONPATH": str(CHECKOUT), **environment},
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done, {path.name: path.read_text() for path in output.iterdir()}

    return run


def test_a_plain_fit_gives_one_unnumbered_prediction_for_each_part(start):
    done, files = start(GOOD)
    assert done.returncode == 0, done.stderr
    assert files == {"toy_valid.predict": "0.5\n" * 4, "toy_test.predict": "0.5\n" * 5}


def test_a_generator_gives_numbered_predictions_and_a_last_one(start):
    done, files = start("""
        import numpy as np
        class Model:
            def __init__(self, info):
                self.value = 0
            def fit(self, X, y):
                for self.value in (1, 2):
                    yield
                self.value = 3
            def predict(self, X):
                return np.full((X.shape[0], 1), self.value)
        """)
    assert done.returncode == 0, done.stderr
    numbered = {f"toy_{p}_{n:03d}.predict" for p in ("valid", "test") for n in range(3)}
    assert set(files) == numbered
    assert files["toy_test_000.predict"] == "1.0\n" * 5 and files["toy_test_002.predict"] == "3.0\n" * 5


def test_the_model_gets_parsed_info_types_and_its_clock(start):
    done, _ = start(
        """
        from ingestion.program import BaseModel
        import helper
        class model(BaseModel):
            def __init__(self, info):
                assert info["is_sparse"] is False and info["feat_num"] == 2, info
                assert info["feat_type"] == ["Numerical", "Numerical"]
                assert 20 < self.time_left() < 30, self.time_left()
            def fit(self, X, y):
                assert y.shape == (10,) and y.dtype.kind == "i" and X.dtype.kind == "f"
                return self
            def predict(self, X):
                return helper.zeros(X)
        """,
        extra={"helper.py": "def zeros(X):\n    return [0] * len(X)\n"},
        PODIUM_TIME_BUDGET="30",
    )
    assert done.returncode == 0, done.stderr


def test_processes_that_a_model_starts_read_the_same_clock(start):
    done, _ = start(
        """
        import subprocess, sys, time
        from ingestion.program import BaseModel
        class Model(BaseModel):
            def fit(self, X, y):
                time.sleep(1)
                code = "from ingestion.program import BaseModel; print(BaseModel().time_left())"
                left = float(subprocess.run([sys.executable, "-c", code], capture_output=True).stdout)
                assert left < 29, left
            def predict(self, X):
                return X[:, 0]
        """,
        PODIUM_TIME_BUDGET="30",
    )
    assert done.returncode == 0, done.stderr


def test_class_indices_become_one_hot(start):
    done, files = start(
        """
        class Model:
            def fit(self, X, y):
                pass
            def predict(self, X):
                return [0, 1, 2, 0, 1][: len(X)]
        """,
        task="multiclass",
    )
    assert done.returncode == 0, done.stderr
    assert files["toy_valid.predict"].splitlines() == ["1.0 0.0 0.0", "0.0 1.0 0.0", "0.0 0.0 1.0", "1.0 0.0 0.0"]


@pytest.mark.parametrize("task", ["binary", "multiclass", "multilabel", "regression"])
def test_targets_have_the_shape_that_the_task_asks_for(task, start):
    shape = "(10, 2)" if task == "multilabel" else "(10,)"
    columns = {"multiclass": 3, "multilabel": 2}.get(task, 1)
    done, files = start(
        f"""
        import numpy as np
        class Model:
            def fit(self, X, y):
                assert y.shape == {shape}, y.shape
            def predict(self, X):
                return np.zeros((len(X), {columns}))
        """,
        task=task,
    )
    assert done.returncode == 0, done.stderr
    assert len(files["toy_test.predict"].splitlines()[0].split()) == columns


def test_a_part_that_is_absent_is_skipped(start, tmp_path):
    write(tmp_path / "data", "binary")
    (tmp_path / "data" / "toy_valid.data").unlink()
    done, files = start(GOOD)
    assert done.returncode == 0, done.stderr
    assert set(files) == {"toy_test.predict"}


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("def fit(:\n", "failed while loading model.py: model.py line 1: invalid syntax."),
        ("import absent_package\n", "No module named 'absent_package'."),
        ("x = 1\n", "The file model.py defines no class Model."),
        ("class Model:\n    def predict(self, X): pass\n", "has no method fit."),
        ("class Model:\n    def fit(self, X, y): 1 / 0\n    def predict(self, X): pass\n", "ZeroDivisionError"),
        (
            "import sys\nclass Model:\n    def fit(self, X, y): sys.exit()\n    def predict(self, X): 0\n",
            "by itself",
        ),
        (GOOD.replace("X.shape[0]", "3"), "Predict returned shape (3,) for the valid part, (4,) or (4, 1) is"),
        (GOOD.replace("X.shape[0], self", "(len(X), 2), self"), "second column of predict_proba"),
        (GOOD.replace("return", "return None #"), "Predict returned nothing (None) for the valid part"),
        (GOOD.replace("return", "return ['a'] * 4 #"), "Predict returned a list for the valid part"),
    ],
)
def test_what_is_wrong_ends_in_one_clear_sentence(source, sentence, start):
    done, files = start(source)
    assert done.returncode == 1
    assert sentence in done.stderr.strip().splitlines()[-1]
    assert files == {}


def test_a_traceback_shows_the_participants_frames_alone(start):
    done, _ = start(
        "import json\nimport helper\n"
        "class Model:\n    def fit(self, X, y):\n        helper.read()\n    def predict(self, X): 0\n",
        extra={"helper.py": "import json\ndef read():\n    json.loads('{')\n"},
    )
    assert 'File "model.py", line 5, in fit' in done.stderr
    assert 'File "helper.py", line 3, in read' in done.stderr
    assert "supervisor" not in done.stderr and "decoder.py" not in done.stderr
    assert str(CHECKOUT) not in done.stderr
    assert "failed while running fit(): JSONDecodeError" in done.stderr.splitlines()[-1]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="groups of exceptions came with Python 3.11")
def test_errors_in_a_group_show_no_other_frames_either(start):
    done, _ = start("""
        import json
        class Model:
            def fit(self, X, y):
                try:
                    json.loads("{")
                except ValueError as error:
                    raise ExceptionGroup("several", [error])
            def predict(self, X):
                return X[:, 0]
        """)
    assert done.returncode == 1 and "ExceptionGroup" in done.stderr
    assert "decoder.py" not in done.stderr and "supervisor" not in done.stderr


def test_numbers_that_were_written_stay_when_a_later_one_fails(start):
    done, files = start("""
        class Model:
            def fit(self, X, y):
                yield
                raise MemoryError
            def predict(self, X):
                return X[:, 0]
        """)
    assert done.returncode == 1 and "memory did not suffice" in done.stderr
    assert set(files) == {"toy_valid_000.predict", "toy_test_000.predict"}


def test_a_broken_dataset_is_not_the_participants_fault(start, tmp_path):
    write(tmp_path / "data", "binary")
    (tmp_path / "data" / "toy_train.data").write_text("1 2\n3 x\n")
    done, _ = start(GOOD)
    assert done.returncode == 3
    assert done.stderr == "The dataset cannot be read: toy_train.data line 2: 'x' is not a number.\n"


LOADER = """
class Model:
    def fit(self, X, y): raise AssertionError("fitted")
    def load(self, path):
        self.value = float(open(path + "_model.txt").read())
    def predict(self, X): return [self.value] * len(X)
"""


def test_a_trained_model_is_loaded_only_where_the_phase_allows_it(start):
    done, files = start(LOADER, options=["--load-models"], extra={"toy_model.txt": "0.25"})
    assert done.returncode == 0, done.stderr
    assert files["toy_test.predict"] == "0.25\n" * 5


def test_a_trained_model_of_another_dataset_is_not_taken(start):
    done, _ = start(LOADER, options=["--load-models"], extra={"toy2_model.txt": "0.25"})
    assert done.returncode == 1 and "fitted" in done.stderr


def test_without_the_setting_a_trained_model_is_not_loaded(start):
    done, _ = start(LOADER, extra={"toy_model.txt": "0.25"})
    assert done.returncode == 1 and "fitted" in done.stderr


@pytest.mark.parametrize("seed", ["0", "7", "99999999999"])
def test_the_same_seed_gives_the_same_numbers(seed, start):
    done, files = start(GOOD.replace("self.value)", "np.random.rand())"), PODIUM_SEED=seed)
    assert done.returncode == 0, done.stderr
    np.random.seed(int(seed) % 2**32)
    assert float(files["toy_valid.predict"].split()[0]) == np.random.rand()


def test_it_starts_by_its_path_as_well(tmp_path):
    data = write(tmp_path / "data", "regression")
    (tmp_path / "model.py").write_text(GOOD)
    path = CHECKOUT / "ingestion" / "program" / "__main__.py"
    places = ["--input", str(data), "--output", str(tmp_path), "--submission", str(tmp_path)]
    done = subprocess.run([sys.executable, str(path), *places], cwd=tmp_path, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "toy_test.predict").is_file()


class WithInfo:
    def __init__(self, info):
        self.got = info


class WithoutArguments:
    got = None


class WithOptionalInfo:
    def __init__(self, info=None):
        self.got = info


class LikeAnEstimator:
    def __init__(self, n_neighbors=5, *, weights="uniform"):
        self.got = None if n_neighbors == 5 else n_neighbors


class WithAnyArguments:
    def __init__(self, *args, **kwargs):
        self.got = args[0] if args else None


@pytest.mark.parametrize(
    ("model_class", "gets_info"),
    [
        (WithInfo, True),
        (WithOptionalInfo, True),
        (WithAnyArguments, True),
        (WithoutArguments, False),
        (LikeAnEstimator, False),
    ],
)
def test_info_is_given_to_classes_that_ask_for_it(model_class, gets_info):
    info = {"task": "regression"}
    assert (make_model(model_class, info).got is info) is gets_info


@pytest.mark.parametrize(
    ("returned", "columns", "task"),
    [
        (np.zeros((3, 2)), 3, "multiclass.classification"),
        (np.array([0, 1, 3]), 3, "multiclass.classification"),
        (np.array([0, 0.5, 1]), 3, "multiclass.classification"),
        (np.zeros(3), 2, "multilabel.classification"),
        (np.zeros((1, 3)), 1, "regression"),
        (np.zeros(3, dtype=complex), 1, "regression"),
        (1.0, 1, "regression"),
        ([[1], [2, 3], [4]], 1, "regression"),
    ],
)
def test_other_shapes_are_refused_with_the_part_and_what_is_expected(returned, columns, task):
    with pytest.raises(PredictionError, match="the test part"):
        as_prediction(returned, "test", 3, columns, task)
