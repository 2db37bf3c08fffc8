"""Nothing that is hidden comes out, at whatever address and however it is asked for; and the test would see it."""

import datetime as dt
import logging
import re

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import QuerySet
from django.utils import timezone

from api import transfer
from competitions.models import Delivery
from datasets.models import Dataset, DatasetVersion
from leaderboards import board
from submissions.models import Attempt, Run, RunState, Score, Worker
from tests.platform import factories as make
from tests.platform import mid_series
from tests.platform.clock import clock  # noqa: F401  (a fixture)
from tests.platform.mid_series import SEE_NOTHING, World
from tests.platform.pages.crawl import Answer, addresses, analyses, crawl, read


@pytest.fixture
def world(db, clock, monkeypatch, tmp_path, caplog) -> World:  # noqa: F811
    caplog.set_level(logging.ERROR, "django.request")  # a crawl meets hundreds of addresses that are not there
    kit = tmp_path / "kit.zip"  # the real one is crawled once, below
    kit.write_bytes(b"PK")
    monkeypatch.setattr("pages.views.competition.kit_archive", lambda: kit)
    return mid_series.build()


def leaks(answers: list[Answer], hidden: dict[str, str]) -> list[str]:
    """What was found, and where first."""
    found: dict[str, str] = {}
    for answer in answers:
        # Whoever asks for an address knows it: an answer may repeat it.
        address = answer.asked.removeprefix("GET ").partition(" as ")[0]
        everything = answer.everything.replace(address.encode(), b"") if address else answer.everything
        for what, text in hidden.items():
            if what not in found and text.encode() in everything:
                found[what] = answer.asked
    return [f"{what}: {asked}" for what, asked in found.items()]


def percent(hidden: dict[str, str]) -> dict[str, str]:
    """Scores as the width of a bar would tell them."""
    return {f"{what} as a bar": f"{text[2:4]}.{text[4:6]}%" for what, text in hidden.items() if text[:2] == "0."}


USAGE = {"wall time": "733.2", "wall time of a log": "733 s", "CPU time": "611 s", "memory": "5.3 GiB"}
FACTS = {"features": "48,611", "samples": "90,527", "budget": "1,217", "plain features": "48611"}


# For these the site is crawled twice: of the others each sees what one of these sees, or less.
COMPARED = ("anonymous", "participant", "other", "reviewer")
RIVALS = ("anonymous", "stranger", "other", "foreign", "clerk")


# A stranger sees less than somebody who organizes another contest; a team mate has a test below.
CRAWLING = [role for role in SEE_NOTHING if role not in ("stranger", "mate")]


@pytest.mark.parametrize("role", CRAWLING)
def test_nothing_hidden_comes_out_and_no_answer_depends_on_it(world, role, monkeypatch):
    """Bodies, lengths, headers and status stay the same, byte by byte, when all that is hidden changes."""
    asked = addresses(world)
    opened = watched(monkeypatch)
    Delivery.objects.update(read_at=timezone.now())  # else the first reading changes what is new at the second
    answers = list(crawl(world.client(role), asked))
    assert opened == []
    hidden = {**world.hidden, **percent(world.hidden), **USAGE, **FACTS, **world.labels}
    hidden |= world.of_rivals if role in RIVALS else {}
    if role in ("reviewer", "foreign"):
        hidden.pop("name of the worker")  # organizers see the workers that serve their competitions
    assert leaks(answers, hidden) == []
    assert not [answer.asked for answer in answers if answer.status >= 500]
    if role not in COMPARED:
        return
    change_all_that_is_hidden(world)
    before = {answer.asked: without_nonces(answer) for answer in answers}
    after = {answer.asked: without_nonces(answer) for answer in crawl(world.client(role), asked)}
    changed = [asked for asked, answer in before.items() if after.get(asked) != answer]
    if role == "reviewer":  # reads which worker does what; the data stay hidden from them too
        changed = [asked for asked in changed if "/manage/" not in asked]
    assert changed == []
    assert after.keys() == before.keys()


def test_no_analysis_for_everybody_tells_what_is_hidden_or_depends_on_it(world):
    before = analyses(world, sees_hidden=False)
    assert any(b"alice" in told or b"The Team" in told for told in before.values())  # something is analysed
    hidden = {**world.hidden, **percent(world.hidden), **USAGE, **FACTS, **world.labels}
    answers = [Answer(name, 200, {}, told) for name, told in before.items()]
    assert leaks(answers, hidden) == []
    change_all_that_is_hidden(world)
    after = analyses(world, sees_hidden=False)
    assert after.keys() == before.keys()
    assert [name for name, told in before.items() if after[name] != told] == []


