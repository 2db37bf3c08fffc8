"""Who may see which submission, and how much of it."""

from django.db.models import QuerySet

from competitions import policy as competition_policy
from competitions.models import Competition
from competitions.policy import Person
from submissions.models import Submission


def is_own(user: Person, submission: Submission) -> bool:
    """Whether it belongs to the person's entrant."""
    return user.is_authenticated and submission.entrant.user_id == user.pk


def visible_submissions(user: Person, competition: Competition) -> QuerySet[Submission]:
    """An organizer sees all, everybody else their own."""
    of_competition = Submission.objects.filter(phase__round__competition=competition)
    if competition_policy.is_organizer(user, competition):
        return of_competition
    if not user.is_authenticated:
        return of_competition.none()
    return of_competition.filter(entrant__user=user)


def may_see(user: Person, submission: Submission) -> bool:
    """Whether the person may open the submission's page."""
    competition = submission.phase.round.competition
    return is_own(user, submission) or competition_policy.is_organizer(user, competition)


def may_see_log(user: Person, submission: Submission) -> bool:
    """Organizers always; the entrant only where the phase is not hidden (a log could carry test rows out)."""
    if competition_policy.is_organizer(user, submission.phase.round.competition):
        return True
    return is_own(user, submission) and not submission.phase.is_hidden


def may_download(user: Person, submission: Submission) -> bool:
    """The archive goes to organizers, and to its entrant where the phase is not hidden."""
    return may_see_log(user, submission)


def may_cancel(user: Person, submission: Submission) -> bool:
    """Its entrant, or an organizer who may edit."""
    competition = submission.phase.round.competition
    return is_own(user, submission) or competition_policy.may_edit(user, competition)
