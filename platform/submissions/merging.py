"""Two teams become one: the team that asked stays, and the past of both is its own.

Merging gives nobody more than one team has: the sizes are added, and so is what was submitted. It happens under
the locks of the competition, of its running runs and of both entrants, so that an upload at the same moment is
either counted or refused.
"""

import datetime as dt
from collections.abc import Iterable

from django.db.models import Count, F, Max, Q

from accounts.models import User
from accounts.refusals import Refused
from competitions import fact_sheets, signals, teams
from competitions.actions.base import record
from competitions.models import Departure, Entrant, Extension, Phase, PrizeClaim, Team, TeamMember, TeamMerge
from competitions.policy import IN_TEAM
from competitions.teams.rules import check_has_room
from submissions import readiness_attempts
from submissions.handover import retire
from submissions.models import Handover, Submission
from submissions.models.readiness import CHECK_ACTIVE, CheckState, ReadinessCheck
from submissions.transitions import hold, settle


def ask(into: Team, team: Team, *, by: User) -> TeamMerge:
    """Ask another team to come in as a whole; only the captain asks. Asking twice changes nothing."""
    with teams.changing(into.competition, merging=True) as now:
        teams.check_is_captain(into, by, "asks other teams to merge with it")
        check(into, team, now)
        return TeamMerge.objects.get_or_create(into=into, team=team, defaults={"asked_by": by, "asked_at": now})[0]


def take_back(into: Team, team: Team, *, by: User) -> None:
    """Take back a question that was not answered."""
    teams.check_is_captain(into, by, "takes back what it asked")
    TeamMerge.objects.filter(into=into, team=team).delete()


def decline(team: Team, into: Team, *, by: User) -> None:
    """Answer with no; possible at any time."""
    teams.check_is_captain(team, by, "answers for it")
    TeamMerge.objects.filter(into=into, team=team).delete()


def accept(team: Team, into: Team, *, by: User) -> Team:
    """Let the whole team go into the one that asked; returns that one."""
    competition = into.competition
    with teams.changing(competition, merging=True) as now:
        teams.check_is_captain(team, by, "answers for it")
        if not TeamMerge.objects.filter(into=into, team=team).exists():
            raise Refused(f"{into.name} does not ask {team.name} to merge any more.", status=409)
        ids = (into.entrant.pk, team.entrant.pk)
        # In the order of their ids, and before runs, as uploads, hand-overs and another merge take them.
        rows = Entrant.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk")
        locked = {one.pk: one for one in rows}
        hold(competition)
        check(into, team, now)
        staying, going = locked[ids[0]], locked[ids[1]]
        text = f"{team.name} went into {into.name}."
        _move_past(staying, going)
        _move_people(into, team)
        signals.merged.send(sender=Entrant, staying=staying, going=going)
        going.delete()
        Team.objects.filter(pk=team.pk).delete()
        _settle(staying)
        record(competition, by=by, action="merge-teams", text=text, at=now, entrant=staying.pk)
    return into


def check(into: Team, team: Team, now: dt.datetime) -> None:
    """Refuse two teams that would together be, or have, more than one may."""
    if into.pk == team.pk or into.competition_id != team.competition_id:
        raise Refused(f"{into.name} can merge with another team of {into.competition.title} only.", status=409)
    coming = team.members.filter(state__in=IN_TEAM).count()
    check_has_room(into, coming=coming)
    both = (into.entrant, team.entrant)
    if any(entrant.is_baseline for entrant in both):
        raise Refused("A baseline does not merge with anybody.", status=409)
    if PrizeClaim.objects.filter(entrant__in=both).exists():
        raise Refused("One of the two is in line for a prize, so they do not merge any more.", status=409)
    sentence = excess(both, now)
    if sentence:
        raise Refused(sentence, status=409)


