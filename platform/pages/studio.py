"""The sections of a competition's studio: what organizers see and change, in the order of their navigation."""

from dataclasses import dataclass

from django.http import HttpRequest

from accounts.refusals import Refused
from pages import frame
from pages.frame import Frame


@dataclass(frozen=True)
class Section:
    """One page of the studio. `name` is its address's name; `for_editors`: reviewers do not see it in the list."""

    key: str
    label: str
    name: str
    for_editors: bool = False


SECTIONS = (
    Section("manage", "Overview", "manage"),
    Section("settings", "Settings", "manage_settings"),
    Section("pages", "Pages", "manage_pages"),
    Section("phases", "Phases", "manage_phases"),
    Section("participants", "Participants", "manage_participants"),
    Section("teams", "Teams", "manage_teams"),
    Section("fact_sheet", "Fact sheet", "manage_fact_sheet"),
    Section("announcements", "Announcements", "manage_announcements"),
    Section("submissions", "Submissions", "manage_submissions"),
    Section("queue", "Queue", "manage_queue"),
    Section("organizers", "Organizers", "manage_organizers"),
    Section("rehearsal", "Rehearsal", "manage_rehearsal"),
    Section("basic_methods", "Basic methods", "manage_basic_methods", for_editors=True),
    Section("run_on", "Beyond the budget", "manage_run_on", for_editors=True),
    Section("export", "Export", "manage_export", for_editors=True),
    Section("audit", "Audit log", "manage_audit"),
)


def opened(request: HttpRequest, slug: str) -> Frame:
    """The frame of a competition for somebody who holds a role in it; Refused for others."""
    shown = frame.load(request, slug)
    if not shown.is_organizer:
        raise Refused(f"This page is for the organizers of {shown.competition.title}.", status=403)
    return shown


def context(shown: Frame, section: str, **more: object) -> dict[str, object]:
    """The variables of a page of the studio, whose templates extend `studio/base.html`."""
    sections = [one for one in SECTIONS if shown.viewer.may_edit or not one.for_editors]
    may_edit = shown.viewer.may_edit
    return shown.context("manage", sections=sections, section=section, may_edit=may_edit, **more)
