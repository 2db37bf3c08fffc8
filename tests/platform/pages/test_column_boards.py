"""Boards of columns: what they show and to whom, their order, their files, and the buttons of entrants."""

import csv
import datetime as dt
import json

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from competitions.models import Answer, Question
from pages import urls
from submissions.models import Run
from tests.platform import factories as make
from tests.platform.leaderboards.columns import making
from tests.platform.submissions.programs import contest as programs

pytestmark = pytest.mark.django_db


@pytest.fixture
def ranked(world):
    """Two boards in the world's phase: accuracy, secret to organizers, and error, the smallest first."""
    making.programmed(world.phase)
    last = world.phase.tasks.order_by("order").last()
    Run.objects.filter(task=last).delete()
    last.delete()
    making.board(
        world.contest,
        ("accuracy", {"precision": 3, "group": "Quality"}),
        ("time", {"is_ascending": True, "precision": 0}),
        ("secret", {"is_hidden": True}),
        title="Quality",
        key="quality",
    )
    making.board(world.contest, ("error", {"is_ascending": True}), title="Errors", key="errors")
    values = {"bob": (0.5, 20, 3), "dora": (0.9, 7, 1), "emil": (0.70049, 30, 2)}
    for name, (accuracy, seconds, error) in values.items():
        scores = {"accuracy": accuracy, "time": seconds, "error": error, "secret": 77.7}
        making.entry(world.phase, name, scores)
    return world


def get(world, role="other", query="", ending="leaderboard/", headers=None):
    return world.client(role).get(world.url(ending) + query, headers=headers)


def names(html):
    rows = html.split("<tbody>")[1].split("</tbody>")[0].split('class="stick entrant"')[1:]
    return [row.split("<bdi>")[1].split("</bdi>")[0] for row in rows]


def test_it_shows_the_columns_of_the_first_board_rounded(ranked):
    html = get(ranked).content.decode()
    assert names(html) == ["dora", "emil", "bob"]
    assert "0.700" in html and "0.70049" not in html
    assert "secret" not in html.lower() and "77.7" not in html
    assert html.count('<tr class="mine">') == 1


def test_organizers_see_hidden_columns_and_that_they_are(ranked):
    html = get(ranked, "organizer").content.decode()
    assert "77.7" in html and ">hidden<" in html


def test_the_other_board_is_a_choice(ranked):
    html = get(ranked, query="?board=errors").content.decode()
    assert "Quality" in html
    assert "1.00" in html and "0.900" not in html
    assert get(ranked, query="?board=unknown").content.decode().count("0.900") == 1


def sort_keys(html):
    return [part.split('"')[0].split("&")[0] for part in html.split("sort=")[1:]]


def test_every_shown_column_sorts_the_way_that_is_best_first_and_back(ranked):
    accuracy, seconds, secret = ranked.contest.column_boards.get(key="quality").columns.all()
    for wish, expected in {
        f"c{accuracy.pk}t0": ["dora", "emil", "bob"],
        f"-c{accuracy.pk}t0": ["bob", "emil", "dora"],
        f"c{seconds.pk}t0": ["dora", "bob", "emil"],
        f"-c{seconds.pk}t0": ["emil", "bob", "dora"],
        "entrant": ["bob", "dora", "emil"],
        "-received": ["bob", "dora", "emil"],
        "place": ["dora", "emil", "bob"],
    }.items():
        assert names(get(ranked, query=f"?sort={wish}").content.decode()) == expected, wish
    for wish in (f"c{secret.pk}t0", f"c{accuracy.pk}t7", "values", "entrant__user__email", "c1"):
        html = get(ranked, query=f"?sort={wish}").content.decode()
        assert names(html) == ["dora", "emil", "bob"], wish
        assert wish not in sort_keys(html)


def test_a_page_takes_few_queries_however_many_stand_there(ranked, monkeypatch):
    monkeypatch.setattr("leaderboards.columns.reading.PER_PAGE", 4)

    def queries(role):
        client = ranked.client(role)
        with CaptureQueriesContext(connection) as captured:
            assert client.get(ranked.url("leaderboard/")).status_code == 200
        return [one["sql"] for one in captured]

    few = {role: len(queries(role)) for role in ("anonymous", "other", "organizer")}
    for number in range(6):
        making.entry(ranked.phase, f"more{number}", {"accuracy": number / 10, "time": 1, "error": 1})
    for role, before in few.items():
        many = queries(role)
        assert len(many) == before <= 12, role
        assert sum('FROM "leaderboards_columnrow"' in sql for sql in many) <= 2
    html = get(ranked, query="?page=2").content.decode()
    assert "5 to 8 of 9" in html


