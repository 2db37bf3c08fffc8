"""The command line: fields, exit codes, and nothing but the object on the last line."""

import json
import lzma
import os
import subprocess
import sys

import pytest

from scoring import command
from tests.shared import CHECKOUT


@pytest.fixture
def files(tmp_path):
    (tmp_path / "toy_test.solution").write_text("0\n1\n0\n1\n")
    (tmp_path / "toy_test.predict").write_text("0.1\n0.9\n0.4\n0.3\n")
    (tmp_path / "toy_public.info").write_text(
        "name='toy'\ntask = 'binary.classification'\nmetric='auc_metric'\r\n"
    )
    return tmp_path


def run(capsys, *arguments):
    """Exit code and the object on the last line of standard output."""
    code = command.main([str(argument) for argument in arguments] + ["--json"])
    return code, json.loads(capsys.readouterr().out.splitlines()[-1])


def test_it_prints_the_promised_fields(files, capsys):
    given = [files / "toy_test.solution", files / "toy_test.predict", "--task", "binary", "--metric", "AUC"]
    code, answer = run(capsys, *given)
    assert code == 0
    assert list(answer) == ["task", "metric", "convention", "value", "raw", "stderr", "left_out"]
    assert (answer["metric"], answer["value"], answer["raw"], answer["left_out"]) == ("AUC", 0.5, 0.75, 0)
    assert answer["stderr"] > 0
    assert run(capsys, *given, "--no-stderr")[1]["stderr"] is None


def test_task_and_metric_come_from_the_info_file_unless_given(files, capsys):
    given = [files / "toy_test.solution", files / "toy_test.predict", "--info", files / "toy_public.info"]
    assert run(capsys, *given)[1]["metric"] == "AUC"
    assert run(capsys, *given, "--metric", "bac_metric")[1]["metric"] == "BAC"


def test_a_bad_prediction_is_exit_code_one_with_error_and_message(files, capsys):
    (files / "toy_test.predict").write_text("0.1\nnan\n")
    code, answer = run(
        capsys, files / "toy_test.solution", files / "toy_test.predict", "--task", "binary", "--metric", "auc"
    )
    assert code == 1
    assert answer == {
        "error": "BadPredictionError",
        "message": "toy_test.predict, line 2, column 1: 'nan' is not a finite number.",
    }


def test_a_wrong_row_count_names_the_file(files, capsys):
    (files / "toy_test.predict").write_text("0.1\n0.2\n")
    code, answer = run(
        capsys, files / "toy_test.solution", files / "toy_test.predict", "--task", "binary", "--metric", "auc"
    )
    assert (code, answer["message"]) == (1, "toy_test.predict has 2 rows, 4 are expected.")


def test_an_unknown_metric_is_a_matter_of_usage_and_a_wrong_info_file_is_not(files, capsys):
    given = [files / "toy_test.solution", files / "toy_test.predict"]
    assert run(capsys, *given, "--task", "binary", "--metric", "best")[0] == 2
    assert run(capsys, *given, "--info", files / "toy_public.info", "--metric", "best")[0] == 2
    (files / "toy_public.info").write_text("task = 'binary.classification'\nmetric = 'best'\n")
    assert run(capsys, *given, "--info", files / "toy_public.info")[0] == 1
    with pytest.raises(SystemExit) as left:
        command.main([str(path) for path in given])
    assert left.value.code == 2


def test_our_own_fault_is_exit_code_three(files, capsys, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("a bug")

    monkeypatch.setattr(command, "score", broken)
    code, answer = run(
        capsys, files / "toy_test.solution", files / "toy_test.predict", "--task", "binary", "--metric", "auc"
    )
    assert (code, answer["error"]) == (3, "RuntimeError")


def test_nan_and_infinity_of_the_reference_are_words_in_json(files, capsys):
    (files / "toy_test.solution").write_text("1\n1\n1\n1\n")
    given = [files / "toy_test.solution", files / "toy_test.predict", "--task", "binary", "--metric", "auc"]
    assert run(capsys, *given, "--convention", "libscores")[1]["value"] == "NaN"
    code, answer = run(capsys, *given)
    assert (code, answer["error"]) == (1, "UndefinedMetricError")


def test_it_runs_as_a_module_without_json(files):
    given = [files / "toy_test.solution", files / "toy_test.predict"]
    done = subprocess.run(
        [sys.executable, "-m", "scoring", *given, "--task", "binary", "--metric", "bac", "--no-stderr"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "BAC (binary.classification, chapter): 0.500000000000\n"


def replay_folder(folder, *, score):
    (folder / "reference").mkdir()
    for name in ("toy_test.solution", "toy_public.info"):
        (folder / name).rename(folder / "reference" / name)
    # A name that begins alike must not lend its metric.
    (folder / "reference" / "toyland_public.info").write_text("task = 'regression'\nmetric = 'r2_metric'\n")
    packed = lzma.compress((folder / "toy_test.predict").read_bytes())
    (folder / "toy_test.predict.xz").write_bytes(packed)
    entry = {"file": "toy_test.predict.xz", "dataset": "toy", "score": score, "published_score": None}
    (folder / "expected.json").write_text(json.dumps([entry]))


@pytest.mark.parametrize("score, ok", [(0.5, True), (0.50001, False)])
def test_replay_compares_with_what_is_expected(files, capsys, score, ok):
    replay_folder(files, score=score)
    code, answer = run(capsys, "replay", files)
    assert code == (0 if ok else 1)
    row = {"file": "toy_test.predict.xz", "dataset": "toy", "value": 0.5, "expected": score, "ok": ok}
    assert answer == {"rows": [row], "ok": ok}


def test_replay_says_which_file_is_missing_and_goes_on(files, capsys):
    replay_folder(files, score=0.5)
    (files / "toy_test.predict.xz").unlink()
    code, answer = run(capsys, "replay", files)
    assert code == 1
    assert "does not exist" in answer["rows"][0]["message"]
    assert answer["rows"][0]["value"] is None


def test_replay_of_a_folder_without_expectations_is_the_inputs_fault(tmp_path, capsys):
    assert run(capsys, "replay", tmp_path)[0] == 1
    for content in ("{}", "[" * 100_000, '[{"file": 1, "dataset": "a", "score": 0.5}]', "[1]", "\udcff"):
        (tmp_path / "expected.json").write_bytes(content.encode("utf-8", "surrogateescape"))
        assert run(capsys, "replay", tmp_path)[0] == 1


@pytest.mark.parametrize(
    "arguments", [[], ["one"], ["a", "b", "--convention", "book"], ["a", "b"], ["replay"], ["a", "b", "--what"]]
)
def test_wrong_usage_is_exit_code_two(arguments):
    with pytest.raises(SystemExit) as left:
        command.main(arguments)
    assert left.value.code == 2


def test_an_info_file_that_cannot_be_read_is_the_inputs_fault(files, capsys):
    given = [files / "toy_test.solution", files / "toy_test.predict", "--info"]
    os.mkfifo(files / "pipe")
    for name in ("absent.info", "pipe", "."):
        code, answer = run(capsys, *given, files / name)
        assert (code, answer["error"]) == (1, "BadSolutionError")
    (files / "toy_public.info").write_bytes(b"\xff\xfe\x00 = \x80\n" * 1000)
    assert run(capsys, *given, files / "toy_public.info")[0] == 1


def test_replay_prints_a_table_for_people(files, capsys):
    replay_folder(files, score=0.5)
    assert command.main(["replay", str(files), "--convention", "libscores"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 of 1 agree to 1e-9."