def test_analyses_for_those_who_see_what_is_hidden_do_tell_it(world):
    """So the test above can fail."""
    answers = [Answer(name, 200, {}, told) for name, told in analyses(world, sees_hidden=True).items()]
    assert any("score" in line for line in leaks(answers, world.hidden))
    assert leaks(answers, world.labels) == []


def test_analyses_are_those_of_everybody_but_for_those_who_see_what_is_hidden(world):
    for role in mid_series.ROLES:
        client, address = world.client(role), "/competitions/series/analysis/standings/"
        assert client.get(address).context["wish"].audience.sees_hidden is (role in mid_series.SEE_HIDDEN), role
        assert client.get(f"{address}?as=public").context["wish"].audience.sees_hidden is False, role


def test_a_team_mate_reads_what_the_team_submitted(world):
    """So the test above can fail; and no more than the team's own."""
    answers = list(crawl(world.client("mate"), addresses(world)))
    assert leaks(answers, {**world.hidden, **percent(world.hidden), **USAGE, **FACTS, **world.labels}) == []
    found = leaks(answers, world.of_rivals)
    assert {line.partition(":")[0] for line in found} == set(world.of_rivals)


OF_PAGES = ("name of the worker", "note", "sentence", "tail", "score", "log", "prefix")


@pytest.mark.parametrize("role", ["owner", "seer", "admin"])
def test_whoever_sees_what_is_hidden_finds_it(world, role, monkeypatch):
    """So the first test can fail; the labels stay where they are also for them."""
    opened = watched(monkeypatch)
    answers = list(crawl(world.client(role), addresses(world)))
    found = {line.partition(":")[0] for line in leaks(answers, world.hidden)}
    wanted = {what for what in world.hidden if any(part in what for part in OF_PAGES)}
    assert wanted - found == set()
    if role == "admin":
        assert {what for what in world.hidden if "of dataset" in what} - found == set()
    assert leaks(answers, world.labels) == []
    assert opened == []


@pytest.mark.parametrize("role", ["stranger", "participant", "other"])
def test_no_refusal_of_an_upload_names_what_is_hidden(world, role):
    client = world.client(role)
    archives = [
        make.zip_bytes({"nothing.txt": "x"}),
        make.zip_bytes({"dataset1_test.predict": "1\n", "dataset1_valid.predict": "1\n"}),
        make.zip_bytes({"model.py": "class Model: pass\n"}),
        b"no zip",
    ]
    answers = []
    for phase in (*world.phases.values(), None):
        for archive in archives:
            for accept in ("text/html", "application/json"):
                data = {"archive": SimpleUploadedFile("a.zip", archive)}
                if phase:
                    data["phase"] = phase.number
                response = client.post("/competitions/series/submissions/", data, headers={"Accept": accept})
                answers.append(read(response, f"POST of {archive[:20]!r} to {phase}"))
    assert {answer.status for answer in answers} - {201, 302, 400, 403, 409, 429} == set()
    assert leaks(answers, {**world.hidden, **world.labels, **FACTS}) == []


def test_the_starting_kit_holds_nothing_of_the_site(db, client):
    world = mid_series.build()
    answer = read(client.get("/competitions/series/starting-kit/"), "kit")
    assert answer.status == 200
    assert len(answer.everything) > len(answer.body)
    assert leaks([answer], {**world.hidden, **world.labels, **world.of_rivals}) == []


def without_nonces(answer: Answer) -> tuple[object, ...]:
    """What must be equal between two askings: all but what is drawn by lot for each, and the time of day."""
    body = re.sub(rb'name="csrfmiddlewaretoken" value="[^"]+"', b"", answer.body)
    headers = {name: value for name, value in answer.headers.items() if name not in ("Set-Cookie", "Expires")}
    return answer.status, headers, body


