"""What every template may use."""

from urllib.parse import urlsplit

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject
from django.utils.http import url_has_allowed_host_and_scheme

from submissions.models.worker import code_runs_unconfined


def site(request: HttpRequest) -> dict[str, object]:
    """Return the state of the installation that pages show in their frame, and where a refusal leads back to."""
    return {
        "code_runs_unconfined": code_runs_unconfined(),
        "way_back": SimpleLazyObject(lambda: way_back(request)),
    }


def way_back(request: HttpRequest) -> str:
    """The page of this site that the person came from, as a path with its query; empty where there is none.

    A browser may name any page as the one it came from, so another host's is not believed.
    """
    named = request.headers.get("Referer", "")
    try:
        host = request.get_host()
    except DisallowedHost:
        return ""
    if not url_has_allowed_host_and_scheme(named, {host}, require_https=request.is_secure()):
        return ""
    parts = urlsplit(named)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    came_from_here = request.method == "GET" and path == request.get_full_path()
    return "" if came_from_here or not path.startswith("/") or path.startswith("//") else path
