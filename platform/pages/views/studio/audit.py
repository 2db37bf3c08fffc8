"""The studio's audit log: who did what, when; filtered, and as files."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from pages import audit, files, keyset, studio, zones
from pages.action_labels import label_of
from pages.answers import tells_refusals

PER_PAGE = 100


@login_required
@never_cache
@require_safe
@tells_refusals
@zones.in_own_zone
def log(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The entries that match the filter, the latest first."""
    shown = studio.opened(request, slug)
    chosen = audit.Filter.of(request.GET)
    page = keyset.page(request, chosen.rows(shown.competition, sees_hidden=shown.sees_hidden), PER_PAGE)
    people, actions = audit.choices(shown.competition)
    context = studio.context(
        shown,
        "audit",
        page=page,
        lines=[audit.line(entry, sees_hidden=shown.sees_hidden) for entry in page.rows],
        chosen=chosen,
        people=people,
        actions=sorted(((action, label_of(action)) for action in actions), key=lambda one: one[1]),
        clock=audit.CLOCK,
        zone=zones.of_request(request),
        query=request.GET.urlencode(),
        sees_hidden=shown.sees_hidden,
    )
    return render(request, "studio/audit.html", context)


@login_required
@never_cache
@require_safe
@tells_refusals
@zones.in_own_zone
def as_csv(request: HttpRequest, slug: str) -> HttpResponseBase:
    """All entries that match, as CSV."""
    shown = studio.opened(request, slug)
    rows = audit.Filter.of(request.GET).rows(shown.competition, sees_hidden=shown.sees_hidden)
    return files.as_csv(audit.table(rows, sees_hidden=shown.sees_hidden), f"{slug}-audit.csv")


@login_required
@never_cache
@require_safe
@tells_refusals
@zones.in_own_zone
def as_json(request: HttpRequest, slug: str) -> HttpResponseBase:
    """All entries that match, as JSON."""
    shown = studio.opened(request, slug)
    rows = audit.Filter.of(request.GET).rows(shown.competition, sees_hidden=shown.sees_hidden)
    pieces = audit.as_json(rows, sees_hidden=shown.sees_hidden)
    return files.attachment(pieces, f"{slug}-audit.json", "application/json")
