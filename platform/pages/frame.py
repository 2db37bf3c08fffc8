"""What every page of a competition needs to know, loaded once for a request."""

import datetime as dt
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest

from competitions import clock, policy
from competitions.lifecycle import current_phase
from competitions.models import Competition, Departure, Participant, Phase, Task

TABS = (
    ("overview", "Overview", "competition"),
    ("phases", "Phases", "phases"),
    ("datasets", "Datasets", "datasets"),
    ("evaluation", "Evaluation", "evaluation"),
    ("rules", "Rules", "rules"),
    ("submissions", "Submissions", "submissions"),
    ("leaderboard", "Leaderboard", "leaderboard"),
    ("analysis", "Analysis", "analysis"),
    ("announcements", "Announcements", "announcements"),
)


@dataclass
class Frame:
    """One competition as one person sees it now."""

    request: HttpRequest
    viewer: policy.Viewer
    now: dt.datetime

    @property
    def competition(self) -> Competition:
        """The contest."""
        return self.viewer.competition

    @cached_property
    def phases(self) -> list[Phase]:
        """The phases in the competition's order, each with its round."""
        programmed = Task.objects.filter(phase=OuterRef("pk"), scoring_program__isnull=False)
        # What `leaderboards.columns.is_programmed` asks, for all phases at once.
        phases: list[Phase] = list(self.competition.phases().annotate(has_programs=Exists(programmed)))
        for phase in phases:
            phase.round.competition = self.competition
        return phases

    @cached_property
    def current(self) -> Phase | None:
        """The phase a visitor should see first."""
        return current_phase(self.phases, self.now)

    @cached_property
    def departures(self) -> list[Departure]:
        """Why the person does not compete in some phases: the teams left after they had submitted there."""
        if not self.viewer.has_left_team:
            return []
        left = Departure.objects.filter(user=self.viewer.user.pk, entrant__competition=self.competition)
        return list(
            left.exclude(entrant=self.viewer.entrant_id)
            .select_related("entrant", "phase")
            .order_by("phase__number")
        )

    @cached_property
    def submit_phases(self) -> list[Phase]:
        """The phases that take submissions of this person now, also in extra time that was given to them."""
        extended = set()
        if self.viewer.had_extra_time and self.viewer.entrant is not None:
            given = self.viewer.entrant.extensions.filter(closes_at__gt=self.now)
            extended = set(given.values_list("phase", flat=True))
        spent = {departure.phase_id for departure in self.departures}
        return [
            phase
            for phase in self.phases
            if phase.takes_submissions
            and phase.fans_out_from_id is None
            and phase.pk not in spent
            and (phase.is_open(self.now) or (phase.pk in extended and phase.has_begun(self.now)))
        ]

    @property
    def is_organizer(self) -> bool:
        """Whether the person holds a role in this competition."""
        return self.viewer.is_organizer

    @property
    def sees_hidden(self) -> bool:
        """Whether hidden names, unreleased scores and logs of hidden phases are shown to the person."""
        return self.viewer.sees_hidden

    @property
    def participation(self) -> Participant | None:
        """The person's wish to take part."""
        return self.viewer.participation

    @property
    def takes_part(self) -> bool:
        """Whether the person is an approved participant."""
        return self.viewer.takes_part

    @property
    def may_join(self) -> bool:
        """Whether a join button makes sense: published, registration not closed, no wish yet, no role."""
        competition = self.competition
        return (
            competition.state == Competition.State.PUBLISHED
            and competition.registration != Competition.Registration.CLOSED
            and self.participation is None
            and not self.is_organizer
        )

    @property
    def may_submit(self) -> bool:
        """Whether the person may submit, as far as roles decide."""
        return self.viewer.may_submit

    @cached_property
    def offers_kit(self) -> bool:
        """Whether the starting kit is of use: where the platform's own metrics score, and not in a draft without
        datasets, for which there is nothing to prepare.
        """
        if self.has_programs:
            return False
        if self.competition.state != Competition.State.DRAFT:
            return True
        return Task.objects.filter(phase__round__competition=self.competition).exists()

    @property
    def has_programs(self) -> bool:
        """Whether organizers' programs score here, so that the platform's own kit is of no use."""
        return self.viewer.has_programs

    @property
    def may_download_data(self) -> bool:
        """Whether the person may download public files of datasets."""
        return self.viewer.may_download_data

    @property
    def tabs(self) -> list[tuple[str, str, str]]:
        """Key, label and address name of the tabs; participants have those of their team and fact sheet, too."""
        own = []
        if self.takes_part and self.competition.max_team_size > 1:
            own.append(("team", "Team", "team"))
        if self.takes_part and self.viewer.has_fact_sheet:
            own.append(("fact_sheet", "Fact sheet", "fact_sheet"))
        return [*TABS, *own]

    def phase_by_number(self, text: str | None) -> Phase | None:
        """The phase that an address names by its number; None for none or an unknown one."""
        return next((phase for phase in self.phases if text and text == str(phase.number)), None)

    def context(self, active: str, **more: object) -> dict[str, object]:
        """The template's variables for the tab `active`."""
        return {
            "frame": self,
            "competition": self.competition,
            "tabs": self.tabs,
            "added_pages": list(self.competition.pages.all()),
            "active": active,
            "now": self.now,
            **more,
        }


def load(request: HttpRequest, slug: str) -> Frame:
    """The competition of an address, or 404 where the person may not know of it."""
    viewer = policy.viewer_of(request.user, slug)
    if viewer is None or not viewer.may_see:
        raise Http404("There is no such competition.")
    return Frame(request, viewer, clock.now(viewer.competition))
