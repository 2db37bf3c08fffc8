"""The first step: code, ingestion programs, or both leave predictions."""

import threading

import pytest

from ingestion.budget import MIB
from ingestion.programs import predict
from ingestion.sandbox.unconfined import UnconfinedSandbox
from tests.ingestion.programs.steps import Steps, files_of

MODEL = "def predict(values):\n    return [2 * value for value in values]\n"
INGEST = """
    import os, sys
    source, output, submission = sys.argv[1:4]
    sys.path.append(submission)
    from model import predict
    values = [float(line) for line in open(f"{source}/values.txt")]
    os.makedirs(f"{output}/deep/er")
    open(f"{output}/deep/er/answers.txt", "w").write(" ".join(map(str, predict(values))))
"""


@pytest.fixture
def values(tmp_path):
    steps = Steps(None, tmp_path / "values")
    steps.folder.mkdir()
    return steps.packed({"values.txt": "1\n2\n"})


@pytest.mark.parametrize("layout", [1, 2])
def test_an_ingestion_program_meets_the_submission_and_the_input_data(steps, values, layout):
    result = steps.predict(
        steps.zip(model__py=MODEL), ingestion=steps.ingestion(INGEST), input_data=values, layout=layout
    )
    assert result.status == "ok", result
    assert files_of(result.predictions)["deep/er/answers.txt"] == "2.0 4.0"
    assert result.ingestion_exit_code == 0 and result.exit_code is None
    assert result.metadata["ingestionElapsedTime"] > 0


@pytest.mark.parametrize("layout", [1, 2])
def test_code_runs_by_its_own_command_with_input_data_and_may_write_beside_itself(steps, values, layout):
    source = """
        import os, pathlib, sys
        here = pathlib.Path(__file__).parent
        (here / "model.bin").write_text("kept while it runs")
        rows = open(f"{sys.argv[1]}/values.txt").read().split()
        where = [os.getcwd(), os.environ["HOME"], str(os.getuid() != 0), (here / "model.bin").read_text()]
        pathlib.Path(sys.argv[2], "rows.txt").write_text("|".join([*rows, *where]))
    """
    code = steps.packed({"metadata": "command: python3 $program/run.py $input $output", "run.py": source})
    result = steps.predict(code, input_data=values, layout=layout)
    assert result.status == "ok", result
    start = {1: "/app", 2: "/app/program"}[layout]
    assert files_of(result.predictions)["rows.txt"] == f"1|2|{start}|/tmp|True|kept while it runs"
    assert result.exit_code == 0 and result.ingestion_exit_code is None


@pytest.mark.parametrize("layout", [1, 2])
def test_a_command_may_name_its_script_by_the_bare_path(steps, layout):
    source = "import sys; open(sys.argv[1] + '/said.txt', 'w').write(open('beside.txt').read())"
    files = {"metadata": "command: python3 code/run.py $output", "code/run.py": source, "beside.txt": "here"}
    result = steps.predict(steps.packed(files), layout=layout)
    assert result.status == "ok", result
    assert files_of(result.predictions)["said.txt"] == "here"


@pytest.mark.parametrize("layout", [1, 2])
def test_code_with_a_command_and_an_ingestion_program_run_at_the_same_time(steps, layout):
    code = """
        import os, time
        while not os.path.exists("/app/output/question"):
            time.sleep(0.02)
        open("/app/output/answer", "w").write("42")
    """
    ingest = """
        import os, time
        open("/app/output/question", "w").write("?")
        while not os.path.exists("/app/output/answer"):
            time.sleep(0.02)
    """
    submission = steps.packed({"metadata": "command: python3 $program/run.py", "run.py": code})
    result = steps.predict(submission, ingestion=steps.ingestion(ingest), layout=layout)
    assert result.status == "ok", result
    assert files_of(result.predictions) == {"answer": "42", "question": "?"}
    assert (result.exit_code, result.ingestion_exit_code) == (0, 0)


