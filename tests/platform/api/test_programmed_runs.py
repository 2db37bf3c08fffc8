"""What a worker is given of a run with organizers' programs, what it may leave, and what becomes of it."""

import io
import zipfile

import pytest

from competitions.models import Phase
from submissions.actions import submit
from submissions.models import Run, RunFile, RunState
from tests.platform import factories as make
from tests.platform.api.test_worker_protocol import Caller
from tests.platform.submissions.programs import contest as programmed

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller(client):
    _worker, token = make.worker("one")
    return Caller(client, token)


def sent(folder, *, command="", **fields) -> Run:
    phase = programmed.phase(ingestion=True, **fields)
    programmed.board(phase.competition, "accuracy")
    alice = make.user("alice")
    make.participant(phase.competition, alice)
    archive = programmed.archive(folder, command=command)
    return submit(user=alice, phase=phase, archive=archive, filename="code.zip").runs.get()


def fetched(caller, url) -> bytes:
    answer = caller.client.get(url)
    assert answer.status_code == 200, answer
    return b"".join(answer.streaming_content)


def ended(caller, run, credentials, **fields):
    """Report the end of a run with its predictions; returns the run as it is then."""
    body = {**credentials, "status": "ok", "reason": None, **fields}
    if "output" not in fields:
        body["output"] = caller.upload(run, credentials, "predictions.zip", programmed.packed(answer__txt="1"))
    answer = caller.post(f"runs/{run.pk}/report", body)
    assert answer.status_code == 200, answer.content
    run.refresh_from_db()
    return run


def test_a_claim_gives_the_ingestion_program_and_its_data_but_nothing_that_scores(caller, tmp_path):
    run = sent(tmp_path)
    claimed, _ = caller.claim(run)
    programs = claimed["programs"]
    assert "dataset" not in claimed
    assert programs["ingestion"]["command"] == "python3 ingestion.py $input $output"
    assert programs["layout"] == 2
    given = [programs["ingestion"]["url"], programs["input_data"]["url"], claimed["archive"]["url"]]
    names = [zipfile.ZipFile(io.BytesIO(fetched(caller, url))).namelist() for url in given]
    assert names == [["metadata", "ingestion.py"], ["input.txt"], ["answer.txt"]]
    version = run.dataset_version
    for secret in (version.reference.name, version.reference_sha256, run.task.scoring_program.sha256):
        assert secret not in str(claimed)


@pytest.mark.parametrize(
    ("named", "had", "used"),
    [
        ("", ["podium-sandbox:latest", "podium-bundles:latest"], "podium-bundles:latest"),
        ("", ["podium-sandbox:latest"], "podium-sandbox:latest"),
        ("podium-sandbox:latest", ["podium-sandbox:latest", "podium-bundles:latest"], "podium-sandbox:latest"),
    ],
)
def test_programs_run_in_the_image_that_is_there_for_them(client, tmp_path, named, had, used):
    digests = {name: f"sha256:{number:064d}" for number, name in enumerate(had)}
    images = [
        {"name": name, "id": digest, "packages": [], "problem": "", "runs_models": True}
        for name, digest in digests.items()
    ]
    _, token = make.worker("two", images=images, default_image="podium-sandbox:latest")
    claimed, _ = Caller(client, token).claim(sent(tmp_path, image=named))
    assert claimed["image"] == digests[used]


def test_a_link_opens_no_scoring_program(caller, tmp_path):
    from api import transfer

    run = sent(tmp_path)
    answer = caller.client.get(transfer.program_link(run.task.scoring_program_id))
    assert answer.status_code == 403


def test_what_a_worker_collected_waits_for_the_scoring_program(caller, tmp_path):
    run = sent(tmp_path)
    _, credentials = caller.claim(run)
    log = caller.upload(run, credentials, "ingestion_log.txt", b"said by the ingestion program")
    exits = {"exitCode": None, "elapsedTime": 2.5, "ingestionExitCode": 0, "ingestionElapsedTime": 2.0}
    run = ended(caller, run, credentials, ingestion_log=log, exits=exits, notes=["Two links were left out."])
    assert (run.state, run.sentence) == (RunState.COLLECTED, "Waits for its score.")
    assert run.program_report == {"metadata": exits, "notes": ["Two links were left out."]}
    files = {file.kind: file.file.read() for file in run.files.all()}
    assert files[RunFile.Kind.INGESTION_LOG] == b"said by the ingestion program"
    assert zipfile.ZipFile(io.BytesIO(files[RunFile.Kind.PREDICTIONS])).namelist() == ["answer.txt"]


def test_a_run_that_ended_well_without_predictions_is_no_report(caller, tmp_path):
    run = sent(tmp_path)
    _, credentials = caller.claim(run)
    answer = caller.post(f"runs/{run.pk}/report", {**credentials, "status": "ok"})
    assert answer.status_code == 409


@pytest.mark.parametrize("name", ["scores.json", "iris_valid.predict", "../log.txt"])
def test_a_worker_leaves_no_other_files(caller, tmp_path, name):
    run = sent(tmp_path)
    _, credentials = caller.claim(run)
    assert caller.post(f"runs/{run.pk}/uploads", {**credentials, "name": name, "size": 3}).status_code == 409


def test_a_failed_ingestion_program_is_a_failed_run_with_its_lines_for_organizers(caller, tmp_path):
    run = sent(tmp_path)
    _, credentials = caller.claim(run)
    run = ended(
        caller,
        run,
        credentials,
        status="failed",
        reason="ingestion_failed",
        sentence="The organizer's ingestion program 'the ingestion' ended with 1.",
        ingestion_lines="KeyError: hidden",
    )
    assert (run.state, run.reason) == (RunState.FAILED, "ingestion_failed")
    assert run.program_report["ingestion_lines"] == "KeyError: hidden"
    assert "KeyError" not in run.sentence + run.error_lines + run.log_tail


def test_it_is_scored_all_the_same_where_the_phase_says_so(caller, tmp_path):
    run = sent(tmp_path, scores_failed_ingestion=True)
    _, credentials = caller.claim(run)
    run = ended(caller, run, credentials, status="failed", reason="ingestion_failed")
    assert (run.state, run.reason) == (RunState.COLLECTED, "")


def test_a_phase_for_results_runs_no_ingestion_program(tmp_path):
    run = sent(tmp_path, accepts=Phase.Accepts.RESULTS, command="python3 code.py")
    assert (run.state, run.source) == (RunState.COLLECTED, Run.Source.RESULTS)
