"""Figures and tables: on pages, as files, in the report, for those who may see them."""

import csv
import datetime as dt
import gzip
import io
import json
import os
import re
from pathlib import Path

import altair
import pandas as pd
import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from analysis import export, work
from analysis.cells import shown
from analysis.charts.base import spec
from analysis.charts.fit import fitted
from analysis.charts.look import CONFIG, PAPER
from analysis.drawing import bundle, pictures
from analysis.inputs.audience import Audience
from analysis.inputs.boards import Loaded
from analysis.models import Computed
from analysis.report import HTML, REPORT
from analysis.results import Column, Result, Table
from analysis.sections import BY_KEY
from competitions.models import Competition, Phase
from pages.templatetags.figures import blocks_of
from tests.platform import factories as make
from tests.platform.analysis import gallery
from tests.platform.series import enter, finish

CSS = Path(__file__).parents[3] / "platform" / "pages" / "static" / "podium"


@pytest.fixture(scope="module")
def result() -> Result:
    """One figure of every kind."""
    return gallery.build(Loaded(()), None)


@pytest.fixture
def contest(monkeypatch) -> Competition:
    """A phase that is over with two entrants; its analyses are the gallery alone."""
    monkeypatch.setattr("analysis.report.SECTIONS", (gallery.SECTION,))
    monkeypatch.setattr("pages.views.analysis.SECTIONS", (gallery.SECTION,))
    monkeypatch.setitem(BY_KEY, "gallery", gallery.SECTION)
    phase = make.phase(make.competition())
    for name in ("alice", "bob"):
        finish(enter(phase, make.user(name)))
    Phase.objects.filter(pk=phase.pk).update(closes_at=timezone.now() - dt.timedelta(minutes=1))
    return phase.competition


def address(contest: Competition, rest: str = "gallery/") -> str:
    return f"{contest.get_absolute_url()}analysis/{rest}"


def computed(contest: Competition, **audience) -> Result:
    phase = contest.phases().get()
    return work.compute_now(contest, gallery.SECTION, Audience(phase=phase.pk, part="valid", **audience))


def person(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client


def test_colours_on_paper_are_those_of_the_light_page():
    styles = (CSS / "base.css").read_text() + (CSS / "analysis.css").read_text()
    light = dict(re.findall(r"(--[\w-]+): light-dark\((#\w{6}),", styles))
    assert {name: light.get(name) for name in PAPER} == PAPER
    used = set(re.findall(r'"(--[\w-]+)"', json.dumps(CONFIG)))
    assert used <= set(PAPER)


def test_a_page_has_the_sentence_the_method_the_seed_and_links_to_files_of_every_figure(result):
    html = blocks_of(result.blocks, "/a/", "?phase=1")
    assert html.count("data-spec") == len(gallery.charts())
    for expected in ("By hand.", "seed 7", "nothing is drawn at random", "Six datasets are few."):
        assert expected in html
    assert 'href="/a/scatter.svg?phase=1"' in html
    assert 'aria-label="The scatter of 4 entrants."' in html


def test_names_of_entrants_are_text_and_nothing_else(result):
    html = blocks_of(result.blocks, "/a/")
    assert "<b>bob" not in html
    picture = pictures.svg(result.named("bars").spec).decode()
    assert "<b>bob" not in picture and "&lt;b&gt;bob" in picture


def test_files_have_all_numbers_and_names_that_no_spreadsheet_takes_for_a_formula(result):
    figure = result.named("scatter")
    rows = list(csv.reader(io.StringIO(export.as_csv(figure))))
    assert len(rows) == 1 + len(figure.rows)
    assert rows[0] == ["who", "dataset", "x", "y", "low"]
    assert not any(cell.startswith("=") for row in rows for cell in row)
    assert float(rows[1][3]) == figure.rows[0][3]


def test_the_json_is_the_specification_and_what_goes_with_it(result):
    about = export.as_json(result.named("scatter"))["usermeta"]
    assert (about["n"], about["seed"], about["sentence"]) == ("4 entrants", 7, "The scatter of 4 entrants.")
    assert about["warnings"] == ["Six datasets are few."]


def test_a_picture_names_nothing_that_is_fetched(result, caplog):
    asks = {**result.named("bars").spec, "data": {"url": "http://127.0.0.1:9/data.csv"}, "datasets": {}}
    assert pictures.svg(asks) == pictures.NOT_DRAWN
    assert "External data url not allowed" in caplog.text


def test_pictures_are_kept_by_what_they_show_and_removed_when_they_are_old(result, settings, tmp_path):
    settings.PODIUM_HOME = tmp_path
    spec = result.named("bars").spec
    first = pictures.svg(spec)
    (kept,) = (tmp_path / "cache" / "pictures").iterdir()
    kept.write_bytes(b"kept")
    assert pictures.svg(spec) == b"kept" != first
    os.utime(kept, (0, 0))
    pictures.sweep()
    assert not kept.exists()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"mark": "bar"}, {"width": 720}),
        ({"mark": "bar", "width": 90}, {"width": 90}),
        ({"facet": {"field": "a"}, "columns": 9, "spec": {"mark": "bar"}}, {"columns": 3}),
        ({"concat": [{}, {}, {}, {}], "columns": 4}, {"columns": 3}),
    ],
)
def test_pictures_in_files_get_a_width(spec, expected):
    assert expected.items() <= fitted(spec).items()


