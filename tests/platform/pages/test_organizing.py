"""The manage page and its actions: what is shown, asked, previewed, and only then done."""

import datetime as dt

import pytest
from django.test import Client

from competitions.models import AuditEntry, Phase, Prize, PrizeClaim
from leaderboards import board
from submissions.models import Attempt, Submission
from tests.platform import factories as make
from tests.platform.series import BAD, GOOD, copies, enter, finish, series, tick

pytestmark = pytest.mark.django_db


@pytest.fixture
def contest(clock):
    return series(clock.now)


@pytest.fixture
def olga(contest):
    client = Client()
    client.force_login(make.user("olga"))
    return client


def url(contest, ending=""):
    return f"/competitions/{contest.contest.slug}/{ending}"


def text(response):
    return " ".join(response.content.decode().split())


def test_every_phase_of_a_series_is_shown_with_its_actions(contest, olga, clock):
    finish(enter(contest["Tweakathon[0]"], make.user("alice")))
    page = text(olga.get(url(contest, "manage/")))
    for phase in contest.contest.phases():
        assert f"<h3>{phase.title}</h3>" in page
    assert "Move the deadline" in page
    assert "No connected worker can hold these runs" in page
    make.worker()
    page = text(olga.get(url(contest, "manage/")))
    assert "2 runs of 1 entrant, as things stand now" in page
    assert "1 connected worker can hold them" in page


def test_an_action_is_shown_before_it_is_done(contest, olga, clock):
    phase = contest["Tweakathon[0]"]
    where = url(contest, "manage/act/extend-deadline/")
    assert 'name="closes_at"' in text(olga.get(where, {"phase": phase.pk}))
    wanted = {"phase": phase.pk, "closes_at": f"{contest.at(11):%Y-%m-%dT%H:%M:%S}", "move_later": "on"}
    page = text(olga.post(where, wanted))
    assert "Nothing has changed yet" in page
    assert "AutoML[1] opens on" in page
    assert contest["Tweakathon[0]"].closes_at == contest.at(10)
    done = olga.post(where, {**wanted, "confirm": "yes"})
    assert done["Location"] == url(contest, "manage/phases/"), "one is back where phases are"
    assert contest["Tweakathon[0]"].closes_at == contest.at(11)
    assert contest["AutoML[1]"].opens_at == contest.at(11)
    assert "was moved to" in text(olga.get(url(contest, "manage/")))
    assert AuditEntry.objects.get().user.username == "olga"


def test_an_action_that_a_rule_forbids_says_so_in_its_place(contest, olga):
    where = url(contest, "manage/act/release/")
    answer = olga.get(where, {"phase": contest["Final[0]"].pk})
    assert answer.status_code == 409
    assert "has not ended yet" in text(answer)


@pytest.mark.parametrize(("action", "what"), [("extend-deadline", "phase"), ("change-metric", "task")])
def test_what_belongs_to_another_competition_is_unknown_here(contest, olga, action, what):
    other = make.phase(make.competition(organizer=make.user("olga")))
    ids = {"phase": other.pk, "task": other.tasks.first().pk}
    assert olga.get(url(contest, f"manage/act/{action}/"), {what: ids[what]}).status_code == 404
    assert olga.get(url(contest, f"manage/act/{action}/"), {what: "x"}).status_code == 404


def test_runs_on_an_older_version_of_a_dataset_are_told(contest, olga):
    task = contest["Tweakathon[0]"].tasks.first()
    finish(enter(contest["Tweakathon[0]"], make.user("alice")))
    assert "older version" not in text(olga.get(url(contest, "manage/")))
    make.version(task.dataset, task.dataset.slug)
    assert "1 on an older version" in text(olga.get(url(contest, "manage/")))


def test_a_run_lost_on_two_workers_is_shown_as_a_suspect(contest, olga):
    run = enter(contest["Tweakathon[0]"], make.user("alice")).runs.first()
    for number in (1, 2):
        worker, _ = make.worker(f"machine{number}")
        Attempt.objects.create(run=run, number=number, worker=worker, secret_hash="x", outcome="lost")
    assert "on machine1 and machine2" in text(olga.get(url(contest, "manage/queue/")))


def test_every_offered_action_opens(contest, olga, clock):
    import re

    alice = finish(enter(contest["Tweakathon[0]"], make.user("alice")))
    clock.set(contest.at(10))
    tick()
    finish(copies(contest["AutoML[1]"])[0])
    clock.set(contest.at(13))
    tick()
    pages = [url(contest, "manage/"), url(contest, f"submissions/{alice.pk}/")]
    links = {
        link
        for page in pages
        for link in re.findall(r'href="([^"]+manage/act/[a-z-]+/[^"]*)"', text(olga.get(page)))
    }
    assert len(links) > 30
    for link in links:
        assert olga.get(link.replace("&amp;", "&")).status_code in (200, 409), link


def test_the_phases_page_says_what_counts_what_follows_and_what_is_outstanding(contest, clock):
    finish(enter(contest["Tweakathon[0]"], make.user("alice")))
    visitor = Client()
    page = text(visitor.get(url(contest, "phases/")))
    assert "Only the latest submission counts, even if it is worse or failed." in page
    assert "goes forward to Final[0] and AutoML[1] by itself" in page
    clock.set(contest.at(10))
    assert "Provisional: 1 entry is awaited." in text(visitor.get(url(contest, "phases/")))
    tick()
    assert "Provisional: 2 runs are outstanding." in text(visitor.get(url(contest, "phases/")))
    finish(copies(contest["AutoML[1]"])[0])
    assert "Provisional" not in text(visitor.get(url(contest, "phases/")))


