"""The pictures of a competition's pages."""

from django.http import FileResponse, Http404, HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from pages import frame
from pages.answers import as_stranger_file

TYPES = {".png": "image/png", ".jpg": "image/jpeg"}
KEPT_BY_BROWSERS = 300  # seconds


@require_safe
def picture(request: HttpRequest, slug: str, name: str) -> HttpResponseBase:
    """A picture, for those who may read the competition; encoded by us, yet a stranger's."""
    shown = frame.load(request, slug)
    image = shown.competition.images.filter(name=name).first()
    kind = next((kind for suffix, kind in TYPES.items() if name.endswith(suffix)), None)
    if image is None or kind is None:
        raise Http404("There is no such picture.")
    try:
        file = image.file.open("rb")
    except FileNotFoundError as problem:
        raise Http404("There is no such picture.") from problem
    response = as_stranger_file(FileResponse(file, content_type=kind))
    response.headers["Cache-Control"] = f"private, max-age={KEPT_BY_BROWSERS}"
    return response
