"""The leaderboard: what it shows and to whom, its order, its CSV, and its one query for rows."""

import csv
import datetime as dt
import io
import json
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from competitions.models import Entrant
from leaderboards import board
from leaderboards.models import LeaderboardRow
from submissions.models import Handover, Run, Submission
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


def crowd(world, numbers):
    """More entrants with falling scores below those who are there."""
    for index in numbers:
        scored(world.phase, make.user(f"more{index:03}"), 0.39 - index / 1000)
    board.refresh_now(world.phase)


def queries_of(world, role, query=""):
    client = world.client(role)
    with CaptureQueriesContext(connection) as captured:
        response = client.get(world.url("leaderboard/") + query)
    assert response.status_code == 200
    return [one["sql"] for one in captured]


def test_a_page_takes_eight_queries_and_one_for_all_rows(ranked):
    asked = [
        (role, query)
        for role in ("anonymous", "stranger", "other", "organizer")
        for query in ("", "?page=2&sort=-task1", "?q=more")
    ]
    crowd(ranked, range(52))
    few = [len(queries_of(ranked, *one)) for one in asked]
    crowd(ranked, range(52, 75))
    for one, before in zip(asked, few, strict=True):
        many = queries_of(ranked, *one)
        assert len(many) == before <= 8, one
        assert sum('FROM "leaderboards_leaderboardrow"' in sql for sql in many) == 1, one


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


def pinned(html):
    parts = html.split('<tbody class="pinned">')
    return names_in_order("<tbody>" + parts[1]) if len(parts) > 1 else []


def test_a_page_has_fifty_rows_and_ones_own_where_it_stands_elsewhere(ranked):
    crowd(ranked, range(60))
    scored(ranked.phase, ranked.people["participant"], 0.01)
    board.refresh_now(ranked.phase)
    first = get(ranked, "participant").content.decode()
    assert len(names_in_order(first)) == 50
    assert pinned(first) == ["alice"]
    assert '<span class="place place-64">64</span>' in first
    second = get(ranked, "participant", "?page=2").content.decode()
    assert len(names_in_order(second)) == 14
    assert names_in_order(second)[-1] == "alice"
    assert pinned(second) == []
    assert "51 to 64 of 64" in second


def test_a_page_behind_the_last_is_the_first(ranked):
    for number in ("7", "0", "-3", "99999999999999", "x"):
        assert names_in_order(get(ranked, query=f"?page={number}").content.decode()) == ["dora", "emil", "bob"]


def test_it_finds_entrants_by_a_part_of_the_name_in_any_case(ranked):
    entrant = Entrant.objects.get(name="emil")
    entrant.name = "Émile_Ärger 100%"
    entrant.save()
    for wish, expected in (("ÄRG", [entrant.name]), ("%", [entrant.name]), ("o", ["dora", "bob"]), ("'", [])):
        html = get(ranked, "anonymous", f"?q={wish.replace('%', '%25')}").content.decode()
        assert (names_in_order(html) if "<tbody>" in html else []) == expected
    assert "\\x00" not in get(ranked, "anonymous", "?q=%00").content.decode()


def test_ones_own_row_stays_in_sight_while_one_searches_for_others(ranked):
    html = get(ranked, "other", "?q=dora").content.decode()
    assert names_in_order(html) == ["dora"]
    assert pinned(html) == ["bob"]


def test_the_live_part_keeps_page_order_search_and_part(ranked):
    crowd(ranked, range(60))
    html = get(ranked, "organizer", "?page=2&sort=-entries&part=test&q=o").content.decode()
    address = html.split('hx-get="')[1].split('"')[0].replace("&amp;", "&")
    for kept in ("page=2", "sort=-entries", "part=test", "q=o", "phase=1", "seen="):
        assert kept in address
    assert ranked.client("organizer").get(address, headers=HTMX).status_code == 204


def test_organizers_may_look_at_the_other_part_and_nobody_else_does(ranked):
    assert "1.0000" in get(ranked, "organizer", "?part=test").content.decode()
    assert "only organizers see the scores of this part" in get(ranked, "organizer", "?part=test").content.decode()
    for role in ("anonymous", "other"):
        html = get(ranked, role, "?part=test").content.decode()
        assert "validation part" in html
        assert "1.0000" not in html


def test_a_hidden_board_is_shown_to_organizers_alone(ranked):
    ranked.phase.board = "hidden"
    ranked.phase.save(update_fields=["board"])
    for role in ("anonymous", "other", "reviewer"):
        html = get(ranked, role).content.decode()
        assert "do not show the leaderboard" in html
        assert "0.9000" not in html
        assert "dora" not in ranked.client(role).get(ranked.url("leaderboard.csv")).content.decode()
        assert "dora" not in ranked.client(role).get(ranked.url("leaderboard.json")).content.decode()
        assert "dora" not in ranked.client(role).get(ranked.url("leaderboard/history/")).content.decode()
        assert "dora" not in get(ranked, role, "?round=series").content.decode()
    assert names_in_order(get(ranked, "organizer").content.decode()) == ["dora", "emil", "bob"]


