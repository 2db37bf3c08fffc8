"""What a participant's page about their team shows."""

from dataclasses import dataclass, field

from django.db.models import Count
from django.utils import timezone

from accounts.models import User
from competitions import teams
from competitions.models import Departure, Entrant, Phase, Team, TeamLink, TeamMember, TeamMerge
from competitions.policy import IN_TEAM
from competitions.teams.leaving import phases_spent
from pages.frame import Frame
from submissions.models.submission import quota_left


@dataclass(frozen=True)
class PhaseUse:
    """What the team has left in a phase that is open; `left` is None where there is no limit."""

    phase: Phase
    left: int | None


@dataclass
class TeamPage:
    """The team of a person, or what they may do to come into one.

    `closed` and `closed_to_merges` say why nothing changes any more; empty where it does.
    """

    team: Team | None
    closed: str
    closed_to_merges: str
    place: TeamMember | None = None
    members: list[TeamMember] = field(default_factory=list)
    invited: list[TeamMember] = field(default_factory=list)
    links: list[TeamLink] = field(default_factory=list)
    asked: list[TeamMerge] = field(default_factory=list)
    offered: list[TeamMerge] = field(default_factory=list)
    invitations: list[TeamMember] = field(default_factory=list)
    departures: list[Departure] = field(default_factory=list)
    uses: list[PhaseUse] = field(default_factory=list)
    submissions: int = 0
    spent: str = ""
    has_own_entries: bool = False

    @property
    def is_captain(self) -> bool:
        """Whether the person asks, renames and hands on."""
        return self.place is not None and self.place.state == TeamMember.State.CAPTAIN

    @property
    def is_last(self) -> bool:
        """Whether the team ends when the person leaves."""
        return len(self.members) == 1

    @property
    def others(self) -> list[TeamMember]:
        """The members to whom a captain can hand the team on."""
        return [one for one in self.members if one != self.place]


def of_person(shown: Frame, user: User) -> TeamPage:
    """The page for a participant."""
    competition = shown.competition
    page = TeamPage(
        team=teams.team_of(competition, user),
        closed=teams.closing_sentence(competition, shown.now),
        closed_to_merges=teams.closing_sentence(competition, shown.now, merging=True),
    )
    if page.team is None:
        _fill_for_alone(page, shown, user)
    else:
        _fill_for_member(page, page.team, shown, user)
    return page


def _fill_for_alone(page: TeamPage, shown: Frame, user: User) -> None:
    asked = TeamMember.objects.filter(
        team__competition=shown.competition, user=user, state=TeamMember.State.INVITED
    ).select_related("team")
    page.invitations = list(asked.annotate(size=Count("team__members")).order_by("joined_at"))
    page.departures = shown.departures
    own = Entrant.objects.filter(competition=shown.competition, user=user).first()
    page.has_own_entries = own is not None and own.submissions.exists()


def _fill_for_member(page: TeamPage, team: Team, shown: Frame, user: User) -> None:
    places = list(team.members.select_related("user", "team__entrant").order_by("joined_at", "id"))
    page.members = [place for place in places if place.state in IN_TEAM]
    page.invited = [place for place in places if place.state == TeamMember.State.INVITED]
    page.place = next(place for place in page.members if place.user_id == user.pk)
    page.links = list(team.links.filter(expires_at__gt=timezone.now()).select_related("made_by"))
    page.asked = list(team.merges_asked.select_related("team").order_by("asked_at"))
    page.offered = list(team.merges_offered.select_related("into").order_by("asked_at"))
    page.submissions = team.entrant.submissions.count()
    page.uses = [PhaseUse(phase, quota_left(phase, team.entrant, shown.now)) for phase in shown.submit_phases]
    spent = set(phases_spent(page.place))
    page.spent = ", ".join(phase.title for phase in shown.phases if phase.pk in spent)