def test_labels_for_hidden_reach_the_ingestion_program_and_not_the_submission(steps):
    code = """
        import os
        open("/app/output/seen", "w").write(str(os.path.exists("/app/hidden_ref")))
    """
    ingest = "import sys; open('/app/output/labels', 'w').write(open(sys.argv[1] + '/labels.txt').read())"
    result = steps.predict(
        steps.packed({"metadata": "command: python3 $program/run.py", "run.py": code}),
        ingestion=steps.ingestion(ingest, "python3 $ingestion_program/ingest.py $hidden"),
        hidden=steps.packed({"labels.txt": "secret"}),
        layout=1,
    )
    assert files_of(result.predictions) == {"labels": "secret", "seen": "False"}


def test_no_file_of_a_submission_lies_beside_labels_that_an_ingestion_program_reads(steps):
    """Else a submission's `sitecustomize.py`, or its `json.py`, would run there before the program does."""
    spy = "open('/app/output/stolen', 'w').write(open('/app/hidden_ref/labels.txt').read())"
    ingest = """
        import json, os
        open("/app/output/seen", "w").write(str(os.path.exists("/app/program/model.py")))
    """
    for command in ("", "command: python3 -c pass\n"):
        files = {"model.py": MODEL, "sitecustomize.py": spy, "json.py": spy}
        result = steps.predict(
            steps.packed({**files, "metadata": command} if command else files),
            ingestion=steps.ingestion(ingest, "python3 $ingestion_program/ingest.py $hidden"),
            hidden=steps.packed({"labels.txt": "secret"}),
            layout=1,
        )
        assert files_of(result.predictions) == {"seen": "False"}, result


def test_results_are_taken_as_they_are_without_a_sandbox(tmp_path):
    steps = Steps(UnconfinedSandbox(), tmp_path)
    result = steps.predict(steps.packed({"answers/a.txt": "1", "b.txt": "2"}))
    assert result.status == "ok" and result.log_path is None
    assert files_of(result.predictions) == {"answers/a.txt": "1", "b.txt": "2"}


def test_with_codabench_results_without_metadata_lie_in_the_output_before_ingestion_starts(quick):
    ingest = "import os, sys; open(sys.argv[2] + '/seen', 'w').write(' '.join(sorted(os.listdir(sys.argv[2]))))"
    result = quick.predict(quick.packed({"answers.txt": "1"}), ingestion=quick.ingestion(ingest))
    assert files_of(result.predictions) == {"answers.txt": "1", "seen": "answers.txt seen"}


def test_with_codalab_an_ingestion_program_takes_up_code_alone(quick):
    ingest = quick.ingestion("raise SystemExit(3)")
    assert quick.predict(quick.packed({"answers.txt": "1"}), ingestion=ingest, layout=1).status == "ok"
    assert quick.predict(quick.zip(model__py=MODEL), ingestion=ingest, layout=1).reason == "ingestion_failed"


def test_one_folder_around_a_program_is_stepped_into(quick):
    ingest = quick.packed(
        {
            "program/metadata": "command: sh $ingestion_program/run.sh $output",
            "program/run.sh": "echo done > $1/done.txt",
        }
    )
    code = quick.packed({"mine/metadata": "description: a model", "mine/model.py": ""})
    assert files_of(quick.predict(code, ingestion=ingest).predictions) == {"done.txt": "done\n"}


def test_a_list_of_commands_runs_one_after_the_other_until_one_fails(quick):
    metadata = "command:\n- sh -c 'echo 1 > $output/1'\n- sh -c 'exit 4'\n- sh -c 'echo 3 > $output/3'\n"
    result = quick.predict(quick.packed({"metadata": metadata, "x.py": ""}), layout=1)
    assert result.reason == "crashed" and result.sentence == "The program ended with exit code 4."