def test_nobody_but_organizers_sees_scores_that_the_phase_hides_until_it_has_closed(ranked):
    ranked.phase.hides_scores = True
    ranked.phase.save()
    for ending in ("leaderboard/", "leaderboard.csv", "leaderboard.json"):
        for role in ("anonymous", "other", "reviewer"):
            assert "dora" not in get(ranked, role, ending=ending).content.decode()
        assert "dora" in get(ranked, "organizer", ending=ending).content.decode()
    ranked.phase.closes_at = timezone.now() - dt.timedelta(hours=1)
    ranked.phase.save()
    assert "dora" in get(ranked, "anonymous").content.decode()


def test_a_hidden_board_and_a_hidden_column_of_a_phase_are_left_out_of_every_form(ranked):
    ranked.contest.column_boards.filter(key="quality").update(is_hidden=True)
    html = get(ranked).content.decode()
    assert "accuracy" not in html.lower() and "1.00" in html
    ranked.contest.column_boards.update(is_hidden=False)
    ranked.phase.hidden_columns = ["accuracy"]
    ranked.phase.save()
    for ending in ("leaderboard/", "leaderboard.csv", "leaderboard.json"):
        text = get(ranked, ending=ending).content.decode()
        assert "Accuracy" not in text and "0.900" not in text, ending


def test_a_frozen_board_stays_for_everybody_and_goes_on_for_organizers(ranked):
    ranked.phase.board = "frozen"
    ranked.phase.save()
    making.entry(ranked.phase, "frida", {"accuracy": 0.99, "time": 1, "error": 0})
    assert "This board is frozen since" in get(ranked).content.decode()
    for ending in ("leaderboard/", "leaderboard.csv", "leaderboard.json"):
        assert "frida" not in get(ranked, ending=ending).content.decode()
        assert "frida" in get(ranked, "organizer", ending=ending).content.decode()
    ranked.phase.board = "shown"
    ranked.phase.save()
    assert "frida" in get(ranked).content.decode()


def test_an_anonymous_board_names_nobody_but_ones_own_row(ranked):
    ranked.phase.is_anonymous = True
    ranked.phase.save()
    question = Question.objects.create(competition=ranked.contest, text="Method", is_on_board=True)
    entrant = make.entrant(ranked.contest, make.user("dora"))
    Answer.objects.create(question=question, entrant=entrant, value="Dora's own trees")
    for ending in ("leaderboard/", "leaderboard.csv", "leaderboard.json"):
        text = get(ranked, ending=ending).content.decode()
        assert "dora" not in text.lower() and "Entrant " in text and "bob" in text, ending
        assert "dora" in get(ranked, "organizer", ending=ending).content.decode()
    assert names(get(ranked, query="?sort=entrant").content.decode())[0].startswith("Entrant")


def test_answers_that_belong_on_boards_stand_beside_the_scores(ranked):
    method = Question.objects.create(competition=ranked.contest, text="Method", is_on_board=True)
    secret = Question.objects.create(competition=ranked.contest, text="Address")
    entrant = make.entrant(ranked.contest, make.user("dora"))
    Answer.objects.create(question=method, entrant=entrant, value=["<b>trees", "nets"])
    Answer.objects.create(question=secret, entrant=entrant, value="Elm Street")
    html = get(ranked).content.decode()
    assert "&lt;b&gt;trees, nets" in html and "Elm Street" not in html
    assert "<b>trees, nets" in get(ranked, ending="leaderboard.csv").content.decode()


def test_csv_and_json_say_what_the_page_says(ranked):
    lines = list(csv.DictReader(get(ranked, ending="leaderboard.csv").content.decode().splitlines()))
    assert [(line["place"], line["entrant"], line["Accuracy"]) for line in lines] == [
        ("1", "dora", "0.900"),
        ("2", "emil", "0.700"),
        ("3", "bob", "0.500"),
    ]
    data = json.loads(get(ranked, ending="leaderboard.json", query="?board=errors").content)
    assert data["board"] == {"key": "errors", "title": "Errors", "rule": "Force_Last"}
    [scores] = data["rows"][0]["scores"].values()
    assert scores == {"error": 1.0}
    assert any("the smallest leads" in rule for rule in data["rules"])


