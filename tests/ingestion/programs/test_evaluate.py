"""The second step: the organizer's scoring program, alone and beside an ingestion program."""

import json
import threading

import pytest
import yaml

from tests.ingestion.programs.steps import SCORE, Steps

SCORER = """
    import json, sys
    import helper
    source, output = sys.argv[1:3]
    truth, guess = (open(f"{source}/{name}.txt").read().split() for name in ("ref/labels", "res/deep/answers"))
    json.dump({"accuracy": helper.share(truth, guess)}, open(f"{output}/scores.json", "w"))
"""
HELPER = "def share(truth, guess):\n    return sum(a == b for a, b in zip(truth, guess)) / len(truth)\n"
COUNTS = "import sys, os; open(sys.argv[2] + '/scores.txt', 'w').write('a: %d' % len(os.listdir('{}')))"
WRITES = "import sys; open(sys.argv[2] + '/{}', 'w').write('''{}''')"


@pytest.fixture
def reference(tmp_path):
    folder = tmp_path / "reference"
    folder.mkdir()
    return Steps(None, folder).packed({"labels.txt": "1 2 3 4"})


@pytest.fixture
def answers(tmp_path):
    folder = tmp_path / "answers"
    folder.mkdir()
    return Steps(None, folder).packed({"deep/answers.txt": "1 2 3 5"})


@pytest.mark.parametrize("layout", [1, 2])
def test_a_scorer_finds_its_modules_the_labels_and_the_predictions(steps, reference, answers, layout):
    scorer = steps.scorer(SCORER, helper__py=HELPER)
    result = steps.evaluate(scorer, reference=reference, predictions=answers, layout=layout)
    assert result.status == "ok", result
    assert result.scores == {"accuracy": 0.75} and result.exit_code == 0
    assert result.scores_path.read_text() == '{"accuracy": 0.75}'


def test_predictions_are_only_read_and_never_on_the_scorers_path(steps, answers):
    source = """
        import json, os, sys
        sys.dont_write_bytecode = True
        import helper
        ends = {"own helper": helper.whose == "organizer"}
        ends["res on the path"] = any(path.startswith("/app/input") for path in sys.path)
        ends["working directory on the path"] = "" in sys.path
        for place in ("/app/input/res", "/app/input/ref", "/app/input"):
            ends["can write " + place] = os.access(place, os.W_OK)
        ends["can write beside itself"] = os.access("/app/program", os.W_OK)
        json.dump(ends, open(sys.argv[2] + "/scores.json", "w"))
    """
    hostile = steps.packed({"helper.py": "whose = 'participant'", "json.py": "raise SystemExit(9)"})
    scorer = steps.scorer(source, "sh -c 'cd /app/input/res && exec python3 /app/program/score.py i /app/output'",
                          helper__py="whose = 'organizer'")  # fmt: skip
    result = steps.evaluate(scorer, predictions=hostile, reference=answers)
    assert result.status == "ok", result
    assert {key for key, value in result.scores.items() if value} == {"own helper", "can write beside itself"}


def test_a_script_in_a_folder_of_its_program_finds_its_neighbours(quick):
    scorer = quick.packed(
        {
            "metadata": "command: sh $program/run.sh $output",
            "run.sh": "python3 $(dirname $0)/inner/score.py $1",
            "inner/score.py": "import sys, near; open(sys.argv[1] + '/scores.txt', 'w').write(near.TEXT)",
            "inner/near.py": "TEXT = 'accuracy:0.5'",
        }
    )
    assert quick.evaluate(scorer).scores == {"accuracy": 0.5}


def test_what_the_platform_measured_stands_in_the_metadata_of_the_predictions(quick):
    source = "import sys, shutil; shutil.copy(sys.argv[1] + '/res/metadata', sys.argv[2] + '/scores.txt')"
    mine = quick.packed({"metadata": "elapsedTime: 0.001", "a.txt": ""})
    result = quick.evaluate(quick.scorer(source), predictions=mine, metadata={"elapsedTime": 12.5, "exitCode": 0})
    assert result.scores == {"elapsedTime": 12.5, "exitCode": 0.0}


