"""The files of figures and tables, as views send them."""

from django.http import Http404, HttpResponse

from analysis.export import file_of
from analysis.results import Figure, Table

# A picture is shown on its own, too: nothing in it may run or load anything.
OF_PICTURES = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


def answer(block: Figure | Table | None, suffix: str, *, of: str) -> HttpResponse:
    """The file; 404 where there is no such block, or no such file of it. `of` begins its name."""
    file = file_of(block, suffix, of=of) if block is not None else None
    if file is None:
        raise Http404("There is no such figure.")
    response = HttpResponse(file.content, content_type=file.content_type)
    is_picture = suffix in ("svg", "png")
    response["Content-Disposition"] = f'{"inline" if is_picture else "attachment"}; filename="{file.name}"'
    if is_picture:
        response["Content-Security-Policy"] = OF_PICTURES
    return response