def test_only_regular_files_are_taken_and_no_link_is_followed(steps):
    source = """
        import os
        os.chdir("/app/output")
        os.symlink("/etc/passwd", "passwd")
        os.symlink("/etc", "etc")
        os.mkfifo("pipe")
        open("kept.txt", "w").write("kept")
    """
    result = steps.predict(steps.packed({"metadata": "command: python3 $program/run.py", "run.py": source}))
    assert files_of(result.predictions) == {"kept.txt": "kept"}
    assert len(result.notes) == 3 and all("was left out" in note for note in result.notes)


@pytest.mark.parametrize(
    ("source", "reason", "words"),
    [
        ("raise SystemExit(3)", "crashed", "The program ended with exit code 3."),
        ("import time; time.sleep(60)", "timed_out", "stopped at its time limit of 2 seconds"),
        ("x = bytearray(10**9)", "out_of_memory", "memory limit of 256 MiB"),
        ("open('/app/output/x', 'wb').write(b'x' * 10**8)", "output_too_large", "may write 8 MiB in 100 files"),
        ("print('nothing')", "no_predictions", "left no files in its output folder"),
    ],
)
def test_code_that_fails_is_told_what_happened(quick, source, reason, words):
    code = quick.packed({"metadata": "command: python3 $program/run.py", "run.py": source})
    seconds = 2.0 if reason == "timed_out" else 30.0
    result = quick.predict(code, budget=quick.budget(wall_seconds=seconds))
    assert (result.status, result.reason) == ("failed", reason) and words in result.sentence
    assert result.predictions is None


def test_a_failing_ingestion_program_is_named_and_what_it_left_is_kept(quick):
    ingest = "open('/app/output/part.txt', 'w').write('half'); print('my last words'); raise SystemExit(7)"
    code = quick.packed({"metadata": "description: a model", "model.py": MODEL})
    result = quick.predict(code, ingestion=quick.ingestion(ingest), ingestion_name="feeder")
    assert result.reason == "ingestion_failed" and result.program_at_fault == "ingestion"
    assert result.sentence == 'The organizer\'s program "feeder" ended with exit code 7.'
    assert result.ingestion_lines == "my last words" and result.error_lines == ""
    assert files_of(result.predictions) == {"part.txt": "half"}


def test_where_one_of_two_programs_fails_the_other_is_stopped_and_not_blamed(quick):
    code = quick.packed({"metadata": "command: python3 $program/run.py", "run.py": "raise SystemExit(5)"})
    result = quick.predict(code, ingestion=quick.ingestion("import time; time.sleep(60)"))
    assert result.reason == "crashed" and result.program_at_fault == "submission"
    assert result.ingestion_wall_seconds < 25


def test_a_run_can_be_cancelled(quick):
    stop = threading.Event()
    stop.set()
    code = quick.packed({"metadata": "command: sleep 60", "run.py": ""})
    assert predict(quick.predict_request(code), stop=stop).reason == "cancelled"


def test_a_command_that_is_none_is_refused(quick):
    code = quick.packed({"metadata": "command: 'python3 \"run.py'", "run.py": ""})
    result = quick.predict(code)
    assert result.reason == "refused" and "cannot be split into words" in result.sentence


def test_a_program_too_large_for_a_copy_is_shown_read_only(quick):
    source = "import os, sys; open('/app/output/w', 'w').write(str(os.access('/app/program', os.W_OK)))"
    code = quick.packed({"metadata": "command: python3 $program/run.py", "run.py": source, "big": "x" * 20 * MIB})
    assert files_of(quick.predict(code).predictions) == {"w": "False"}


def test_without_a_sandbox_no_program_of_a_competition_runs(tmp_path):
    steps = Steps(UnconfinedSandbox(), tmp_path)
    result = steps.predict(steps.packed({"metadata": "command: python3 x.py", "x.py": ""}))
    assert result.reason == "infrastructure" and "use Docker or bubblewrap" in result.sentence