def test_the_live_part_is_sent_only_when_something_changed(ranked):
    htmx = {"HX-Request": "true"}
    html = get(ranked, headers=htmx).content.decode()
    assert "<html" not in html
    seen = html.split('data-digest="')[1].split('"')[0]
    assert get(ranked, query=f"?seen={seen}", headers=htmx).status_code == 204
    making.entry(ranked.phase, "frida", {"accuracy": 0.99})
    assert get(ranked, query=f"?seen={seen}", headers=htmx).status_code == 200


def put(world, role, submission, **answers):
    address = world.url(f"submissions/{submission.pk}/leaderboard/")
    return world.client(role).post(address, answers)


def test_an_entrant_adds_a_submission_and_takes_it_away_where_the_rule_allows_it(ranked):
    for board in ranked.contest.column_boards.all():
        board.rule = "Add_And_Delete"
        board.save()
    made = making.entry(ranked.phase, "alice", {"accuracy": 0.95})
    assert "alice" not in get(ranked).content.decode()
    page = ranked.client("participant").get(made.get_absolute_url()).content.decode()
    assert "Add it to the leaderboard" in page
    assert put(ranked, "participant", made).status_code == 302
    assert names(get(ranked).content.decode()) == ["alice"]
    page = ranked.client("participant").get(made.get_absolute_url()).content.decode()
    assert "Take it away" in page
    assert put(ranked, "participant", made, take="yes").status_code == 302
    assert "alice" not in get(ranked).content.decode()


def test_strangers_and_organizers_add_nothing_for_others(ranked):
    ranked.contest.column_boards.update(rule="Add")
    made = making.entry(ranked.phase, "alice", {"accuracy": 0.95})
    assert put(ranked, "organizer", made).status_code == 403
    assert put(ranked, "other", made).status_code == 404
    assert put(ranked, "stranger", made).status_code == 404


def test_ones_own_submissions_say_what_is_on_the_leaderboard(ranked):
    address = ranked.url("submissions/")
    assert "the latest finished one is on the leaderboard" in ranked.client("other").get(address).content.decode()
    ranked.contest.column_boards.update(rule="Add")
    assert "add a finished submission on its page" in ranked.client("other").get(address).content.decode()


def test_several_tasks_stand_beside_each_other_with_the_mean_that_decides():
    phase = making.phase(tasks=2)
    making.board(phase.competition, ("score", {"group": "Quality"}))
    making.entry(phase, "alice", {"score": 0.25}, {"score": 0.5})
    making.entry(phase, "bob", {"score": 1.0})
    html = Client().get(f"/competitions/{phase.competition.slug}/leaderboard/").content.decode()
    for task in phase.tasks.all():
        assert f"{task.dataset_name} · Quality" in html
    assert "0.38" in html  # the mean of 0.25 and 0.5
    assert names(html) == ["alice", "bob"]
    text = Client().get(f"/competitions/{phase.competition.slug}/leaderboard.csv").content.decode()
    first, second = [task.dataset_name for task in phase.tasks.order_by("order")]
    assert text.splitlines()[0].startswith(f"place,entrant,{first} Score,{second} Score,")


def test_every_page_of_a_competition_with_programs_opens():
    phase = programs.phase(ingestion=True)
    programs.board(phase.competition, "accuracy")
    made = making.entry(phase, "alice", {"accuracy": 0.4})
    make.participant(phase.competition, make.user("alice"))
    arguments = {
        "slug": phase.competition.slug,
        "phase_id": phase.pk,
        "round_id": phase.round_id,
        "submission_id": made.pk,
        "run_id": made.runs.get().pk,
        "task_id": phase.tasks.get().pk,
    }
    opened = 0
    for person in ("alice", "olga"):
        client = Client()
        client.force_login(make.user(person))
        for pattern in urls.urlpatterns:
            names_of = pattern.pattern.converters
            if "slug" in names_of and arguments.keys() >= names_of.keys():
                wanted = {name: arguments[name] for name in names_of}
                answer = client.get(reverse(pattern.name, kwargs=wanted))
                opened += answer.status_code == 200
                assert answer.status_code < 500, pattern.name
    assert opened > 40


def test_the_evaluation_page_tells_the_columns_that_one_may_know(ranked):
    html = get(ranked, ending="evaluation/").content.decode()
    assert "Accuracy" in html and "The smallest value leads." in html
    assert "Secret" not in html and "metrics appear here" not in html
    assert "Secret" in get(ranked, "organizer", ending="evaluation/").content.decode()