def test_a_frozen_board_stays_for_everybody_and_goes_on_for_organizers(ranked):
    ranked.phase.board = "frozen"
    ranked.phase.save(update_fields=["board"])
    scored(ranked.phase, make.user("zoe"), 0.95)
    board.refresh_now(ranked.phase)
    for address in ("leaderboard/", "leaderboard.csv", "leaderboard.json", "leaderboard/history/"):
        assert "zoe" not in ranked.client("other").get(ranked.url(address)).content.decode()
        assert "zoe" in ranked.client("organizer").get(ranked.url(address)).content.decode()
    assert "This board is frozen since" in get(ranked).content.decode()


def anonymous_phase(world):
    world.phase.is_anonymous = True
    world.phase.save(update_fields=["is_anonymous"])


def test_an_anonymous_board_names_nobody_but_ones_own_row(ranked):
    anonymous_phase(ranked)
    for address in ("leaderboard/", "leaderboard.csv", "leaderboard.json", "leaderboard/history/"):
        text = ranked.client("other").get(ranked.url(address)).content.decode()
        assert "dora" not in text, address
        assert "emil" not in text, address
    html = get(ranked).content.decode()
    assert names_in_order(html)[2] == "bob"
    assert all(re.fullmatch(r"Entrant \d+", name) for name in names_in_order(html)[:2])
    assert "dora" in get(ranked, "organizer").content.decode()


def test_what_would_tell_whose_row_it_is_is_neither_shown_nor_sorted_nor_searched(ranked):
    anonymous_phase(ranked)
    latest = get(ranked, "anonymous", "?sort=received").content.decode()
    table = latest.split("<table")[1].split("</table>")[0]
    assert "<time" not in table
    assert "Entries" not in table
    places = get(ranked, "anonymous").content.decode()
    assert names_in_order(latest) == names_in_order(places)
    assert "No entrant of this board" in get(ranked, "anonymous", "?q=dora").content.decode()
    first = names_in_order(places)[0]
    assert names_in_order(get(ranked, "anonymous", f"?q={first}").content.decode()) == [first]
    row = json.loads(ranked.client("anonymous").get(ranked.url("leaderboard.json")).content)["boards"][0]["rows"][
        0
    ]
    assert (row["entries"], row["number"], row["entry_received"], row["wall_seconds"]) == (None,) * 4
    by_name = names_in_order(get(ranked, "anonymous", "?sort=entrant").content.decode())
    assert by_name == sorted(by_name, key=lambda name: int(name.split()[1]))


def test_names_come_with_the_release(ranked):
    anonymous_phase(ranked)
    ranked.phase.closes_at = timezone.now() - dt.timedelta(minutes=1)
    ranked.phase.save()
    assert names_in_order(get(ranked, "anonymous").content.decode()) == ["dora", "emil", "bob"]


def released(world, value, name="dora"):
    """The blind phase, over and released, with one entry."""
    phase = world.blind
    phase.opens_at = timezone.now() - dt.timedelta(days=2)
    phase.closes_at = timezone.now() - dt.timedelta(days=1)
    phase.save()
    made = scored(phase, make.user(name), value)
    board.refresh_now(phase)
    return made


def test_a_board_with_runs_outstanding_is_provisional(ranked):
    made = released(ranked, 0.5)
    assert "Provisional" not in get(ranked, query="?phase=2").content.decode()
    waiting = make.submission(ranked.blind, make.user("emil"))
    assert "Provisional: 2 runs outstanding." in get(ranked, query="?phase=2").content.decode()
    Submission.objects.filter(pk=waiting.pk).update(disqualified_at=timezone.now())
    assert "Provisional" not in get(ranked, query="?phase=2").content.decode()
    Run.objects.filter(submission=made, order=0).update(state="running")
    assert "Provisional: 1 run outstanding." in get(ranked, query="?phase=2").content.decode()


def test_whoever_had_no_code_is_listed_without_a_place(ranked):
    released(ranked, 0.5)
    bob = Entrant.objects.get(name="bob")
    Handover.objects.create(phase=ranked.blind, entrant=bob, outcome="no_code", made_at=timezone.now())
    html = get(ranked, query="?phase=2").content.decode()
    assert "No code, not ranked here:" in html
    lines = ranked.client("other").get(ranked.url("leaderboard.csv") + "?phase=2").content.decode().splitlines()
    assert lines[-1].startswith(",bob,")
    assert ",no code," in lines[-1]
    data = json.loads(ranked.client("other").get(ranked.url("leaderboard.json") + "?phase=2").content)
    assert data["without_code"] == ["bob"]


