"""How a refusal and a success are told, as a page or as JSON."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.urls import reverse

from accounts.refusals import Refused

View = Callable[..., HttpResponseBase]

STATUS_TITLES = {
    400: "This cannot be done as asked",
    403: "This is not yours to see or do",
    404: "There is nothing here",
    409: "This is not possible now",
    413: "This is too large",
    429: "The limit is reached",
}


def wants_json(request: HttpRequest) -> bool:
    """Whether the caller asked for JSON rather than a page."""
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"


def refusal_as_json(refused: Refused) -> JsonResponse:
    """`{"message", "mend"}` with the refusal's own status."""
    return JsonResponse({"message": refused.message, "mend": refused.mend}, status=refused.status)


def refusal(request: HttpRequest, refused: Refused) -> HttpResponse:
    """A refusal as JSON, or as a page of its own."""
    if wants_json(request):
        return refusal_as_json(refused)
    context = {
        "status": refused.status,
        "heading": STATUS_TITLES.get(refused.status, STATUS_TITLES[400]),
        "refused": refused,
        "contest_url": contest_url(request),
    }
    return render(request, "refused.html", context, status=refused.status)


def contest_url(request: HttpRequest) -> str:
    """Where the competition begins whose page was asked for; empty for pages of no competition."""
    slug = request.resolver_match.kwargs.get("slug") if request.resolver_match else None
    return reverse("competition", args=[slug]) if slug else ""


def tells_refusals(view: View) -> View:
    """Turn a Refused that a view raises into its answer."""

    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except Refused as refused:
            return refusal(request, refused)

    return answered


def as_stranger_file(response: HttpResponseBase) -> HttpResponseBase:
    """Mark a response that carries a stranger's bytes: no script, no frame, no guessing of its type."""
    response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'; frame-ancestors 'none'"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "private, no-store"
    return response
