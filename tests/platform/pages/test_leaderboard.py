"""The leaderboard: what it shows and to whom, its order, its CSV, and its one query for rows."""

import csv
import datetime as dt
import io

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from competitions.models import Entrant
from leaderboards import board
from leaderboards.models import LeaderboardRow
from tests.platform import factories as make
from tests.platform.pages.conftest import scored

HTMX = {"HX-Request": "true"}


@pytest.fixture
def ranked(world):
    """Bob 0.4 (from the world), Dora 0.9, Emil 0.6; Alice waits for her first score."""
    for name, value in (("dora", 0.9), ("emil", 0.6)):
        person = make.user(name)
        make.participant(world.contest, person)
        scored(world.phase, person, value)
    board.refresh_now(world.phase)
    return world


def names_in_order(html):
    rows = html.split("<tbody>")[1].split("</tbody>")[0].split('class="stick entrant"')[1:]
    return [row.split("<bdi>")[1].split("</bdi>")[0] for row in rows]


def get(world, role="other", query="", headers=None):
    return world.client(role).get(world.url("leaderboard/") + query, headers=headers)


def test_it_shows_places_means_scores_errors_and_ranks(ranked):
    html = get(ranked).content.decode()
    assert names_in_order(html) == ["dora", "emil", "bob"]
    assert "0.9000" in html
    assert "± 0.012" in html
    assert 'class="cell-rank top"' in html


def test_ones_own_row_is_marked(ranked):
    html = get(ranked).content.decode()
    assert html.count('<tr class="mine">') == 1
    assert '<tr class="mine">' not in get(ranked, "anonymous").content.decode()


ORDERS = {
    "place": ["dora", "emil", "bob"],
    "-place": ["bob", "emil", "dora"],
    "entrant": ["bob", "dora", "emil"],
    "mean_rank": ["dora", "emil", "bob"],
    "-mean_score": ["bob", "emil", "dora"],
    "task0": ["dora", "emil", "bob"],
    "-task1": ["bob", "emil", "dora"],
    "entrant__user__password": ["dora", "emil", "bob"],
    "task99": ["dora", "emil", "bob"],
    "'; DROP TABLE": ["dora", "emil", "bob"],
}


@pytest.mark.parametrize("key", ORDERS)
def test_it_sorts_by_keys_of_the_list_and_ignores_others(ranked, key):
    assert names_in_order(get(ranked, query=f"?sort={key}").content.decode()) == ORDERS[key]


def test_the_rows_are_one_query_however_many_there_are(ranked):
    def queries():
        with CaptureQueriesContext(
            connection,
        ) as captured:
            get(ranked, "anonymous")
        return [query["sql"] for query in captured]

    few = queries()
    for index in range(20):
        scored(ranked.phase, make.user(f"more{index}"), index / 40)
    board.refresh_now(ranked.phase)
    many = queries()
    assert len(many) == len(few) <= 12
    assert sum('FROM "leaderboards_leaderboardrow"' in sql for sql in many) == 1


def test_the_live_part_is_sent_only_when_something_changed(ranked):
    html = get(ranked).content.decode()
    digest = html.split('data-digest="')[1].split('"')[0]
    assert get(ranked, query=f"?seen={digest}", headers=HTMX).status_code == 204
    row = LeaderboardRow.objects.get(entrant__name="bob", board__part="valid")
    LeaderboardRow.objects.filter(pk=row.pk).update(mean_score=0.99)
    changed = get(ranked, query=f"?seen={digest}", headers=HTMX)
    assert changed.status_code == 200
    assert "<html" not in changed.content.decode()


def test_a_blind_phase_shows_no_scores_and_no_dataset_names_before_it_closes(ranked):
    ranked.blind.opens_at = timezone.now() - dt.timedelta(hours=1)
    ranked.blind.save()
    scored(ranked.blind, ranked.people["other"], 0.77)
    board.refresh_now(ranked.blind)
    for address in ("leaderboard/", "leaderboard.csv", "datasets/", "evaluation/", "rules/", ""):
        text = ranked.client("other").get(ranked.url(address) + "?phase=2").content.decode()
        assert "0.77" not in text
        assert "0.87" not in text
        for task in ranked.blind.tasks.all():
            assert task.dataset_name not in text


def test_test_scores_are_not_on_the_board_of_an_open_phase(ranked):
    assert "0.5000" not in get(ranked, "organizer").content.decode()


def test_the_csv_has_the_numbers_of_the_page(ranked):
    response = ranked.client("anonymous").get(ranked.url("leaderboard.csv"))
    rows = list(csv.reader(io.StringIO(response.content.decode())))
    assert rows[0][:5] == ["place", "entrant", "mean rank", "mean score", "entries"]
    assert rows[1][:5] == ["1", "dora", "1.0000", "0.900000", "1"]
    assert rows[1][5:8] == ["0.9000", "0.012", "1"]
    assert response.headers["Content-Disposition"].startswith("attachment")


@pytest.mark.parametrize("name", ["=HYPERLINK(1)", "+1", "-1", "@x"])
def test_no_name_in_the_csv_is_a_formula(ranked, name):
    Entrant.objects.filter(name="dora").update(name=name)
    response = ranked.client("anonymous").get(ranked.url("leaderboard.csv"))
    assert list(csv.reader(io.StringIO(response.content.decode())))[1][1] == f"'{name}"


def test_hostile_names_are_text(ranked):
    Entrant.objects.filter(name="dora").update(name='<img src=x onerror="alert(1)">')
    html = get(ranked).content.decode()
    assert "<img" not in html
    assert "<bdi>&lt;img src=x onerror=&quot;alert(1)&quot;&gt;</bdi>" in html


def test_an_entry_without_a_score_is_shown_as_missing(world):
    failed = make.submission(world.phase, world.people["participant"], state="failed")
    failed.runs.update(state="failed", reason="crashed")
    board.refresh_now(world.phase)
    html = get(world).content.decode()
    assert names_in_order(html) == ["bob", "alice"]
    assert "missing</span>" in html


def test_a_competition_without_phases_has_an_empty_board(world):
    make.competition("empty")
    assert b"no phases yet" in world.client("anonymous").get("/competitions/empty/leaderboard/").content
    assert world.client("anonymous").get("/competitions/empty/leaderboard.csv").status_code == 200