def test_baselines_carried_and_organizers_entries_are_marked_and_stand_in_between(ranked):
    Submission.objects.filter(entrant__name="dora").update(arrival="carried")
    baseline = Entrant.objects.get(name="emil")
    baseline.is_baseline = True
    baseline.save()
    html = get(ranked).content.decode()
    assert names_in_order(html) == ["dora", "emil", "bob"]
    assert "carried over" in html
    assert "baseline" in html
    assert "it stands after 1" in html


def test_it_says_what_would_change_the_winner(ranked):
    assert "The winner would be the same by mean score" in get(ranked).content.decode()
    run = Run.objects.get(submission__entrant__name="dora", order=0)
    run.scores.filter(part="valid").update(value=-0.9)
    board.refresh_now(ranked.phase)
    html = get(ranked).content.decode()
    first = ranked.phase.tasks.first()
    assert f"Without {first.name}, the winner would be dora." in html


def test_the_json_has_rules_parts_ranks_errors_and_times(ranked):
    data = json.loads(ranked.client("organizer").get(ranked.url("leaderboard.json")).content)
    assert [board["part"] for board in data["boards"]] == ["valid", "test"]
    assert data["rules"]["counts"] == "latest"
    row = data["boards"][0]["rows"][0]
    assert (row["place"], row["entrant"], row["datasets_with_a_score"], row["number"]) == (1, "dora", 2, 1)
    assert row["scores"][0] == {
        "dataset": data["datasets"][0]["name"],
        "value": 0.9,
        "stderr": 0.012,
        "state": "finished",
        "rank": 1,
    }
    public = json.loads(ranked.client("anonymous").get(ranked.url("leaderboard.json")).content)
    assert [board["part"] for board in public["boards"]] == ["valid"]


def test_a_long_export_comes_in_pieces_and_whole(ranked, monkeypatch):
    monkeypatch.setattr("pages.views.leaderboard.AT_ONCE", 12)
    crowd(ranked, range(30))
    response = ranked.client("anonymous").get(ranked.url("leaderboard.csv"))
    assert response.streaming
    rows = list(csv.reader(io.StringIO(response.getvalue().decode())))
    assert len(rows) == 1 + 33
    assert {len(row) for row in rows} == {len(rows[0])}
    data = json.loads(ranked.client("anonymous").get(ranked.url("leaderboard.json")).getvalue())
    assert len(data["boards"][0]["rows"]) == 33


def test_the_series_is_the_mean_of_the_places_of_the_boards_one_sees(ranked):
    released(ranked, 0.5)
    html = get(ranked, query="?round=series").content.decode()
    assert names_in_order(html) == ["dora", "emil", "bob"]
    assert "Mean of the places in 2 phases" in html
    lines = list(
        csv.reader(
            io.StringIO(
                ranked.client("other").get(ranked.url("leaderboard.csv") + "?round=series").content.decode()
            )
        )
    )
    assert lines[1][:5] == ["1", "dora", "1.0000", "0.750000", "2"]
    assert lines[2][:3] == ["2", "emil", "2.0000"]
    data = json.loads(ranked.client("other").get(ranked.url("leaderboard.json") + "?round=0").content)
    assert data["rows"][0]["phases"][1]["place"] == 1


def test_an_anonymous_board_counts_in_no_series(ranked):
    released(ranked, 0.5)
    anonymous_phase(ranked)
    html = get(ranked, query="?round=series").content.decode()
    assert names_in_order(html) == ["dora"]
    assert "Not counted" in html
    assert ranked.phase.title in html.split("Not counted")[1]


def test_the_rise_from_automl_to_final_is_told_with_its_winners(ranked):
    released(ranked, 0.3)
    final = make.phase(
        ranked.contest,
        kind="final",
        title="Final[1]",
        parent=ranked.phase,
        opens_at=timezone.now() - dt.timedelta(days=3),
        closes_at=timezone.now() - dt.timedelta(days=2),
    )
    scored(final, make.user("emil"), 0.4)
    board.refresh_now(final)
    html = get(ranked, query="?round=series").content.decode()
    assert "Rise from AutoML to Final" in html
    assert '<td class="num up" rowspan="2">25</td>' in html


def test_the_history_shows_who_leads_and_oneself(ranked):
    html = ranked.client("other").get(ranked.url("leaderboard/history/")).content.decode()
    assert "<svg viewBox" in html
    assert html.count('class="rank-line') == 3
    assert '<tr class="mine">' in html
    for role in ("anonymous", "other"):
        blind = ranked.client(role).get(ranked.url("leaderboard/history/") + "?phase=2").content.decode()
        assert "There is no history to be shown" in blind


def test_the_history_of_nothing_is_no_error(world):
    make.competition("empty")
    for ending in (
        "leaderboard/history/",
        "leaderboard.json",
        "leaderboard/?round=series",
        "leaderboard/?round=9",
    ):
        assert world.client("anonymous").get(f"/competitions/empty/{ending}").status_code == 200