@pytest.fixture
def won(contest, clock):
    """Final[0] is over; Alice won it before Bob, and two prizes wait."""
    for place, title in ((1, "1,000 EUR"), (2, "500 EUR")):
        Prize.objects.create(phase=contest["Final[0]"], place=place, title=title)
    for name, values in (("alice", GOOD), ("bob", BAD), ("dora", {"valid": BAD["valid"], "test": [0.5] * 6})):
        finish(enter(contest["Tweakathon[0]"], make.user(name)), values)
    clock.set(contest.at(10))
    tick()
    clock.set(contest.at(12))
    board.refresh_now(contest["Final[0]"])
    return contest


def client_of(name):
    client = Client()
    client.force_login(make.user(name))
    return client


def test_a_prize_goes_from_provisional_to_confirmed_and_the_code_is_public_then(won, olga):
    alice, visitor = client_of("alice"), Client()
    where = url(won, f"prizes/{won['Final[0]'].number}/")
    assert "fact sheet is awaited" in text(visitor.get(url(won, "phases/")))
    assert "Hand in fact sheet and code" in text(alice.get(url(won, "phases/")))
    assert client_of("bob").get(where).status_code == 404
    assert alice.post(where, {"fact_sheet": "A tree.", "publishes_code": "on"}).status_code == 400
    assert alice.post(where, {"fact_sheet": "A tree."}).status_code == 302
    claim = PrizeClaim.objects.get()
    assert claim.state == "fact_sheet"
    ids = {"phase": won["Final[0]"].pk, "entrant": claim.entrant_id}
    assert olga.get(url(won, "manage/act/confirm-prize/"), ids).status_code == 409
    entry = Submission.objects.get(phase=won["Final[0]"], entrant=claim.entrant)
    assert visitor.get(url(won, f"published/{entry.pk}/")).status_code == 404
    answers = {"fact_sheet": "A tree.", "publishes_code": "on", "licence": "Apache-2.0"}
    assert alice.post(where, answers).status_code == 302
    assert olga.post(url(won, "manage/act/confirm-prize/"), {**ids, "confirm": "yes"}).status_code == 302
    claim.refresh_from_db()
    assert claim.state == "confirmed"
    page = text(visitor.get(url(won, "phases/")))
    assert "Apache-2.0" in page
    assert "A tree." not in page
    answer = visitor.get(url(won, f"published/{entry.pk}/"))
    assert b"".join(answer.streaming_content) == b"PK"
    other = Submission.objects.get(phase=won["Final[0]"], entrant__name="bob")
    assert visitor.get(url(won, f"published/{other.pk}/")).status_code == 404


def test_when_a_winner_is_declined_the_next_in_line_moves_up_and_the_board_stays(won, olga, clock):
    def in_line():
        from leaderboards.prizes import winners

        return [(one.line.place, one.entrant.name) for one in winners(won["Final[0]"], clock.now)]

    assert in_line() == [(1, "alice"), (2, "dora")]
    entrant = make.entrant(won.contest, make.user("alice"))
    ids = {"phase": won["Final[0]"].pk, "entrant": entrant.pk, "why": "The code was not published."}
    assert olga.post(url(won, "manage/act/decline-prize/"), {**ids, "confirm": "yes"}).status_code == 302
    assert in_line() == [(1, "dora"), (2, "bob")]
    assert client_of("alice").get(url(won, f"prizes/{won['Final[0]'].number}/")).status_code == 404
    assert [row.entrant.name for row in board.rows(won["Final[0]"], clock.now)] == ["alice", "dora", "bob"]


def test_nobody_is_in_line_before_the_release(won):
    final = won["Final[0]"]
    final.release = Phase.When.BY_HAND
    final.save()
    page = text(Client().get(url(won, "phases/")))
    assert "fact sheet is awaited" not in page
    assert "1. 1,000 EUR" in page


def test_a_forecast_tells_whether_a_blind_phase_ends_in_time(clock):
    from submissions.forecast import Load, forecast, spread

    assert spread([10, 10, 10], 2) == [10, 10, 20]
    assert spread([1.0], 0) == []
    begins = clock.now
    made = forecast(
        [Load("a", 4, 585.0, 85.0)],
        entrants=4,
        without_code=1,
        workers=2,
        begins=begins,
        deadline=begins + dt.timedelta(seconds=700),
    )
    assert made.most_hours == pytest.approx(4 * 600 / 3600)
    assert made.ends_at_most == begins + dt.timedelta(seconds=1200)
    assert made.ends_as_a_rule == begins + dt.timedelta(seconds=200)
    assert (made.is_late_at_most, made.is_late_as_a_rule) == (True, False)
    assert made.points[-1] == (made.ends_as_a_rule, 1.0)
    nobody = forecast([Load("a", 4, 1, 1)], entrants=4, without_code=0, workers=0, begins=begins, deadline=None)
    assert nobody.ends_at_most is None
    assert nobody.is_late_as_a_rule


def test_more_people_and_submissions_cost_the_manage_page_no_more_queries(contest, olga):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    for name in ("alice", "bob"):
        finish(enter(contest["Tweakathon[0]"], make.user(name)))
    olga.get(url(contest, "manage/"))
    with CaptureQueriesContext(connection) as few:
        olga.get(url(contest, "manage/"))
    for name in ("carol", "dan", "erin"):
        enter(contest["Tweakathon[0]"], make.user(name))
    with CaptureQueriesContext(connection) as many:
        olga.get(url(contest, "manage/"))
    assert len(many) <= len(few) + 2  # those of a queue that was empty before
