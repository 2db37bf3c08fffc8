"""What a worker makes of the answers at its site's address."""

import pytest
import requests

from ingestion.site import Gone, Site, SiteError, Unreachable, WrongToken, address_problem


class Answer(requests.Response):
    def __init__(self, code, body=b"<html>", **headers):
        super().__init__()
        self.status_code, self._content, self.reason = code, body, "Because"
        self.headers.update(headers)
        self.url = "http://podium.example.org/worker/hello"


@pytest.fixture
def call(monkeypatch):
    def call(answer):
        def post(*arguments, **options):
            if isinstance(answer, Exception):
                raise answer
            return answer

        monkeypatch.setattr(requests, "post", post)
        return Site("http://podium.example.org/", "token").call("hello", {})

    return call


@pytest.mark.parametrize(
    ("answer", "kind", "told"),
    [
        (requests.ConnectionError(), Unreachable, "did not answer"),
        (requests.ReadTimeout(), Unreachable, "did not answer"),
        (Answer(502), Unreachable, "502"),
        (Answer(503), Unreachable, "503"),
        (Answer(429), Unreachable, "429"),
        (Answer(401), WrongToken, "token"),
        (Answer(404, b'{"detail": "This worker has no such attempt."}'), Gone, "no such attempt"),
        (Answer(409, b'{"detail": "Another worker was faster."}'), Gone, "faster"),
        (Answer(410, b'{"detail": "This attempt has ended."}'), Gone, "ended"),
        (Answer(404), SiteError, "no Podium site"),
        (Answer(501), SiteError, "no Podium site"),
        (Answer(200), SiteError, "no Podium site"),
        (Answer(200, b"[]"), SiteError, "no Podium site"),
        (Answer(400), SiteError, "The site answered 400: Because"),
        (
            Answer(301, Location="https://podium.example.org/worker/hello"),
            SiteError,
            "on to https://podium.example.org. Set PODIUM_URL",
        ),
    ],
)
def test_each_answer_has_its_meaning(call, answer, kind, told):
    with pytest.raises((SiteError, Gone), match=told) as raised:
        call(answer)
    assert type(raised.value) is kind


def test_an_object_is_an_answer(call):
    assert call(Answer(200, b'{"worker": "one"}')) == {"worker": "one"}


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000", "https://podium.example.org", "http://[::1]:8000/podium"]
)
def test_an_address_of_a_site(url):
    assert address_problem(url) == ""


@pytest.mark.parametrize("url", ["", "podium.example.org", "ftp://a", "http://", "http://a:b", "http://[::1"])
def test_what_is_no_address_of_a_site(url):
    assert "no address of a site" in address_problem(url)