@pytest.mark.parametrize("layout", [1, 2])
@pytest.mark.parametrize("name", ["metadata", "metadata/forged"])
def test_a_submission_of_results_cannot_forge_what_the_platform_measures(quick, name, layout):
    source = "import sys, shutil; shutil.copy(sys.argv[1] + '/res/metadata', sys.argv[2] + '/scores.txt')"
    forged = quick.packed({name: "elapsedTime: -5\nexitCode: 7", "a.txt": ""})
    result = quick.evaluate(quick.scorer(source), predictions=forged, layout=layout)
    assert result.status == "ok", result.sentence
    assert result.scores["elapsedTime"] == 0


def test_codalab_tells_who_submitted(quick):
    source = """
        import sys
        print(open(sys.argv[1] + "/metadata").read())
        open(sys.argv[2] + "/scores.txt", "w").write("a: 1")
    """
    result = quick.evaluate(quick.scorer(source), layout=1, submitted_by="Alice: the first")
    assert yaml.safe_load(result.log_path.read_text()) == {"submitted-by": "Alice: the first"}


def test_codabench_shows_the_input_data_to_the_scorer_too(quick, reference):
    assert quick.evaluate(quick.scorer(COUNTS.format("/app/input_data")), input_data=reference).scores == {
        "a": 1.0
    }


def test_a_page_with_details_is_taken_under_one_name(quick):
    source = """
        import sys
        open(sys.argv[2] + "/scores.txt", "w").write("a: 1")
        open(sys.argv[2] + "/curve.html", "w").write("<p>a curve</p>")
    """
    result = quick.evaluate(quick.scorer(source))
    assert result.details.name == "detailed_results.html" and result.details.read_text() == "<p>a curve</p>"


def test_scores_and_details_are_told_while_the_scorer_rewrites_them(steps):
    source = """
        import os, sys, time
        for number in range(2):
            for name, text in (("detailed_results.html", "<p>%d</p>"), ("scores.txt", "a: %d")):
                open(sys.argv[2] + "/waiting", "w").write(text % number)
                os.rename(sys.argv[2] + "/waiting", sys.argv[2] + "/" + name)
            while number == 0 and not os.path.exists("/app/input_data/seen"):
                time.sleep(0.02)
    """
    told, data = [], steps.folder / "data"
    data.mkdir()

    def hear(scores, details):
        told.append((dict(scores), details.read_text() if details else None))
        (data / "seen").touch()

    result = steps.evaluate(steps.scorer(source), input_data=data, on_change=hear)
    assert result.status == "ok", result
    assert told[0][0] == {"a": 0.0} and result.scores == {"a": 1.0}
    assert result.details.read_text() == "<p>1</p>"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("raise SystemExit(3)", 'The organizer\'s program "judge" ended with exit code 3.'),
        ("import time; time.sleep(60)", "did not end within 2 seconds and was stopped"),
        ("x = bytearray(10**9)", "reached the memory limit of 256 MiB"),
        ("pass", "wrote no scores"),
        (WRITES.format("scores.json", "{"), "wrote a scores.json that is not JSON (line 1)"),
        (WRITES.format("scores.json", "[1]"), "does not hold keys with values"),
        (WRITES.format("scores.txt", ""), "wrote a scores.txt without any score"),
        ("import os, sys; os.symlink('/etc/passwd', sys.argv[2] + '/scores.txt')", "is no regular file"),
    ],
)
def test_a_scorer_that_fails_is_named_with_what_it_did(quick, source, words):
    seconds = 2.0 if "sleep" in source else 30.0
    result = quick.evaluate(quick.scorer(source), scoring_name="judge", budget=quick.budget(wall_seconds=seconds))
    assert (result.reason, result.program_at_fault) == ("scoring_failed", "scoring")
    assert words in result.sentence and 'rganizer\'s program "judge"' in result.sentence


