"""Strangers' text: terminal codes and hidden characters leave, words stay."""

import pytest

from pages.templatetags.podium import fraction, seconds, standard_error, until
from pages.text import plain_log, render_markdown

LOGS = {
    "\x1b[1;31merror\x1b[0m": "error",
    "\x1b]0;title\x07text": "text",
    "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\": "link",
    "\x9b31mred": "red",
    "10%\r20%\r100%\nend\r\n": "100%\nend\n",
    "a\x00b\x08c\x7f": "abc",
    "tab\tstays": "tab\tstays",
    "\u202eevil\u2066": "evil",
    "naïve ⟨R⟩ 数": "naïve ⟨R⟩ 数",
    "\x1b": "",
}


@pytest.mark.parametrize("raw", LOGS)
def test_logs_become_plain_lines(raw):
    assert plain_log(raw) == LOGS[raw]


def test_a_long_hostile_log_takes_no_time():
    assert len(plain_log("\x1b]" * 200_000)) == 0


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](data:text/html;base64,AAAA)",
    "<style>body{display:none}</style>",
    '<a href="//x" onclick="y">z</a>',
]


@pytest.mark.parametrize("raw", HOSTILE)
def test_markdown_lets_no_active_content_through(raw):
    html = render_markdown(raw)
    for bad in ("<script", "<img", "<style", "<a onclick", 'href="javascript', 'href="data', '<a href="//'):
        assert bad not in html


def test_markdown_makes_tables_lists_and_safe_links():
    html = render_markdown("| a | b |\n|---|--:|\n| 1 | 2 |\n\n- [x](https://example.org)\n")
    assert "<table>" in html
    assert "style" not in html
    assert 'rel="noopener noreferrer nofollow"' in html


def test_headings_move_down_only_where_the_text_begins_at_the_first_level():
    assert "<h2>" in render_markdown("## a")
    html = render_markdown("# a\n\n## b")
    assert "<h2>a</h2>" in html
    assert "<h3>b</h3>" in html


def test_numbers_read_well():
    assert [standard_error(value) for value in (0.012, 0.0003, 0.1, 4.9e-17, 0.0, None)] == [
        "0.012",
        "0.00030",
        "0.10",
        "0",
        "0",
        "",
    ]
    assert [seconds(value) for value in (0.42, 12.0, 1200.0, None)] == ["0.4 s", "12 s", "1,200 s", ""]
    assert [fraction(value) for value in (0, 1, 0.99, 1.2e-6, None)] == ["0", "1", "0.990", "1.2e-06", ""]


def test_times_left_are_told_in_their_largest_unit():
    import datetime as dt

    now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    said = [
        until(now + dt.timedelta(**{unit: count}), now)
        for unit, count in (("days", 12), ("hours", 30), ("minutes", 1))
    ]
    assert said == ["12 days", "30 hours", "1 minute"]