def change_all_that_is_hidden(world: World) -> None:
    """Another blind run on other data: the same reason, a time that is rounded to the same, all else another."""
    Run.objects.filter(submission__phase=world.phases["AutoML[1]"], wall_seconds__isnull=False).update(
        wall_seconds=688.8,
        cpu_seconds=1.5,
        peak_memory_bytes=10**6,
        sentence="Other.",
        log_tail="Another tail, much longer than the one before. " * 40,
        metric="BAC",
        attempt_number=3,
        started_at=timezone.now() - dt.timedelta(hours=3),
        ended_at=timezone.now() - dt.timedelta(hours=2, minutes=11),
    )
    # What runs is further on, at another worker, and says other things.
    running = Run.objects.get(state=RunState.RUNNING)
    Run.objects.filter(pk=running.pk).update(state=RunState.SCORING, log_tail="", sentence="Is being scored.")
    Attempt.objects.update(note="another note")
    Worker.objects.update(name="another-worker")
    for run in Run.objects.exclude(log=""):
        if run.submission.phase.is_hidden:
            run.log.save("log", ContentFile(b"x" * 70_000))
    for score in Score.objects.filter(part="test"):
        Score.objects.filter(pk=score.pk).update(value=1 - score.value, stderr=0.3)
    tasks = world.phases["AutoML[1]"].tasks.all()
    of_dataset = ("title", "description", "private_description", "licence", "citation", "source")
    Dataset.objects.filter(tasks__in=tasks).update(is_public=False, **dict.fromkeys(of_dataset, "Other"))
    # Past the guard: a version that runs used never changes otherwise.
    QuerySet(DatasetVersion).filter(dataset__tasks__in=tasks).update(
        name="other", feat_num=7, train_num=8, time_budget=90, task_kind="regression", metric="R2", public_bytes=9,
        recipe={}, findings=[], checksums={}, private_info="Other",
    )  # fmt: skip
    for phase in world.phases.values():
        board.refresh_now(phase)


def test_organizers_do_see_the_difference(world):
    """So the test above can fail."""
    address = world.submissions["participant in AutoML[1]"].get_absolute_url()
    before = without_nonces(read(world.client("owner").get(address), ""))
    change_all_that_is_hidden(world)
    assert without_nonces(read(world.client("owner").get(address), "")) != before


def test_no_worker_gets_a_solution(world, client, monkeypatch):
    """Not by its claim, not by the links in it, and not by a link that a fault of ours would make."""
    opened = watched(monkeypatch)
    Run.objects.filter(state=RunState.RUNNING).update(state=RunState.QUEUED)
    Attempt.objects.update(outcome=Attempt.Outcome.LOST)
    bearer = {"Authorization": f"Bearer {world.worker_token}"}
    answers = []
    for run in Run.objects.filter(state=RunState.QUEUED):
        Attempt.objects.update(outcome=Attempt.Outcome.REPORTED)
        claim = client.post(f"/worker/runs/{run.pk}/claim", {}, content_type="application/json", headers=bearer)
        assert claim.status_code == 200, claim.content
        answers.append(read(claim, f"claim of run {run.pk}"))
        answers += [read(client.get(claim.json()[what]["url"]), what) for what in ("dataset", "archive")]
    assert len(answers) >= 9
    assert leaks(answers, world.labels) == []
    version = mid_series.newest_version(world)
    for part in ("valid", "test"):
        link = transfer.download_link(version.solution(part))
        answer = read(client.get(link), "a link to a solution")
        assert answer.status == 403
    assert opened == []


def watched(monkeypatch) -> list[str]:
    """The names that anything asks of the storage of solutions from now on."""
    storage = DatasetVersion._meta.get_field("valid_solution").storage
    opened: list[str] = []
    for method in ("open", "url", "path", "exists", "listdir", "size"):
        original = getattr(storage, method)

        def watch(name="", *args, original=original, **kwargs):
            opened.append(name)
            return original(name, *args, **kwargs)

        monkeypatch.setattr(storage, method, watch)
    return opened


def test_the_watch_over_solutions_works(world, monkeypatch):
    opened = watched(monkeypatch)
    version = mid_series.newest_version(world)
    with version.valid_solution.open("rb") as file:
        assert file.read().decode().strip() in world.labels.values()
    assert opened


def test_solutions_lie_in_a_root_of_their_own_that_has_no_address(world):
    version = mid_series.newest_version(world)
    public = {field.storage for field in (version.public_zip, Run._meta.get_field("log"))}
    for part in ("valid", "test"):
        storage = version.solution(part).storage
        assert storage not in public
        for client in (world.client("owner"), world.client("admin")):
            assert client.get(f"/{version.solution(part).name}").status_code == 404
        assert not any(other.exists(version.solution(part).name) for other in public)