@pytest.mark.parametrize(
    ("cell", "column", "text"),
    [
        (0.12345, Column("a", "A", "number"), "0.123"),
        (0.00001, Column("a", "A", "number"), "1.0e-05"),
        (-2.2e18, Column("a", "A", "number"), "-2.2e+18"),
        (None, Column("a", "A", "number"), "–"),
        (0.876, Column("a", "A", "percent"), "87.6 %"),
        (12345.0, Column("a", "A", "integer"), "12 345"),
        (True, Column("a", "A"), "yes"),
    ],
)
def test_cells_are_shown_in_the_words_of_their_column(cell, column, text):
    assert shown(cell, column).text == text


@pytest.mark.django_db
def test_the_script_that_draws_is_kept_for_ever_under_its_version(client, monkeypatch):
    monkeypatch.setattr(bundle, "script", lambda: gzip.compress(b"draw()"))
    address = f"/vega/{bundle.version()}.js"
    packed = client.get(address, headers={"accept-encoding": "gzip"})
    assert packed["Content-Encoding"] == "gzip" and gzip.decompress(packed.content) == b"draw()"
    assert "immutable" in packed["Cache-Control"]
    plain = client.get(address)
    assert plain.content == b"draw()" and "Content-Encoding" not in plain
    assert client.get("/vega/another.js").status_code == 404


@pytest.mark.django_db
def test_files_are_those_of_what_one_may_see(contest):
    for name in ("bars.svg", "bars.csv", "scores.csv", "bars.json"):
        assert Client().get(address(contest, f"gallery/{name}")).status_code == 404, "it is not computed yet"
    computed(contest)
    answer = Client().get(address(contest, "gallery/bars.svg"))
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/svg+xml")
    assert "sandbox" in answer["Content-Security-Policy"] and answer.content.startswith(b"<svg")
    assert f"{contest.slug}-gallery-bars.svg" in answer["Content-Disposition"]
    assert Client().get(address(contest, "gallery/bars.png")).content.startswith(b"\x89PNG")
    assert Client().get(address(contest, "gallery/scores.csv")).content.startswith(b"who,dataset")
    for name in ("scores.svg", "bars.exe", "none.csv"):
        assert Client().get(address(contest, f"gallery/{name}")).status_code == 404
    assert Client().get(address(contest, "gallery/bars.csv?part=test")).status_code == 200, "falls back to valid"


@pytest.mark.django_db
def test_the_test_part_is_a_choice_for_organizers_alone_until_it_is_released(contest):
    computed(contest)
    assert "test scores" not in Client().get(address(contest)).content.decode()
    organizer = person("olga")
    page = organizer.get(address(contest)).content.decode()
    assert "test scores" in page and "?as=public" in page
    assert "test scores" not in organizer.get(address(contest, "gallery/?as=public")).content.decode()
    computed(contest, sees_hidden=True)
    wish = "gallery/bars.csv?phase=1&part=test"
    assert organizer.get(address(contest, wish)).status_code == 404, "of the test part nothing is computed"


@pytest.mark.django_db
def test_a_tool_answers_what_the_address_asks_and_nothing_that_is_no_option(contest):
    computed(contest)
    assert "constructor was chosen." in Client().get(address(contest) + "?one=constructor").content.decode()
    page = Client().get(address(contest) + "?one=<script>").content.decode()
    assert "was chosen" not in page and "<script>&" not in page


@pytest.mark.django_db
def test_the_list_has_the_headlines_of_what_is_ready(contest):
    assert "Every kind is drawn." not in Client().get(address(contest, "")).content.decode()
    assert Computed.objects.count() == 0, "looking at the list computes nothing"
    computed(contest)
    assert "Every kind is drawn." in Client().get(address(contest, "")).content.decode()


