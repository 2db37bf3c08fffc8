"""Moments that people type in their own time zone."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest
from django import forms
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory
from django.utils import timezone

from accounts.models import User
from pages import zones

BERLIN = ZoneInfo("Europe/Berlin")


def utc(*numbers):
    return dt.datetime(*numbers, tzinfo=dt.UTC)


def request_of(user, cookie=""):
    request = RequestFactory().get("/")
    request.user = user
    if cookie:
        request.COOKIES[zones.COOKIE] = cookie
    return request


@pytest.mark.parametrize(
    ("chosen", "cookie", "name", "source"),
    [
        ("Asia/Tokyo", "Europe/Berlin", "Asia/Tokyo", "as you chose"),
        ("", "Europe/Berlin", "Europe/Berlin", "as your browser says"),
        ("Nowhere/At_all", "Europe/Berlin", "Europe/Berlin", "as your browser says"),
        ("", "", "UTC", "because your browser names no time zone"),
        ("", "../../etc/passwd", "UTC", "because your browser names no time zone"),
    ],
)
def test_ones_own_choice_goes_before_the_browsers_zone_and_utc_stands_in(chosen, cookie, name, source):
    zone = zones.of_request(request_of(User(time_zone=chosen), cookie))
    assert (zone.name, zone.source) == (name, source)


def test_who_is_not_logged_in_has_a_browser_too():
    assert zones.of_request(request_of(AnonymousUser(), "America/Lima")).name == "America/Lima"


@pytest.mark.parametrize(
    ("typed", "moment"),
    [
        ("2027-01-15T12:00", utc(2027, 1, 15, 11)),
        ("2027-07-15T12:00", utc(2027, 7, 15, 10)),
        ("2027-10-31T02:30", utc(2027, 10, 31, 0, 30)),  # clocks show it twice: the earlier one
    ],
)
def test_what_is_typed_is_read_by_the_clocks_of_the_zone(typed, moment):
    with timezone.override(BERLIN):
        assert zones.LocalMoment().clean(typed) == moment


def test_a_time_that_clocks_jump_over_is_refused_with_the_time_that_they_show_instead():
    with timezone.override(BERLIN), pytest.raises(forms.ValidationError) as refused:
        zones.LocalMoment().clean("2027-03-28T02:30")
    (sentence,) = refused.value.messages
    assert "never show 02:30 on 28 March 2027" in sentence
    assert "Choose 03:30" in sentence


@pytest.mark.parametrize("typed", ["yesterday", "2027-13-01T00:00", "9999-12-31T23:59"])
def test_what_is_no_date_or_outside_of_the_calendar_is_refused(typed):
    with timezone.override(ZoneInfo("America/Lima")), pytest.raises(forms.ValidationError):
        zones.LocalMoment().clean(typed)


def test_a_field_that_was_not_touched_keeps_the_seconds_that_it_did_not_show():
    field, shown = zones.LocalMoment(), utc(2027, 1, 15, 11, 0, 42)
    with timezone.override(BERLIN):
        assert zones.typed(shown) == "2027-01-15T12:00"
        assert field.unless_shown(field.clean("2027-01-15T12:00"), shown) == shown
        assert field.unless_shown(field.clean("2027-01-15T12:01"), shown) == utc(2027, 1, 15, 11, 1)


def test_places_are_offered_and_every_one_of_them_is_a_zone():
    assert zones.names()[0] == "UTC"
    assert "Europe/Berlin" in zones.names()
    assert all(zones.is_zone(name) for name in zones.names())
