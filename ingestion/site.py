"""A compute worker's side of the worker protocol: HTTP calls to the site, with a token."""

import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import requests

CALL_SECONDS = 20
TRANSFER_SECONDS = 600


class Gone(Exception):
    """The site says that the attempt has ended, or that another worker was faster."""


class SiteError(Exception):
    """The site could not be reached, or refused a call for another reason."""


class Site:
    """One site, as one worker sees it. Safe to use from several threads: each call has its own connection."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"}

    def call(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """POST a JSON body; returns the answer. Raises Gone for 404, 409 and 410, SiteError for the rest."""
        try:
            answer = requests.post(
                f"{self.url}/worker/{path}", json=body, headers=self._headers, timeout=CALL_SECONDS
            )
        except requests.RequestException as problem:
            raise SiteError(f"{self.url} did not answer: {type(problem).__name__}") from problem
        if answer.status_code in (404, 409, 410):
            raise Gone(_detail(answer))
        if answer.status_code == 401:
            raise SiteError("The site does not know this worker's token, or it was revoked.")
        if not answer.ok:
            raise SiteError(f"The site answered {answer.status_code}: {_detail(answer)}")
        found: dict[str, Any] = answer.json()
        return found

    def download(self, url: str, destination: Path, *, sha256: str) -> Path:
        """Fetch one object into a file, and check it."""
        partial = destination.with_name(destination.name + ".part")
        digest = hashlib.sha256()
        try:
            with requests.get(
                urljoin(self.url, url), stream=True, timeout=(CALL_SECONDS, TRANSFER_SECONDS)
            ) as answer:
                if not answer.ok:
                    raise SiteError(f"The site answered {answer.status_code} to a download.")
                with partial.open("wb") as file:
                    for piece in answer.iter_content(2**20):
                        digest.update(piece)
                        file.write(piece)
        except requests.RequestException as problem:
            raise SiteError(f"A download broke off: {type(problem).__name__}") from problem
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
            raise SiteError(f"An upload broke off: {type(problem).__name__}") from problem
        finally:
            if data:
                data.close()
        if not answer.ok:
            raise SiteError(f"The site answered {answer.status_code} to an upload: {_detail(answer)}")


def _detail(answer: requests.Response) -> str:
    try:
        return str(answer.json().get("detail", ""))[:300]
    except (ValueError, AttributeError):
        return answer.text[:300]