def test_a_broken_program_or_reference_is_the_organizers_to_mend(quick, tmp_path):
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"no zip")
    assert "cannot be unpacked" in quick.evaluate(broken).sentence
    result = quick.evaluate(quick.scorer("pass"), reference=broken)
    assert result.reason == "scoring_failed" and result.sentence.startswith(
        "The reference data of the organizer's"
    )


def test_a_program_without_a_command_is_the_organizers_to_mend(quick):
    result = quick.evaluate(quick.packed({"score.py": ""}))
    assert result.sentence == "The command of the organizer's scoring program is empty."


def test_scoring_can_be_cancelled(quick):
    stop = threading.Event()
    stop.set()
    assert quick.evaluate(quick.scorer("import time; time.sleep(60)"), stop=stop).reason == "cancelled"


# Beside an ingestion program --------------------------------------------------------------------------------

ASKS = """
    import os, pathlib, sys, time
    shared, submission = sys.argv[1:3]
    sys.path.append(submission)
    from model import answer
    for number in range(3):
        while not os.path.exists(f"{shared}/question{number}"):
            time.sleep(0.01)
        text = answer(int(open(f"{shared}/question{number}").read()))
        open(f"{shared}/waiting", "w").write(str(text))
        os.rename(f"{shared}/waiting", f"{shared}/answer{number}")
    print("labels here:", [*pathlib.Path("/app").rglob("labels.txt")])
"""
STREAMS = """
    import json, os, sys, time
    shared, output = sys.argv[1:3]
    right = 0
    for number in range(3):
        open(f"{shared}/asking", "w").write(str(number))
        os.rename(f"{shared}/asking", f"{shared}/question{number}")
        while not os.path.exists(f"{shared}/answer{number}"):
            time.sleep(0.01)
        right += open(f"{shared}/answer{number}").read() == str(number * number)
        json.dump({"right": right}, open(f"{output}/waiting", "w"))
        os.rename(f"{output}/waiting", f"{output}/scores.json")
"""
BESIDE = "python3 $ingestion_program/ingest.py $shared $submission_program"


@pytest.mark.parametrize("layout", [1, 2])
def test_ingestion_and_scoring_overlap_and_talk_through_the_shared_folder(steps, reference, layout):
    beside = steps.predict_request(
        steps.zip(model__py="def answer(number): return number * number"),
        ingestion=steps.ingestion(ASKS, BESIDE),
        layout=layout,
    )
    scorer = steps.scorer(STREAMS, "python3 $program/score.py $shared $output")
    result = steps.evaluate(scorer, reference=reference, beside=beside, layout=layout)
    assert result.status == "ok", result
    assert result.scores == {"right": 3} and result.beside.ingestion_exit_code == 0
    assert result.ingestion_log_path.read_text() == "labels here: []\n"


@pytest.mark.parametrize("layout", [1, 2])
def test_what_code_left_is_what_ingestion_takes_up_beside_the_scorer(quick, reference, layout):
    looks = """
        import json, os, sys
        shared, submission, source = sys.argv[1:4]
        seen = [sorted(os.listdir(path)) for path in (submission, "/app/input/res", source)]
        open(f"{shared}/waiting", "w").write(json.dumps(seen))
        os.rename(f"{shared}/waiting", f"{shared}/seen")
    """
    waits = """
        import os, sys, time
        while not os.path.exists("/app/shared/seen"):
            time.sleep(0.01)
        print(open("/app/shared/seen").read())
        open(sys.argv[2] + "/scores.txt", "w").write("a: 1")
    """
    beside = quick.predict_request(
        quick.packed({"metadata": "command: python3 run.py", "run.py": ""}),
        ingestion=quick.ingestion(looks, f"{BESIDE} $input"),
        input_data=reference,
        layout=layout,
    )
    left = quick.packed({"left.txt": ""})
    result = quick.evaluate(quick.scorer(waits), predictions=left, beside=beside, layout=layout)
    assert result.status == "ok", result
    inputs = {1: ["labels.txt", "res"], 2: ["labels.txt"]}[layout]
    assert json.loads(result.log_path.read_text()) == [["left.txt"], ["left.txt"], inputs]


