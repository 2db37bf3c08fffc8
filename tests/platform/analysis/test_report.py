"""The report: what it leaves out, and how its tables fit on paper."""

import pytest

from analysis.inputs.boards import Loaded
from analysis.report import HTML, Part, build, pieces
from analysis.results import Column, Note, Result, Table
from analysis.sections import BY_KEY
from analysis.sections.base import Section, quiet
from tests.platform import factories as make


def table_of(numbers: int) -> Table:
    """A table of one row: the name of an entrant and `numbers` scores."""
    columns = (Column("entrant", "Entrant"), *(Column(f"c{n}", f"set {n}", "number", 1) for n in range(numbers)))
    return Table("all", "All scores", columns, (("alice", *(float(n) for n in range(numbers))),), "All.")


def test_a_wide_table_goes_on_below_itself_and_each_piece_names_its_rows():
    made = pieces(table_of(30))
    assert [len(piece["columns"]) for piece in made] == [16, 16]
    assert all(piece["rows"][0][0].text == "alice" for piece in made)
    told = [cell.text for piece in made for cell in piece["rows"][0][1:]]
    assert told == [f"{number}.0" for number in range(30)]


def test_a_table_that_fits_is_in_one_piece():
    assert [len(piece["columns"]) for piece in pieces(table_of(15))] == [16]


@pytest.mark.django_db
def test_analyses_without_anything_to_show_are_named_but_have_no_chapter(monkeypatch):
    def section(key: str, label: str, *blocks: Note | Table) -> Section:
        return Section(key, label, "Why?", lambda *_: Loaded(()), lambda *_: Result("So it is.", blocks))

    monkeypatch.setitem(BY_KEY, "full", section("full", "Full", table_of(2)))
    monkeypatch.setitem(BY_KEY, "bare", section("bare", "Bare", Note("Too few submissions.")))
    contest = make.competition()
    parts = [Part(key, "", {}, Loaded(())) for key in ("full", "bare")]
    facts = {"competition": contest.pk, "title": contest.title, "url": "http://site/", "parts": parts}
    html = build(Loaded((), facts), quiet).extras[HTML]
    assert "1. Full" in html and "2. Bare" not in html
    assert "Left out, because there is nothing to show yet: Bare." in html
