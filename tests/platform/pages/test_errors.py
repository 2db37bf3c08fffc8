"""Error pages: in style, one clear sentence, never a trace."""

import html
import re

import pytest
from django.test import Client

from tests.platform import factories as make


@pytest.mark.parametrize("url", ["/nothing/", "/competitions/none/", "/competitions/none/leaderboard/"])
def test_an_unknown_address_is_a_page_in_style(client, db, url):
    response = client.get(url)
    assert response.status_code == 404
    assert b"There is nothing at this address." in response.content
    assert b"site-head" in response.content


def leads_back_to(response) -> str:
    """Where the button leads, if there is one."""
    found = re.search(r'href="([^"]+)">Back to where you were', response.content.decode())
    return html.unescape(found[1]) if found else ""


def test_a_refusal_leads_back_to_where_one_came_from(client, db):
    here = "http://testserver/competitions/?state=open&page=2"
    answer = client.get("/competitions/none/", headers={"referer": here})
    assert leads_back_to(answer) == "/competitions/?state=open&page=2"
    client.force_login(make.user("alice"))
    contest = make.competition("contest", registration="closed")
    answer = client.post("/competitions/contest/join/", headers={"referer": contest_page(contest)})
    assert answer.status_code == 409
    assert leads_back_to(answer) == contest.get_absolute_url()


def test_a_refusal_inside_a_competition_leads_to_its_front(client, db):
    client.force_login(make.user("alice"))
    make.competition("contest")
    answer = client.get("/competitions/contest/manage/")
    assert answer.status_code == 403
    assert b'href="/competitions/contest/">To the competition<' in answer.content


def contest_page(contest) -> str:
    """Its address as a browser names it."""
    return "http://testserver" + contest.get_absolute_url()


@pytest.mark.parametrize(
    "referer",
    [
        "https://evil.example/x",
        "http://testserver.evil.example/",
        "javascript:alert(1)",
        "http://testserver//evil/",
    ],
)
def test_a_refusal_never_leads_to_another_host(client, db, referer):
    assert leads_back_to(client.get("/nothing/", headers={"referer": referer})) == ""


def test_a_refused_page_does_not_lead_to_itself(client, db):
    assert leads_back_to(client.get("/nothing/", headers={"referer": "http://testserver/nothing/"})) == ""


def test_a_fault_of_ours_shows_no_trace(db, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("secret detail")

    monkeypatch.setattr("pages.views.site.cards", broken)
    response = Client(raise_request_exception=False).get("/")
    assert response.status_code == 500
    assert b"Something went wrong on our side." in response.content
    assert b"secret" not in response.content


def test_an_expired_form_is_told_so(db):
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.user("alice"))
    make.competition("contest")
    response = client.post("/competitions/contest/join/")
    assert response.status_code == 403
    assert b"The form has expired" in response.content


def test_a_host_that_is_not_ours_is_a_bad_request_in_style(client, db):
    response = client.get("/", headers={"host": "evil.example"})
    assert response.status_code == 400
    assert b"This request could not be understood." in response.content


@pytest.mark.parametrize(
    "name", ["login", "signup", "logout", "email", "password/change", "password/reset", "confirm-email"]
)
def test_account_pages_wear_the_frame(db, name):
    client = Client()
    if name in ("logout", "email", "password/change"):
        client.force_login(make.user("alice"))
    response = client.get(f"/accounts/{name}/")
    assert response.status_code == 200
    assert b"site-head" in response.content
    assert b"<script>" not in response.content


def test_somebody_registers_logs_in_and_out(db):
    client = Client()
    fields = {
        "username": "dora",
        "email": "dora@example.org",
        "password1": "a long pass phrase",
        "password2": "a long pass phrase",
    }
    assert client.post("/accounts/signup/", fields).status_code == 302
    client.post("/accounts/logout/")
    response = client.post("/accounts/login/", {"login": "dora", "password": "a long pass phrase"})
    assert (response.status_code, response.url) == (302, "/competitions/")


def test_a_wrong_password_is_told_without_saying_which_was_wrong(db):
    make.user("alice")
    known = Client().post("/accounts/login/", {"login": "alice", "password": "wrong"}).content.decode()
    assert 'role="alert"' in known


def test_the_login_page_offers_one_way_out_of_a_forgotten_password(db):
    content = Client().get("/accounts/login/").content.decode()
    assert content.count('href="/accounts/password/reset/"') == 1
