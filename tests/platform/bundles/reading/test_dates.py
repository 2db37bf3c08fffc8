"""Times as organizers write them."""

import datetime as dt

import pytest

from bundles.reading.dates import UnreadableDate, read_date


def at(*parts: int) -> dt.datetime:
    return dt.datetime(*parts, tzinfo=dt.UTC)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "moment", "zone"),
    [
        ("2024-04-17", at(2024, 4, 17), ""),
        ("2024-4-7", at(2024, 4, 7), ""),
        ("2019-07-01 9:45:00+00:00", at(2019, 7, 1, 9, 45), "+00:00"),
        ("2026-12-04 9:00", at(2026, 12, 4, 9), ""),
        ("2024-04-17T10:00:00Z", at(2024, 4, 17, 10), "+00:00"),
        ("2024-04-17 10:00:00 +02:00", at(2024, 4, 17, 8), "+02:00"),
        ("2001-12-14t21:59:43.10-05:30", at(2001, 12, 15, 3, 29, 43), "-05:30"),
        ("2024-02-03 24:00", at(2024, 2, 4), ""),
        ("06-30-2026 10:00 PM", at(2026, 6, 30, 22), ""),
        ("30.06.2026", at(2026, 6, 30), ""),
        ("June 30, 2026 10:00", at(2026, 6, 30, 10), ""),
        ("4 Jul 2026 10:00 +0200", at(2026, 7, 4, 8), "+02:00"),
    ],
)
def test_it_keeps_clock_and_offset(text: str, moment: dt.datetime, zone: str) -> None:
    found = read_date(text)
    assert found.moment.utc == moment
    assert found.moment.zone == zone


def test_a_date_that_can_be_read_in_two_ways_is_month_first_and_says_so() -> None:
    found = read_date("8-05-2023")
    assert found.moment.utc == at(2023, 8, 5)
    assert found.is_ambiguous
    assert read_date("8-05-2023", order="dmy").moment.utc == at(2023, 5, 8)


def test_a_date_that_can_be_read_in_one_way_is_read_in_that_whatever_the_order() -> None:
    assert read_date("13-05-2023", order="mdy").moment.utc == at(2023, 5, 13)
    assert read_date("05-13-2023", order="dmy").moment.utc == at(2023, 5, 13)
    assert not read_date("13-05-2023").is_ambiguous
    assert not read_date("05-05-2023").is_ambiguous


def test_a_named_time_zone_is_taken_as_utc_with_a_note() -> None:
    found = read_date("30 Jun 2026 10:00 EST")
    assert found.moment.utc == at(2026, 6, 30, 10)
    assert "EST" in found.note


@pytest.mark.parametrize(
    "text", ["", "soon", "2024-02-30", "2024-13-01", "June 2026", "10:00", "2024-01-01 25:00", "1e9", "32-32-2024"]
)
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(UnreadableDate):
        read_date(text)
