"""Who is told something, and the rows that say so.

Everybody who is told gets a row, so that what is new to a person can be shown, and so that a mail that was lost is
known. Whoever has no address or wants no mail finds it on the site. No mail leaves a rehearsal.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet

from accounts.models import User
from competitions.models import Announcement, Competition, Delivery, Entrant, Participant, Phase, TeamMember
from competitions.policy import IN_TEAM
from competitions.telling import bell

AT_ONCE = 1000


@dataclass(frozen=True)
class Addressee:
    """A person who is told, and whether a mail may go to them."""

    user_id: int
    gets_mail: bool


def recipients(competition: Competition, phase: Phase | None = None) -> QuerySet[Participant]:
    """Who takes part; with a phase, those of them who submitted in it, alone or with their team."""
    taking_part = competition.participants.filter(state=Participant.State.APPROVED, user__is_active=True)
    if phase is None:
        return taking_part
    alone = Entrant.objects.filter(submissions__phase=phase, user__isnull=False)
    in_team = TeamMember.objects.filter(state__in=IN_TEAM, team__entrant__submissions__phase=phase)
    return taking_part.filter(Q(user__in=alone.values("user")) | Q(user__in=in_team.values("user")))


def addressees(competition: Competition, people: QuerySet[Participant]) -> list[Addressee]:
    """Those people, each once; one query."""
    found = people.order_by().values_list("user", "user__email", "wants_mail")
    mails = competition.rehearses_id is None
    return [Addressee(user, mails and bool(email) and wants) for user, email, wants in found.iterator(AT_ONCE)]


def tell(
    competition: Competition,
    people: Sequence[Addressee],
    *,
    by: User | None,
    subject: str,
    body: str,
    audience: str = Announcement.Audience.PERSON,
    phase: Phase | None = None,
    by_mail: bool = True,
) -> Announcement:
    """Keep what is told, with a row for everybody who is; the mails go after the transaction."""
    by_mail = by_mail and competition.rehearses_id is None
    with transaction.atomic():
        made = Announcement.objects.create(
            competition=competition,
            subject=subject,
            body=body,
            audience=audience,
            phase=phase,
            by_mail=by_mail,
            sent_by=by,
        )
        on_site, waits = Delivery.State.ON_SITE, Delivery.State.WAITING
        rows = [
            Delivery(announcement=made, user_id=one.user_id, state=waits if by_mail and one.gets_mail else on_site)
            for one in people
        ]
        Delivery.objects.bulk_create(rows, batch_size=AT_ONCE)
        if any(row.state == waits for row in rows):
            transaction.on_commit(bell.ring)
    return made
