"""The analyses of a competition: a list of them, each on a page of its own, and their figures as files."""

import csv
import io
import json
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from analysis import work
from analysis.inputs.audience import Audience, looks
from analysis.results import Figure, Table
from analysis.sections import BY_KEY, SECTIONS
from analysis.sections.base import Section
from competitions.models import Phase
from leaderboards.export import spreadsheet_text
from leaderboards.reading import Look
from pages import frame
from pages.views.submissions import is_part

AS_PUBLIC = "public"


@dataclass(frozen=True)
class Asked:
    """What an address asks for: a section, for an audience, of a phase and part where the section is about one."""

    section: Section
    audience: Audience
    choices: list[Look]
    chosen: Look | None


def asked(request: HttpRequest, shown: frame.Frame, key: str) -> Asked:
    """What the address asks for; 404 for an unknown section."""
    section = BY_KEY.get(key)
    if section is None:
        raise Http404("There is no such analysis.")
    sees_hidden = shown.sees_hidden and request.GET.get("as") != AS_PUBLIC
    audience = Audience(sees_hidden)
    if not section.of_phase:
        return Asked(section, audience, [], None)
    choices = looks(shown.competition, audience, shown.now)
    wish = request.GET.get("phase", ""), request.GET.get("part", "")
    named = [look for look in choices if str(look.phase.number) == wish[0] and wish[1] in ("", look.part)]
    chosen = next(iter(named), None) or _usual(choices, shown)
    if chosen is not None:
        audience = Audience(sees_hidden, chosen.phase.pk, chosen.part or "")
    return Asked(section, audience, choices, chosen)


def _usual(choices: list[Look], shown: frame.Frame) -> Look | None:
    """The latest phase that is over, by the part that decides it."""
    over = [look for look in choices if look.phase.has_ended(shown.now) and look.part == _first_part(look.phase)]
    return next(reversed(over or choices), None)


def _first_part(phase: Phase) -> str:
    return str(Phase.Part.TEST if phase.is_hidden else phase.feedback_part)


@never_cache
@require_safe
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """The sections and what each of them answers."""
    shown = frame.load(request, slug)
    return render(request, "analysis/index.html", shown.context("analysis", sections=SECTIONS))


@never_cache
@require_safe
def section(request: HttpRequest, slug: str, section: str) -> HttpResponse:
    """One section; for htmx its live part alone."""
    shown = frame.load(request, slug)
    wish = asked(request, shown, section)
    outcome = work.wanted(shown.competition, wish.section, wish.audience)
    template = "analysis/section_part.html" if is_part(request) else "analysis/section.html"
    more = {"sections": SECTIONS, "section": wish.section, "wish": wish, "outcome": outcome}
    return render(request, template, shown.context("analysis", **more))


@never_cache
@require_safe
def file(request: HttpRequest, slug: str, section: str, name: str, suffix: str) -> HttpResponse:
    """A figure or table of a section as a file."""
    shown = frame.load(request, slug)
    wish = asked(request, shown, section)
    outcome = work.wanted(shown.competition, wish.section, wish.audience)
    block = outcome.result.named(name) if outcome.result else None
    if block is None:
        raise Http404("There is no such figure, or it is still being computed.")
    if suffix == "csv":
        return HttpResponse(as_csv(block), content_type="text/csv; charset=utf-8")
    if suffix == "json" and isinstance(block, Figure):
        return HttpResponse(json.dumps(block.spec), content_type="application/json")
    raise Http404("There is no such kind of file.")


def as_csv(block: Figure | Table) -> str:
    """The numbers of a figure or table."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([column.key for column in block.columns])
    for row in block.rows:
        writer.writerow([spreadsheet_text(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue()
