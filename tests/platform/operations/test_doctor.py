"""The doctor's findings, and what they make of its exit code."""

import json

import pytest

from operations import doctor
from operations.doctor import Finding

pytestmark = pytest.mark.django_db


def found(name: str) -> Finding:
    return next(finding for finding in doctor.examine() if finding.name == name)


def test_json_holds_every_finding_and_whether_podium_can_run(capsys):
    code = doctor.doctor(as_json=True)
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is (code == 0)
    names = {finding["name"] for finding in answer["findings"]}
    assert {
        "Python",
        "data folder",
        "database",
        "broker",
        "sandbox docker",
        "sandbox bubblewrap",
        "cgroups",
    } <= names
    assert all(set(finding) >= {"verdict", "sentence", "mend", "needed"} for finding in answer["findings"])


def test_the_table_is_for_people(capsys):
    doctor.doctor(as_json=False)
    assert "data folder" in capsys.readouterr().out


def test_only_what_is_needed_and_missing_keeps_podium_from_running():
    fine = Finding("Python", "ok", "Python 3.11.", needed=True)
    assert doctor.can_run([fine, Finding("Chromium", "missing", "Not here.")])
    assert doctor.can_run([fine, Finding("database", "note", "2 migrations wait.", needed=True)])
    assert not doctor.can_run([fine, Finding("sandbox", "missing", "None works.", "install one", needed=True)])


def test_a_data_folder_that_others_can_enter_is_missing_its_mode(tmp_path, monkeypatch):
    (tmp_path / "home").mkdir(mode=0o755)
    (tmp_path / "home").chmod(0o755)
    monkeypatch.setattr(doctor, "podium_home", lambda: tmp_path / "home")
    folder = doctor.check_home()[0]
    assert (folder.verdict, folder.mend) == ("missing", f"chmod 700 {tmp_path / 'home'}")


def test_a_machine_without_any_sandbox_gets_the_line_that_installs_one(monkeypatch):
    class Status:
        def __init__(self, name):
            self.name, self.usable, self.sentence, self.mend = name, False, "Not here.", "mend"

    monkeypatch.delenv("PODIUM_SANDBOX", raising=False)
    monkeypatch.setattr("ingestion.sandbox.available_sandboxes", lambda: [Status("docker"), Status("bubblewrap")])
    sandbox = next(finding for finding in doctor.check_sandboxes() if finding.name == "sandbox")
    assert (sandbox.verdict, sandbox.mend) == ("missing", "apt-get install bubblewrap")


def test_a_sandbox_asked_for_by_name_must_work(monkeypatch):
    monkeypatch.setenv("PODIUM_SANDBOX", "docker")
    monkeypatch.setattr("ingestion.sandbox.available_sandboxes", lambda: [])
    sandbox = next(finding for finding in doctor.check_sandboxes() if finding.name == "sandbox")
    assert sandbox.verdict == "missing"


def test_a_broker_that_does_not_answer_is_named_without_its_password():
    finding = doctor.check_broker("broker", "redis://:secret@127.0.0.1:1/0")
    assert finding.verdict == "missing"
    assert "127.0.0.1:1" in finding.sentence
    assert "secret" not in finding.sentence


def test_a_check_that_fails_itself_becomes_a_finding(monkeypatch):
    def broken():
        raise OSError("the bus\nleft")

    monkeypatch.setattr(doctor, "check_machine", broken)
    finding = found("machine")
    assert finding.sentence == "Could not be examined: the bus left."


class Usable:
    def __init__(self, name, usable, mend=""):
        self.name, self.usable, self.sentence, self.mend = name, usable, "Said so.", mend


@pytest.fixture
def only_unconfined(monkeypatch):
    known = [Usable("docker", False, "install docker"), Usable("bubblewrap", False, "apt-get install bubblewrap")]
    monkeypatch.setattr("ingestion.sandbox.available_sandboxes", lambda: [*known, Usable("unconfined", True)])


def test_who_chose_to_have_no_sandbox_is_not_told_to_install_one(only_unconfined, monkeypatch):
    monkeypatch.setenv("PODIUM_SANDBOX", "unconfined")
    findings = [one for one in doctor.check_sandboxes() if "sandbox" in one.name]
    assert {one.mend for one in findings} == {"", "unset PODIUM_SANDBOX"}


def test_a_misspelt_sandbox_is_told_with_the_names_that_there_are(only_unconfined, monkeypatch):
    monkeypatch.setenv("PODIUM_SANDBOX", "bubblewarp")
    (sandbox,) = [one for one in doctor.check_sandboxes() if one.name == "sandbox"]
    assert sandbox.verdict == "missing" and "'bubblewarp'" in sandbox.sentence
    assert "docker, bubblewrap or unconfined" in sandbox.mend


def test_the_machine_and_what_a_run_gets_of_it_are_both_told(monkeypatch):
    from ingestion.budget import GIB, Capacity

    monkeypatch.setattr(Capacity, "of_this_machine", lambda: Capacity(cores=8, memory_bytes=40 * GIB))
    monkeypatch.setenv("PODIUM_SLOTS", "2")
    told = doctor.check_machine()[0].sentence
    assert told == (
        "The machine has 8 cores and 40 GiB of memory; each of 2 runs at once gets 4 cores and 16 GiB of memory."
    )
    monkeypatch.setenv("PODIUM_SLOTS", "9")
    assert doctor.check_machine()[0].verdict == "missing"


def test_a_user_without_rights_on_the_engine_is_told_how_to_get_them(monkeypatch):
    import docker

    from ingestion.sandbox.engine import EngineError, connect

    def refuse(**options):
        raise docker.errors.DockerException(
            "Error while fetching: ('Connection aborted.', PermissionError(13, 'Permission denied'))"
        )

    monkeypatch.setattr(docker.DockerClient, "from_env", refuse)
    monkeypatch.setattr("ingestion.sandbox.engine.podman_sockets", lambda: [])
    with pytest.raises(EngineError, match="may not speak") as refused:
        connect()
    assert "usermod -aG docker" in refused.value.mend and "rootless" in refused.value.mend
