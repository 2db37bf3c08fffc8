"""Files that organizers offer beside datasets: public data, starting kits, and their programs."""

import re
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponseBase
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.refusals import Refused
from competitions import offered
from competitions.models import PhaseFile, Program
from pages import frame
from pages.answers import as_stranger_file, tells_refusals

_SUFFIX = re.compile(r"[A-Za-z0-9]{1,10}")


@login_required
@never_cache
@require_safe
@tells_refusals
def phase_file(request: HttpRequest, slug: str, file_id: int) -> HttpResponseBase:
    """Public data or a starting kit of a phase, for participants once it has begun."""
    shown = frame.load(request, slug)
    of_competition = PhaseFile.objects.filter(phase__round__competition=shown.competition)
    found = of_competition.select_related("phase").filter(pk=file_id).first()
    if found is None:
        raise Http404("There is no such file.")
    if not offered.may_have_file(shown.viewer, found, shown.now):
        raise _for_participants(shown)
    return _saved(found.file, found.name)


@login_required
@never_cache
@require_safe
@tells_refusals
def program(request: HttpRequest, slug: str, program_id: int) -> HttpResponseBase:
    """A program of the organizers, where the competition publishes them."""
    shown = frame.load(request, slug)
    found = shown.competition.programs.filter(pk=program_id).first()
    if found is None or not offered.may_have_program(shown.viewer, found, shown.now):
        raise Http404("There is no such program.")
    return _saved(found.file, f"{Program.Kind(found.kind).label}-{found.name}.zip")


def _for_participants(shown: frame.Frame) -> Refused:
    mend = "It is there once its phase has begun." if shown.takes_part else "Join the competition first."
    return Refused(f"This file is for participants of {shown.competition.title}.", status=403, mend=mend)


def _saved(file: Any, name: str) -> HttpResponseBase:
    """The file to be saved under its name, in letters that no system takes for anything else."""
    stem, _, suffix = name.rpartition(".") if "." in name else (name, "", "bin")
    suffix = suffix.lower() if _SUFFIX.fullmatch(suffix) else "bin"
    name = f"{slugify(stem) or 'file'}.{suffix}"
    opened = file.storage.open(str(file.name), "rb")
    kind = "application/zip" if suffix == "zip" else "application/octet-stream"
    return as_stranger_file(FileResponse(opened, as_attachment=True, filename=name, content_type=kind))
