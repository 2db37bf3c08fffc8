"""The analyses of a competition: a list of them, each on a page of its own, and their figures as files."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from analysis import work
from analysis.inputs.audience import Audience, Scope, scopes, usual_scope
from analysis.report import HTML, REPORT
from analysis.sections import BY_KEY, SECTIONS
from analysis.sections.base import Section
from competitions.models import Phase
from pages import frame
from pages.figure_files import answer
from pages.tools import asked_tools
from pages.views.submissions import is_part

AS_PUBLIC = "public"
# The page styles itself and has its pictures inside; nothing in it runs, and it is of no origin.
OF_REPORTS = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-popups"


@dataclass(frozen=True)
class Asked:
    """What an address asks for: a section, for an audience, and where it is about one of several, of which."""

    section: Section
    audience: Audience
    as_public: bool
    choices: list[Scope]
    chosen: Scope | None

    @property
    def query(self) -> str:
        """What follows an address that asks for the same, `?` included."""
        return _query(self.chosen, as_public=self.as_public)

    @property
    def links(self) -> list[tuple[str, str, bool, None]]:
        """The choices as parts/choice.html shows them."""
        return [
            (scope.label, _query(scope, as_public=self.as_public) or "?", scope == self.chosen, None)
            for scope in self.choices
        ]


def _query(scope: Scope | None, *, as_public: bool) -> str:
    wish = {"phase": scope.phase, "part": scope.part} if scope else {}
    if as_public:
        wish["as"] = AS_PUBLIC
    return f"?{urlencode(wish)}" if wish else ""


def asked(request: HttpRequest, shown: frame.Frame, key: str) -> Asked:
    """What the address asks for; 404 for an unknown section."""
    section = BY_KEY.get(key)
    if section is None:
        raise Http404("There is no such analysis.")
    as_public = shown.sees_hidden and request.GET.get("as") == AS_PUBLIC
    audience = Audience(shown.sees_hidden and not as_public)
    if not section.of_phase:
        return Asked(section, audience, as_public, [], None)
    choices = scopes(shown.competition, audience, shown.now)
    phase, _, part = request.GET.get("scope", "").rpartition("/")
    phase, part = phase or request.GET.get("phase", ""), part or request.GET.get("part", "")
    named = (scope for scope in choices if scope.phase == phase and part in ("", scope.part))
    chosen = next(named, None) or usual_scope(choices, shown.now, both_parts=section.both_parts)
    return Asked(section, chosen.audience if chosen else audience, as_public, choices, chosen)


def _waits(shown: frame.Frame, wish: Asked) -> str:
    """Why there is nothing to analyse. What others wait for is no reason for those who see what is hidden."""
    if not wish.audience.sees_hidden:
        return wish.section.waits
    return f"There are no scores yet: {wish.chosen.label if wish.chosen else 'of no phase'}."


def _first_end(shown: frame.Frame, audience: Audience) -> Phase | None:
    """The phase whose end the audience waits for; none where one is over, and its scores are waited for."""
    if audience.sees_hidden or any(phase.has_ended(shown.now) for phase in shown.phases):
        return None
    ends = [(phase.closes_at, phase.number, phase) for phase in shown.phases if phase.closes_at is not None]
    return min(ends)[2] if ends else None


@never_cache
@require_safe
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """The sections, what each of them answers, and the headlines of those that are ready."""
    shown = frame.load(request, slug)
    listed = []
    for one in SECTIONS:
        wish = asked(request, shown, one.key)
        listed.append((one, work.known(shown.competition, one, wish.audience), _waits(shown, wish)))
    first = _first_end(shown, Audience(shown.sees_hidden))
    return render(request, "analysis/index.html", shown.context("analysis", listed=listed, first=first))


@never_cache
@require_safe
def section(request: HttpRequest, slug: str, section: str) -> HttpResponse:
    """One section; for htmx its live part alone."""
    shown = frame.load(request, slug)
    wish = asked(request, shown, section)
    outcome = work.wanted(shown.competition, wish.section, wish.audience)
    template = "analysis/section_part.html" if is_part(request) else "analysis/section.html"
    more = {
        "sections": [(one, one.key == section) for one in SECTIONS],
        "section": wish.section,
        "wish": wish,
        "outcome": outcome,
        "waits": _waits(shown, wish),
        "first": _first_end(shown, wish.audience),
        "files": reverse("analysis_section", args=[slug, section]),
        "tools": asked_tools(wish.section, outcome.result, request.GET),
    }
    return render(request, template, shown.context("analysis", **more))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def report(request: HttpRequest, slug: str) -> HttpResponse:
    """The report's page: GET shows how far it is, if it was asked for; POST asks for it."""
    shown = frame.load(request, slug)
    as_public = shown.sees_hidden and request.GET.get("as") == AS_PUBLIC
    audience = Audience(shown.sees_hidden and not as_public)
    outcome = work.known(shown.competition, REPORT, audience)
    query = _query(None, as_public=as_public)
    if request.method == "POST":
        work.again(outcome.row)
        work.wanted(shown.competition, REPORT, audience)
        return redirect(reverse("analysis_report", args=[slug]) + query)
    template = "analysis/report_part.html" if is_part(request) else "analysis/report_page.html"
    more: dict[str, object] = {"outcome": outcome, "as_public": as_public, "query": query, "sections": SECTIONS}
    more["waits"] = "There are no scores yet." if audience.sees_hidden else REPORT.waits
    more["first"] = _first_end(shown, audience)
    return render(request, template, shown.context("analysis", **more))


@never_cache
@require_safe
def report_file(request: HttpRequest, slug: str) -> HttpResponse:
    """The report as a file that needs nothing else."""
    shown = frame.load(request, slug)
    audience = Audience(shown.sees_hidden and request.GET.get("as") != AS_PUBLIC)
    result = work.known(shown.competition, REPORT, audience).result
    if result is None:
        raise Http404("There is no report of what is seen now yet.")
    response = HttpResponse(result.extras[HTML], content_type="text/html; charset=utf-8")
    kind = "attachment" if request.GET.get("download") else "inline"
    response["Content-Disposition"] = f'{kind}; filename="{slug}-report.html"'
    response["Content-Security-Policy"] = OF_REPORTS
    return response


@never_cache
@login_required
@require_POST
def again(request: HttpRequest, slug: str, section: str) -> HttpResponseBase:
    """Forget that a section could not be computed, so that it is tried anew: for organizers."""
    shown = frame.load(request, slug)
    if not shown.is_organizer:
        raise Http404("There is no such address.")
    wish = asked(request, shown, section)
    work.again(work.known(shown.competition, wish.section, wish.audience).row)
    return redirect(reverse("analysis_section", args=[slug, section]) + wish.query)


@never_cache
@require_safe
def file(request: HttpRequest, slug: str, section: str, name: str, suffix: str) -> HttpResponse:
    """A figure or table of a section as a file."""
    shown = frame.load(request, slug)
    wish = asked(request, shown, section)
    result = work.wanted(shown.competition, wish.section, wish.audience).result
    if result is None:
        raise Http404("There is no such figure, or it is still being computed.")
    return answer(result.named(name), suffix, of=f"{slug}-{section}")
