"""The readiness check: fragile submissions fail exactly where they should, sound ones nowhere."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from ingestion.options import AT_FAULT, OK, OUR_FAULT, USAGE
from ingestion.predictions import UnreadablePrediction, read_prediction
from ingestion.readiness import ReadinessRequest, check_traits, ticks, trial_budget, why_not_checked
from ingestion.readiness_grid import Grid, details, summary
from ingestion.sandbox.unconfined import UnconfinedSandbox
from ingestion.traits import TRAITS, trait_named
from ingestion.verdict import RunResult
from tests.ingestion.runs import usable_sandbox, write_model

SPARSE = {"sparse", "sparse_binary", "sparse_multilabel"}

# A sound model that needs no package but numpy, so that a run takes a moment.
SOUND = """
import numpy as np
class Model:
    def __init__(self, info):
        self.info, self.columns = info, int(info["target_num"])
    def fit(self, X, y):
        self.check(X, y)
        self.mean = np.atleast_1d(np.asarray(y, dtype=float).mean(axis=0))
    def check(self, X, y): pass
    def predict(self, X):
        return np.full((X.shape[0], self.columns), 0.5)
"""


def model(more=""):
    return textwrap.dedent(SOUND) + textwrap.indent(textwrap.dedent(more), "    ")


# Programs in plain Python start in a moment, so that each can be tried on every trait.
PROGRAM = """
import pathlib, sys
source, target = map(pathlib.Path, sys.argv[1:])
name = next(source.glob("*_public.info")).name.removesuffix("_public.info")
info = dict(line.split(" = ", 1) for line in (source / f"{name}_public.info").read_text().splitlines())
info = {key: value.strip("'") for key, value in info.items()}
def read(file):
    return [line.split() for line in (source / f"{name}_{file}").read_text().split("\\n")[:-1]]
X, y, types = read("train.data"), read("train.solution"), (source / f"{name}_feat.type").read_text()
columns = int(info["target_num"])
CHECK
for part in ("valid", "test"):
    if int(info[f"{part}_num"]):
        lines = (" ".join(["0.5"] * columns) + "\\n") * int(info[f"{part}_num"])
        (target / f"{name}_{part}.predict").write_text(lines)
