"""A compute worker's side of the worker protocol: HTTP calls to the site, with a token."""

import contextlib
import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests

CALL_SECONDS = 20
TRANSFER_SECONDS = 600


class Gone(Exception):
    """The site says that the attempt has ended, or that another worker was faster."""


class SiteError(Exception):
    """The site could not be reached, or refused a call for another reason."""


class Unreachable(SiteError):
    """The site does not answer now, or has trouble of its own; later it may."""


class WrongToken(SiteError):
    """The site does not know the token; no waiting helps."""


def address_problem(url: str) -> str:
    """What is wrong with the address of a site, as a sentence; empty where it can be one."""
    with contextlib.suppress(ValueError):
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return ""
    return f"PODIUM_URL is {url!r}, which is no address of a site. It looks like https://podium.example.org."


class Site:
    """One site, as one worker sees it. Safe to use from several threads: each call has its own connection."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"}

    def call(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """POST a JSON body; returns the answer. Raises Gone for 404, 409 and 410, SiteError for the rest."""
        try:
            answer = requests.post(
                f"{self.url}/worker/{path}",
                json=body,
                headers=self._headers,
                timeout=CALL_SECONDS,
                allow_redirects=False,  # a POST that is sent elsewhere arrives there without its body
            )
        except requests.RequestException as problem:
            raise Unreachable(f"{self.url} did not answer: {type(problem).__name__}") from problem
        self._refuse(answer)
        found = _object(answer)
        if found is None:
            raise SiteError(f"What answers at {self.url} is no Podium site.")
        return found

    def _refuse(self, answer: requests.Response) -> None:
        """Raise what an answer other than 200 means."""
        code = answer.status_code
        if code in (404, 409, 410) and _object(answer) is not None:
            raise Gone(_detail(answer))
        if code == 401:
            raise WrongToken("The site does not know this worker's token, or it was revoked.")
        if code in (405, 501):
            raise SiteError(f"What answers at {self.url} is no Podium site.")
        if code >= 500 or code == 429:
            raise Unreachable(f"The site answered {code}: {_detail(answer)}")
        if 300 <= code < 400:
            target = urljoin(answer.url, answer.headers.get("Location", "")).partition("/worker/")[0]
            raise SiteError(f"{self.url} sends its callers on to {target}. Set PODIUM_URL to that address.")
        if code == 404:
            raise SiteError(f"What answers at {self.url} is no Podium site.")
        if not answer.ok:
            raise SiteError(f"The site answered {code}: {_detail(answer)}")

    def download(self, url: str, destination: Path, *, sha256: str) -> Path:
        """Fetch one object into a file, and check it."""
        partial = destination.with_name(destination.name + ".part")
        digest = hashlib.sha256()
        try:
            with requests.get(
                urljoin(self.url, url), stream=True, timeout=(CALL_SECONDS, TRANSFER_SECONDS)
            ) as answer:
                if not answer.ok:
                    kind = Unreachable if answer.status_code >= 500 else SiteError
                    raise kind(f"The site answered {answer.status_code} to a download.")
                with partial.open("wb") as file:
                    for piece in answer.iter_content(2**20):
                        digest.update(piece)
                        file.write(piece)
        except requests.RequestException as problem:
            raise Unreachable(f"A download broke off: {type(problem).__name__}") from problem
        if digest.hexdigest() != sha256:
            partial.unlink()
            raise SiteError("A downloaded file is not the one that the site announced.")
        partial.replace(destination)
        return destination

    def upload(self, url: str, path: Path) -> None:
        """Send one file to a link."""
        # requests sends an empty file without a length, which the site would refuse.
        data: Any = path.open("rb") if path.stat().st_size else b""
        try:
            answer = requests.put(
                urljoin(self.url, url),
                data=data,
                headers={"Content-Type": "application/octet-stream"},
                timeout=(CALL_SECONDS, TRANSFER_SECONDS),
            )
        except requests.RequestException as problem:
            raise Unreachable(f"An upload broke off: {type(problem).__name__}") from problem
        finally:
            if data:
                data.close()
        if not answer.ok:
            kind = Unreachable if answer.status_code >= 500 else SiteError
            raise kind(f"The site answered {answer.status_code} to an upload: {_detail(answer)}")


def _object(answer: requests.Response) -> dict[str, Any] | None:
    try:
        found = answer.json()
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _detail(answer: requests.Response) -> str:
    found = _object(answer)
    return str(answer.reason) if found is None else str(found.get("detail", ""))[:300]
