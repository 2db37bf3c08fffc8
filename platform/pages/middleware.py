"""Headers that every page carries, and what no page is sent."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

NUL = "\0"

# Nothing from another host, no inline script: a page loads only what the site itself serves.
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


class ContentSecurityPolicy:
    """Adds the policy to responses that have none of their own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        return response


class WithoutNul:
    """Takes the character NUL out of what is sent: no text has it, and PostgreSQL keeps and searches none.

    Views that read their upload themselves are csrf_exempt, and `without_nul` is theirs to call.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Callable[..., HttpResponse], *args: object) -> None:
        """Clean the query and the form; an address with one leads nowhere."""
        if NUL in request.path_info:
            raise Http404("There is no such address.")
        if "%00" in request.META.get("QUERY_STRING", ""):
            request.GET = without_nul(request.GET)  # type: ignore[assignment]
        if request.method == "POST" and not getattr(view, "csrf_exempt", False):
            request.POST = without_nul(request.POST)  # type: ignore[assignment]


def without_nul(sent: QueryDict) -> QueryDict:
    """The same without NUL in names and values."""
    if not any(NUL in text for name, values in sent.lists() for text in (name, *values)):
        return sent
    clean = QueryDict(mutable=True)
    for name, values in sent.lists():
        clean.setlist(name.replace(NUL, ""), [value.replace(NUL, "") for value in values])
    return QueryDict(clean.urlencode())


class CompressedPages(GZipMiddleware):
    """Sends pages compressed, padded by a random length (django.middleware.gzip says why).

    Files stay as they are: they are compressed already, and a browser wants to know their length.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The response, compressed where it is a page."""
        if response.streaming or not response.headers.get("Content-Type", "").startswith("text/html"):
            return response
        return super().process_response(request, response)