"""

CLASSES = {"multiclass", "rare_class"}
LABELS = {"multilabel", "sparse_multilabel"}
FRAGILE_PROGRAMS = {
    "sound": ("", set()),
    "fails on NaN": ("assert all(word != 'NaN' for row in X for word in row)", {"missing"}),
    "reads dense data only": ("assert all(len([float(word) for word in row]) == len(X[-1]) for row in X)", SPARSE),
    "divides by the sum of the first row": ("assert X[0]", {"sparse_binary"}),
    "takes one target column": ("assert len(y[0]) == 1", CLASSES | LABELS),
    "takes no regression": ("assert info['task'].endswith('classification')", {"regression"}),
    "splits rows by class": (
        "assert 'multiclass' not in info['task'] or min(map(sum, zip(*[map(float, row) for row in y]))) >= 5",
        {"rare_class"},
    ),
    "wants a validation part": ("read('valid.data')", {"no_valid"}),
    "wants several features": ("assert int(info['feat_num']) > 1", {"one_feature"}),
    "wants more rows than features": ("assert len(X) > int(info['feat_num'])", {"wide", *SPARSE}),
    "has no memory for many rows": ("assert len(X) < 5000", {"long"}),
    "knows numbers alone": ("assert 'Categorical' not in types", {"categorical"}),
    "writes one column": ("columns = 1", CLASSES | LABELS),
}
FRAGILE_MODELS = {
    "sound": ("", set()),
    "takes dense data only": ("def check(self, X, y): np.asarray(X, dtype=float)[0, 0]", SPARSE),
    "predicts NaN where values are missing": (
        "def predict(self, X):\n"
        "    rows = np.zeros(X.shape[0]) if hasattr(X, 'toarray') else X.sum(axis=1)\n"
        "    return np.repeat(0.5 + 0 * rows[:, None], self.columns, axis=1)",
        {"missing"},
    ),
}


def program(folder, more):
    folder.mkdir()
    (folder / "metadata").write_text("command: python3 $program/main.py $input $output\n")
    (folder / "main.py").write_text(PROGRAM.replace("CHECK", more))
    return folder


def request_for(tmp_path, submission, traits=TRAITS):
    return ReadinessRequest(
        submission=submission,
        output=tmp_path / "output",
        budget=trial_budget(120, cores=1),
        sandbox=UnconfinedSandbox(),
        traits=traits,
        owner="tests",
    )


def check(tmp_path, source, traits=TRAITS, **options):
    return check_traits(request_for(tmp_path, write_model(tmp_path / "submission", source), traits), **options)


def assert_fails_exactly(rows, expected):
    assert [row.trait for row in rows] == [trait.name for trait in TRAITS], "every trait has its row"
    assert {row.trait for row in rows if not row.ok} == expected, summary(rows)
    for row in rows:
        assert row.log_path is not None and row.log_path.is_file()
        assert (row.reason is None) == row.ok
        assert row.sentence


@pytest.mark.parametrize("name", FRAGILE_PROGRAMS)
def test_a_program_fails_exactly_the_traits_that_it_cannot_take(tmp_path, name):
    more, expected = FRAGILE_PROGRAMS[name]
    rows = check_traits(request_for(tmp_path, program(tmp_path / "submission", more)))
    assert_fails_exactly(rows, expected)


@pytest.mark.parametrize("name", FRAGILE_MODELS)
def test_a_model_fails_exactly_the_traits_that_it_cannot_take(tmp_path, name):
    more, expected = FRAGILE_MODELS[name]
    assert_fails_exactly(check(tmp_path, model(more)), expected)


def test_a_row_says_what_was_left_for_each_part(tmp_path):
    names = ("missing", "no_valid", "multilabel")
    traits = [trait_named(name) for name in names]
    rows = dict(
        zip(
            names,
            check(tmp_path, model(FRAGILE_MODELS["predicts NaN where values are missing"][0]), traits),
            strict=True,
        )
    )
    assert ticks(rows["missing"].ran, rows["missing"].parts) == {
        "ran": True,
        "valid": True,
        "test": True,
        "shape": True,
        "finite": False,
    }
    assert rows["missing"].reason == "bad_predictions"
    assert "missing_test.predict holds" in rows["missing"].sentence
    assert ticks(rows["no_valid"].ran, rows["no_valid"].parts) == {
        "ran": True,
        "valid": None,
        "test": True,
        "shape": True,
        "finite": True,
    }
    assert rows["multilabel"].ok


def test_too_few_columns_are_told_with_the_shape_that_is_expected(tmp_path):
    submission = program(tmp_path / "submission", "columns = 1")
    (row,) = check_traits(request_for(tmp_path, submission, [trait_named("multiclass")]))
    assert (row.ran, row.reason) == (True, "bad_predictions")
    assert "multiclass_test.predict has 60 rows of 1 columns; 60 of 5 are expected." in row.sentence


def test_what_is_stopped_from_outside_has_no_row_and_nothing_more_is_tried(tmp_path):
    stop, started = threading.Event(), []

    def begin(trait):
        started.append(trait.name)
        if len(started) == 2:
            stop.set()

    rows = check(tmp_path, model(), stop=stop, on_start=begin)
    assert started == ["dense", "sparse"]
    assert [row.trait for row in rows] == ["dense"]
    assert summary(rows) == f"Stopped after 1 of {len(TRAITS)} traits; 0 of them failed."


def test_a_failure_of_ours_ends_the_check_and_is_not_the_submissions(tmp_path, monkeypatch):
    failed = RunResult("failed", "infrastructure", "The sandbox failed: no room.")
    monkeypatch.setattr("ingestion.readiness.run", lambda *_, **__: failed)
    rows = check(tmp_path, model())
    assert [row.reason for row in rows] == ["infrastructure"]
    assert "says nothing of the submission" in summary(rows)


def test_a_submission_without_code_and_a_bad_archive_are_told_once(tmp_path):
    (tmp_path / "bad.zip").write_text("no zip")
    assert "Nothing can be tried" in why_not_checked(tmp_path / "bad.zip")
    assert "There is no submission" in why_not_checked(tmp_path / "nothing.zip")
    assert why_not_checked(write_model(tmp_path / "good", model())) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.1 0.9\n0.8 0.2\n", [[0.1, 0.9], [0.8, 0.2]]),
        ("# a comment\n1\n\n2 # another\n", [[1], [2]]),
        ("nan\ninf\n", [[float("nan")], [float("inf")]]),
    ],
)
def test_text_predictions_are_read(tmp_path, text, expected):
    path = tmp_path / "a_test.predict"
    path.write_text(text)
    np.testing.assert_array_equal(read_prediction(path), np.array(expected))


@pytest.mark.parametrize("text", ["one\n", "1 2\n3\n", "1_000\n", "1,2\n"])
def test_text_that_is_no_table_is_named_with_its_line(tmp_path, text):
    path = tmp_path / "a_test.predict"
    path.write_text(text)
    with pytest.raises(UnreadablePrediction, match=r"a_test\.predict, line \d"):
        read_prediction(path)


def test_a_pickle_in_an_npy_file_is_never_opened(tmp_path):
    np.save(tmp_path / "good.npy", np.arange(3.0))
    assert read_prediction(tmp_path / "good.npy").shape == (3, 1)
    np.save(tmp_path / "bad.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(UnreadablePrediction, match="no table of numbers"):
        read_prediction(tmp_path / "bad.npy")


def test_the_grid_has_a_line_for_each_row_and_the_end_of_each_failed_log(tmp_path, capsys):
    traits = [trait_named("dense"), trait_named("missing")]
    source = model("def check(self, X, y):\n    print('looking')\n    assert not np.isnan(X).any(), 'gaps'")
    grid = Grid(sys.stdout, total=len(traits))
    grid.head()
    rows = check(tmp_path, source, traits, on_start=grid.begin, progress=grid.progress, on_row=grid.row)
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed[2:]] == ["✓", "✗"]
    assert printed[3].endswith("crashed")
    told = "\n".join(details(rows))
    assert "missing: missing values" in told and "| looking" in told and "gaps" in told
    assert f"Whole log: {rows[1].log_path}" in told and "dense:" not in told


# The command -----------------------------------------------------------------------------------------------


def command(*words, **options):
    line = [sys.executable, "-m", "ingestion", "check-traits", "--sandbox", "unconfined", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, check=False, **options)


def test_the_command_prints_the_grid_and_says_beforehand_how_long_it_takes(tmp_path):
    code = write_model(tmp_path / "code", model())
    done = command("--submission", code, "--output", tmp_path / "out", "--cores", "1")
    assert done.returncode == OK, done.stderr
    assert "at most 20 s each: at most 6 min in all" in done.stderr
    assert sum(line.startswith("✓") for line in done.stdout.splitlines()) == len(TRAITS)
    assert f"Ready: it ran on datasets of all {len(TRAITS)} traits." in done.stdout
    assert (tmp_path / "out" / "wide" / "log.txt").is_file()
    assert (tmp_path / "out" / "datasets" / "wide" / "wide_train.data").is_file()


def test_the_last_line_of_json_has_a_row_for_each_trait(tmp_path):
    code = write_model(tmp_path / "code", model("def check(self, X, y): assert X.shape[1] > 1, 'one'"))
    done = command("--submission", code, "--output", tmp_path / "out", "--json")
    assert done.returncode == AT_FAULT
    assert len(done.stdout.splitlines()) == 1
    found = json.loads(done.stdout)
    assert found["ok"] is False and found["sentence"].endswith("(one_feature).")
    assert len(found["rows"]) == len(TRAITS)
    for row in found["rows"]:
        assert row.keys() >= {"trait", "task", "ok", "reason", "sentence", "wall_seconds", "parts"}
    failed = next(row for row in found["rows"] if not row["ok"])
    assert (failed["trait"], failed["reason"]) == ("one_feature", "crashed")
    assert "AssertionError: one" in failed["log_tail"]
    assert failed["parts"]["test"] == {"predicted": False, "shape": False, "finite": False}


def test_a_missing_submission_is_the_input_at_fault_and_a_wrong_option_is_usage(tmp_path):
    done = command("--submission", tmp_path / "nothing", "--json")
    assert done.returncode == AT_FAULT
    assert json.loads(done.stdout) == {
        "ok": False,
        "sentence": f"There is no submission at {tmp_path / 'nothing'}.",
        "rows": [],
    }
    for wrong in (["--memory", "lots"], ["--cores", "0"], ["--wall-seconds", "soon"], []):
        words = ["--submission", tmp_path, *wrong] if wrong else []
        assert command(*words).returncode == USAGE


def test_no_sandbox_is_our_fault(tmp_path):
    code = write_model(tmp_path / "code", model())
    line = [sys.executable, "-m", "ingestion", "check-traits", "--submission", str(code), "--sandbox", "docker"]
    environment = {**os.environ, "DOCKER_HOST": "unix:///nowhere/docker.sock"}
    done = subprocess.run([*line, "--json"], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == OUR_FAULT
    assert "docker" in json.loads(done.stdout)["sentence"]


def test_an_interrupt_ends_the_program_too_and_tells_what_was_done(tmp_path):
    left = tmp_path / "pid"
    source = model(
        f"def check(self, X, y):\n    import os, time\n    open({str(left)!r}, 'w').write(str(os.getpid()))\n"
        "    time.sleep(600)"
    )
    code = write_model(tmp_path / "code", source)
    line = [
        sys.executable,
        "-m",
        "ingestion",
        "check-traits",
        "--sandbox",
        "unconfined",
        "--submission",
        str(code),
    ]
    line += ["--output", str(tmp_path / "out"), "--wall-seconds", "600"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not (left.exists() and left.read_text()):
            assert process.poll() is None
            threading.Event().wait(0.05)
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=60)
    assert process.returncode == AT_FAULT
    assert f"Stopped after 0 of {len(TRAITS)} traits" in printed
    with pytest.raises(ProcessLookupError):
        os.kill(int(left.read_text()), 0)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("docker", "bubblewrap")]
)
def test_a_check_goes_through_a_real_sandbox(tmp_path, name):
    sandbox = usable_sandbox(name)
    source = model(
        "def check(self, X, y):\n"
        "    import os\n"
        "    print('files', sorted(os.listdir(os.getcwd() + '/../input_data')))\n"
        "    assert X.shape[1] > 1, 'one feature'"
    )
    request = ReadinessRequest(
        submission=write_model(tmp_path / "submission", source),
        output=tmp_path / "output",
        budget=trial_budget(120, cores=1, memory_bytes=2**29),
        sandbox=sandbox,
        traits=[trait_named(trait) for trait in ("sparse_binary", "one_feature", "no_valid")],
        owner="tests",
    )
    sparse, one, without = check_traits(request)
    assert sparse.ok and without.ok, (sparse.sentence, without.sentence)
    assert (one.ok, one.reason) == (False, "crashed") and "one feature" in one.log_tail
    assert "sparsebinary_train.data" in sparse.log_tail and "_test.solution" not in sparse.log_tail
