"""Vega for the browser, under an address that names its version."""

import gzip

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from analysis.drawing import bundle

FOR_EVER = "public, max-age=31536000, immutable"


@require_safe
def script(request: HttpRequest, version: str) -> HttpResponse:
    """The script as it is kept, compressed; plain for the few that do not read that."""
    if version != bundle.version():
        raise Http404("There is no such version.")
    content, packed = bundle.script(), "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(
        content if packed else gzip.decompress(content), content_type="text/javascript; charset=utf-8"
    )
    if packed:
        response["Content-Encoding"] = "gzip"
    response["Cache-Control"] = FOR_EVER
    patch_vary_headers(response, ["Accept-Encoding"])
    return response
