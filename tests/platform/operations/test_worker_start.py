"""What a compute worker looks at before it serves, and how it says what is wrong."""

import argparse

import pytest

from ingestion.budget import Capacity
from ingestion.sandbox import NoSandbox
from ingestion.site import Gone, SiteError, Unreachable, WrongToken
from operations import __main__ as launcher
from operations import parts, serving, worker_start
from operations.supervisor import Failing, Supervisor
from operations.worker_start import CannotStart, Slot
from tests.platform.operations.test_supervisor import part


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A data folder without a site, on a machine of four cores, with nothing set."""
    for name in ("PODIUM_URL", "PODIUM_WORKER_TOKEN", "PODIUM_SLOTS", "PODIUM_SANDBOX", "DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PODIUM_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(Capacity, "of_this_machine", lambda: Capacity(cores=4, memory_bytes=2**30))
    monkeypatch.setattr(serving, "usable_sandbox", lambda: None)
    return tmp_path / "home"


@pytest.fixture
def answers(monkeypatch):
    """What the site answers, one after the other; then it knows the token."""
    waiting = []

    class FakeSite:
        def __init__(self, url, token):
            pass

        def call(self, path, body):
            assert path == "hello"
            if waiting:
                raise waiting.pop(0)
            return {"worker": "one"}

    monkeypatch.setattr(worker_start, "Site", FakeSite)
    return waiting


def greet(url="http://podium.example.org", **options):
    said, waited = [], []
    worker_start.greet(url, [Slot("one", "token")], say=said.append, wait=waited.append)
    return said, waited


def test_a_site_that_does_not_answer_yet_is_said_and_asked_ever_more_rarely(answers):
    answers += [Unreachable("http://podium.example.org did not answer: ConnectionError")] * 4
    said, waited = greet()
    assert waited == [1, 2, 4, 8]
    assert "did not answer: ConnectionError; trying again in 8 s" in said[-1]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (WrongToken("The site does not know this worker's token, or it was revoked."), "manage worker_token NAME"),
        (SiteError("What answers at http://x is no Podium site."), "no Podium site"),
        (Gone("Not Found"), "older Podium"),
    ],
)
def test_what_no_waiting_mends_ends_the_start_at_once(answers, answer, told):
    answers.append(answer)
    with pytest.raises(CannotStart, match=told):
        greet()


@pytest.mark.parametrize("url", ["podium.example.org", "ftp://podium.example.org", "http://", "http://host:port"])
def test_an_address_that_can_be_none_is_told_before_anything_is_asked(answers, url):
    with pytest.raises(CannotStart, match="no address of a site"):
        greet(url)


def test_an_address_without_a_token_makes_no_database_here(home, monkeypatch):
    monkeypatch.setenv("PODIUM_URL", "https://podium.example.org")
    with pytest.raises(CannotStart, match="but not PODIUM_WORKER_TOKEN"):
        serving.worker(name="lab")
    assert not list(home.glob("*.sqlite3"))


def test_without_address_and_site_it_says_what_is_missing(home):
    with pytest.raises(CannotStart, match="no site in"):
        serving.worker(name="lab")
    assert not list(home.glob("*.sqlite3"))


def test_a_token_without_an_address_is_wrong_usage(monkeypatch):
    monkeypatch.setenv("PODIUM_WORKER_TOKEN", "token")
    assert serving.worker(name="lab") == 2


def test_a_machine_without_a_sandbox_is_told_before_the_site_is_asked(monkeypatch, answers):
    def nothing():
        raise NoSandbox("There is no sandbox here.", "apt-get install bubblewrap")

    monkeypatch.setattr(serving, "usable_sandbox", nothing)
    monkeypatch.setenv("PODIUM_URL", "https://podium.example.org")
    monkeypatch.setenv("PODIUM_WORKER_TOKEN", "token")
    answers.append(AssertionError("the site was asked"))
    with pytest.raises(NoSandbox):
        serving.worker(name="lab")


def test_each_slot_has_a_name_and_a_token():
    assert worker_start.slots_of_tokens("lab", ["a"], None) == [Slot("lab", "a")]
    assert worker_start.slots_of_tokens("lab", ["a", "b"], 2) == [Slot("lab-1", "a"), Slot("lab-2", "b")]


def test_slots_without_a_token_each_are_told_how_to_get_them():
    with pytest.raises(CannotStart, match="worker_token lab --slots 3"):
        worker_start.slots_of_tokens("lab", ["a"], 3)


@pytest.mark.parametrize(("asked", "setting"), [(5, None), (None, "5"), (None, "many"), (None, "0")])
def test_slots_that_do_not_fit_are_told(monkeypatch, asked, setting):
    if setting:
        monkeypatch.setenv("PODIUM_SLOTS", setting)
    with pytest.raises(CannotStart):
        worker_start.wanted_slots(asked)


def test_slots_come_from_the_command_else_from_the_environment(monkeypatch):
    assert worker_start.wanted_slots(None) == 1
    monkeypatch.setenv("PODIUM_SLOTS", "2")
    assert (worker_start.wanted_slots(None), worker_start.wanted_slots(3)) == (2, 3)


@pytest.mark.parametrize("text", ["abc", "0", "65536", "-1", ""])
def test_a_port_that_is_none_is_told_in_a_sentence(text, capsys):
    with pytest.raises(SystemExit) as end:
        launcher.parser().parse_args(["up", f"--port={text}"])
    assert end.value.code == 2
    assert f"{text!r} is not a port, a whole number from 1 to 65535" in capsys.readouterr().err


def test_a_compute_worker_gets_none_of_the_secrets_of_the_site(monkeypatch, home):
    for name in (*parts.SECRETS_OF_THE_SITE, "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "secret")
    started = parts.compute_worker(home, url="http://127.0.0.1:8000", token="token", name="local")
    assert "PODIUM_SOLUTIONS_KEY" in parts.SECRETS_OF_THE_SITE
    assert "secret" not in started.environment.values()


def test_a_number_of_slots_that_is_none_is_wrong_usage():
    with pytest.raises(argparse.ArgumentTypeError, match="1, 2, 3"):
        launcher.slot_count("two")


def test_a_part_that_will_never_work_is_not_started_again(tmp_path):
    from dataclasses import replace

    source = "import sys; print('The site does not know this token.', flush=True); sys.exit(78)"
    said = []
    with Supervisor(said.append) as supervisor, pytest.raises(Failing, match="does not know this token"):
        supervisor.start(replace(part(tmp_path, source, "worker"), final_code=78))
        supervisor.wait(30)
    assert "is not started again" in said[0]


def test_the_rest_goes_on_when_one_part_gives_up(tmp_path):
    from dataclasses import replace

    said = []
    with Supervisor(said.append) as supervisor:
        supervisor.start(part(tmp_path, "import time; time.sleep(600)", "site"))
        supervisor.start(replace(part(tmp_path, "raise SystemExit(78)", "worker"), final_code=78))
        while not said:
            supervisor.wait(0.2)
        assert [child.part.name for child in supervisor.children] == ["site"]