@pytest.mark.django_db
def test_a_failure_is_tried_again_when_an_organizer_asks(contest, monkeypatch):
    Client().get(address(contest))
    monkeypatch.setattr(gallery, "charts", lambda: 1 / 0)
    work.process(Computed.objects.get().pk)
    assert "It could not be computed" in Client().get(address(contest)).content.decode()
    assert person("alice").post(address(contest, "gallery/again/")).status_code == 404
    assert Computed.objects.get().state == Computed.State.FAILED
    person("olga").post(address(contest, "gallery/again/?as=public"))
    assert not Computed.objects.exists()


@pytest.mark.django_db
def test_what_a_worker_lost_is_begun_anew_once_and_old_results_are_removed(contest):
    Client().get(address(contest))
    row = Computed.objects.filter(pk=Computed.objects.get().pk)
    past = timezone.now() - dt.timedelta(days=40)
    row.update(state="computing", tries=1, deadline=past)
    work.reconcile()
    assert row.get().is_busy and "lost" in row.get().sentence
    row.update(state="computing", tries=2, deadline=past)
    work.reconcile()
    assert row.get().state == Computed.State.FAILED
    row.update(state="ready", used_at=past)
    work.sweep()
    assert not row.exists()


@pytest.mark.django_db
def test_the_report_is_one_page_that_needs_nothing_else(contest, monkeypatch):
    few = {key: chart for key, chart in gallery.charts().items() if key in ("bars", "facets")}
    monkeypatch.setattr(gallery, "charts", lambda: few)
    page = address(contest, "report/")
    assert "Make the report" in Client().get(page).content.decode()
    assert Client().get(address(contest, "report.html")).status_code == 404
    assert Client().post(page).status_code == 302
    work.process(Computed.objects.get(section="report").pk)
    assert "Read the report" in Client().get(page).content.decode()
    answer = Client().get(address(contest, "report.html"))
    html = answer.content.decode()
    assert "sandbox" in answer["Content-Security-Policy"]
    assert html.count("<svg") == 2 and "<script" not in html and "src=" not in html
    for expected in ("Demšar 2006.", "Figure 2.", "Table 1.", "Every kind is drawn.", "scipy 1.", "Podium 0."):
        assert expected in html
    assert "<b>bob" not in html
    names = re.findall(r'\bid="([^"]+)"', html)
    assert len(names) == len(set(names)), "names of one picture are not those of another"


@pytest.mark.django_db
def test_the_report_of_organizers_is_never_that_of_others(contest, monkeypatch):
    monkeypatch.setattr(gallery, "charts", dict)
    html = {
        hidden: work.compute_now(contest, REPORT, Audience(sees_hidden=hidden)).extras[HTML]
        for hidden in (True, False)
    }
    assert "test scores" not in html[False] and "has released" in html[False]
    assert "participants do not see" in html[True]
    assert "participants do not see" not in Client().get(address(contest, "report.html")).content.decode()
    assert "participants do not see" in person("olga").get(address(contest, "report.html")).content.decode()
    assert "has released" in person("olga").get(address(contest, "report.html?as=public")).content.decode()


@pytest.mark.django_db
def test_the_report_names_those_who_make_the_competition_and_no_reviewer(contest, monkeypatch):
    monkeypatch.setattr(gallery, "charts", dict)
    reviewer = make.user("rita")
    contest.organizers.create(user=reviewer, role="reviewer")
    html = work.compute_now(contest, REPORT, Audience()).extras[HTML]
    assert "rita" not in html and contest.organizers.exclude(user=reviewer).get().user.display_name in html


@pytest.mark.parametrize("numbers", [(1e-320, 1e-318), (-1e308, 1e308), (1.0, float("inf"))])
def test_numbers_out_of_all_bounds_are_drawn(numbers):
    chart = altair.Chart(pd.DataFrame({"x": numbers})).mark_point().encode(x="x:Q")
    picture = pictures.svg(spec(chart))
    assert picture != pictures.NOT_DRAWN and b"NaN" not in picture


def test_a_figure_that_cannot_be_drawn_says_so_and_nothing_else_fails(caplog):
    assert b"could not be drawn" in pictures.svg({"mark": "no such mark"})
    assert pictures.png({"mark": "no such mark"}).startswith(b"\x89PNG")
    assert "could not be drawn" in caplog.text


def test_a_table_with_many_rows_says_how_many_are_left_off():
    table = Table("many", "Many", (Column("a", "A", "integer"),), tuple((n,) for n in range(12_000)))
    assert "of which the first 10000 are shown" in blocks_of((table,), "/a/")


def test_pictures_are_drawn_by_the_version_for_which_specifications_are_written():
    written = altair.SCHEMA_VERSION.removeprefix("v")
    assert written.startswith(f"{bundle.VEGA_LITE}.")