def test_code_beside_the_scorer_cannot_lead_it_to_the_labels_by_a_link(steps, reference):
    """The scorer reads what lies in the shared folder; a link there would be followed in its own sandbox."""
    code = """
        import os
        def answer(number):
            try:
                os.symlink("/app/input/ref/labels.txt", "/app/shared/link")
                os.rename("/app/shared/link", f"/app/shared/answer{number}")
            except PermissionError:
                print("no link is made")
            return "mine"
    """
    reads = """
        import os, sys, time
        shared, output = sys.argv[1:3]
        open(f"{shared}/question0", "w").write("0")
        while not os.path.exists(f"{shared}/answer0"):
            time.sleep(0.01)
        open(f"{output}/scores.txt", "w").write(f"a: {open(f'{shared}/answer0').read()}")
    """
    asks = ASKS.replace("range(3)", "range(1)")
    beside = steps.predict_request(steps.zip(model__py=code), ingestion=steps.ingestion(asks, BESIDE))
    scorer = steps.scorer(reads, "python3 $program/score.py $shared $output")
    result = steps.evaluate(scorer, reference=reference, beside=beside)
    assert result.scores == {"a": "mine"}, result
    assert "no link is made" in result.ingestion_lines


def test_an_ingestion_program_that_fails_beside_the_scorer_ends_both(quick):
    beside = quick.predict_request(
        quick.zip(model__py="raise SystemExit(6)"), ingestion=quick.ingestion(ASKS, BESIDE), ingestion_name="asker"
    )
    result = quick.evaluate(quick.scorer(STREAMS, "python3 $program/score.py $shared $output"), beside=beside)
    assert (result.reason, result.program_at_fault) == ("ingestion_failed", "ingestion")
    assert result.sentence == 'The organizer\'s program "asker" ended with exit code 6.'


def test_a_scorer_that_fails_ends_the_ingestion_program_beside_it(quick):
    beside = quick.predict_request(
        quick.zip(model__py=""), ingestion=quick.ingestion("import time; time.sleep(60)")
    )
    result = quick.evaluate(quick.scorer("raise SystemExit(2)"), beside=beside)
    assert (result.reason, result.program_at_fault) == ("scoring_failed", "scoring")
    assert result.beside.ingestion_wall_seconds < 25


def test_the_shared_folder_is_bounded(quick):
    fills = """
        with open("/app/shared/big", "wb") as file:
            for _ in range(200):
                file.write(b"x" * 1_000_000)
    """
    beside = quick.predict_request(quick.zip(model__py=""), ingestion=quick.ingestion(fills, BESIDE))
    result = quick.evaluate(quick.scorer("import time; time.sleep(60)", SCORE), beside=beside)
    assert result.reason == "ingestion_failed"


def test_a_scorer_beside_sees_the_submissions_files_as_predictions(quick):
    beside = quick.predict_request(quick.zip(model__py="", notes__txt=""), ingestion=quick.ingestion("pass"))
    assert quick.evaluate(quick.scorer(COUNTS.format("/app/input/res")), beside=beside).scores == {"a": 2.0}


def test_scoring_never_raises_for_a_submission_that_is_no_zip(quick, tmp_path):
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"no zip")
    beside = quick.predict_request(broken, ingestion=quick.ingestion("pass"))
    result = quick.evaluate(quick.scorer("pass"), beside=beside)
    assert result.reason == "ingestion_failed" and result.program_at_fault == "submission"