def excess(both: Iterable[Entrant], now: dt.datetime) -> str:
    """In which phase the two used more quota together than one may have used by now; empty where in none."""
    today = now.astimezone(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    made = (
        Submission.objects.counting_for_quota()
        .filter(entrant__in=list(both))
        .order_by("phase")
        .values("phase")
        .annotate(
            who=Count("entrant", distinct=True),
            all=Count("pk"),
            of_today=Count("pk", filter=Q(received_at__gte=today)),
        )
    )
    counts = {row["phase"]: row for row in made if row["who"] == 2}
    for phase in Phase.objects.filter(pk__in=counts).order_by("number"):
        row = counts[phase.pk]
        most = most_by_now(phase, now)
        if most is not None and row["all"] > most:
            return (
                f"Together the two made {row['all']} submissions to {phase.title}, and one team could have made "
                f"{most} by now."
            )
        if phase.daily_quota is not None and row["of_today"] > phase.daily_quota:
            return (
                f"Together the two made {row['of_today']} submissions to {phase.title} today, and the quota of a "
                f"day is {phase.daily_quota}. Tomorrow (UTC) they may merge."
            )
    return ""


def most_by_now(phase: Phase, now: dt.datetime) -> int | None:
    """How many submissions one entrant could have made to a phase by now; None: without limit."""
    limits = [] if phase.total_quota is None else [phase.total_quota]
    if phase.daily_quota is not None:
        last = min(now, phase.closes_at) if phase.closes_at else now
        days = (last.astimezone(dt.UTC).date() - phase.opens_at.astimezone(dt.UTC).date()).days + 1
        limits.append(phase.daily_quota * max(1, days))
    return min(limits, default=None)


def _move_past(staying: Entrant, going: Entrant) -> None:
    _one_handover_a_phase(staying, going)
    chosen = staying.submissions.filter(is_chosen=True).values("phase")
    going.submissions.filter(is_chosen=True, phase__in=chosen).update(is_chosen=False)
    last = staying.submissions.aggregate(last=Max("number"))["last"] or 0
    # Numbers stay in their order, behind those that are there.
    going.submissions.update(entrant=staying, number=F("number") + last)
    Handover.objects.filter(entrant=going).update(entrant=staying)
    _move_checks(staying, going)
    for extension in Extension.objects.filter(entrant=going):
        own = Extension.objects.filter(entrant=staying, phase=extension.phase_id).first()
        if own is None:
            extension.entrant = staying
            extension.save(update_fields=["entrant"])
        elif own.closes_at < extension.closes_at:
            own.closes_at = extension.closes_at
            own.save(update_fields=["closes_at"])
    Departure.objects.filter(entrant=going).update(entrant=staying)
    answered = staying.answers.values("question")
    going.answers.exclude(question__in=answered).update(entrant=staying)
    staying.held_a_role = staying.held_a_role or going.held_a_role
    staying.owes_answers = fact_sheets.owes(staying)
    staying.save(update_fields=["held_a_role", "owes_answers"])


def _one_handover_a_phase(staying: Entrant, going: Entrant) -> None:
    """Of two hand-overs to a phase the one whose source came later stays; the other's submission steps back.

    Where the parent's rule says otherwise, the next tick of the hand-over puts it right.
    """
    rows = {row.phase_id: row for row in Handover.objects.filter(entrant=staying).select_related("source")}
    for row in Handover.objects.filter(entrant=going).select_related("source"):
        own = rows.get(row.phase_id)
        if own is None:
            continue
        loser = own if _later(row.source, own.source) else row
        if loser.submission is not None and loser.submission.competes:
            retire(loser.submission)
        loser.delete()


def _later(one: Submission | None, other: Submission | None) -> bool:
    if one is None or other is None:
        return other is None and one is not None
    return (one.received_at, one.pk) > (other.received_at, other.pk)


def _move_checks(staying: Entrant, going: Entrant) -> None:
    """Readiness checks go with their submissions; of two that run at once the one of the team that goes ends."""
    checks = ReadinessCheck.objects.filter(entrant=going)
    if ReadinessCheck.objects.filter(entrant=staying, state__in=CHECK_ACTIVE).exists():
        for one in checks.filter(state__in=CHECK_ACTIVE):
            readiness_attempts.end(one, CheckState.CANCELLED, "Its team went into another one.")
    checks.update(entrant=staying)


def _move_people(into: Team, team: Team) -> None:
    """Everybody of the team becomes a member; invitations and questions of the team that goes end with it."""
    places = team.members.filter(state__in=IN_TEAM)
    into.members.filter(user__in=places.values("user")).delete()
    places.update(team=into, state=TeamMember.State.MEMBER)


def _settle(entrant: Entrant) -> None:
    """Tell who listens of one submission in each phase: boards and hand-overs look at all of the entrant's."""
    seen: set[int] = set()
    for submission in entrant.submissions.select_related("phase__round__competition").order_by("phase__number"):
        if submission.phase_id not in seen:
            seen.add(submission.phase_id)
            settle(submission)
