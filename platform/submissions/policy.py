"""Who may see which submission, and how much of it."""

from django.db.models import Q, QuerySet

from competitions import clock
from competitions import policy as competition_policy
from competitions.models import Competition, Phase, Task
from competitions.policy import Person
from submissions.models import RunFile, Submission, Worker
from submissions.programs.kinds import reads_labels
from submissions.public import shows_columns


def is_own(user: Person, submission: Submission) -> bool:
    """Whether it belongs to an entrant for whom the person speaks: their own, or their team's."""
    if not user.is_authenticated:
        return False
    entrant = submission.entrant
    if entrant.team_id is None:
        return entrant.user_id == user.pk
    return entrant.team.members.filter(user=user, state__in=competition_policy.IN_TEAM).exists()  # type: ignore[union-attr]


def visible_submissions(user: Person, competition: Competition) -> QuerySet[Submission]:
    """An organizer sees all, everybody else their own and their team's."""
    of_competition = Submission.objects.filter(phase__round__competition=competition)
    if competition_policy.is_organizer(user, competition):
        return of_competition
    return of_competition.filter(entrant__in=competition_policy.own_entrants(user).filter(competition=competition))


def may_see(user: Person, submission: Submission) -> bool:
    """Whether the person may open the submission's page."""
    competition = submission.phase.round.competition
    return is_own(user, submission) or competition_policy.is_organizer(user, competition)


def may_see_log(user: Person, submission: Submission) -> bool:
    """Logs, usage, files and notes: in a phase that hides them for those who see what is hidden, since a log could
    carry test rows out; elsewhere for the entrant and every organizer.
    """
    if submission.phase.hides_output:
        return competition_policy.Viewer(user, submission.phase.round.competition).sees_hidden
    return may_download(user, submission)


def may_download(user: Person, submission: Submission) -> bool:
    """The archive goes to organizers, and to its entrant where the phase is not hidden."""
    viewer = competition_policy.Viewer(user, submission.phase.round.competition)
    if submission.phase.is_hidden:
        return viewer.sees_hidden
    return viewer.is_organizer or is_own(user, submission)


def readable_kinds(user: Person, submission: Submission, task: Task) -> frozenset[str]:
    """The kinds of files of a programmed run that the person may read; empty for whom its logs are closed.

    Entrants read what their own code left. What an ingestion program leaves and prints is theirs too, because
    their code may do so there, unless it reads labels. The scoring program's log and its details may tell labels:
    entrants see them only where the phase says so, and organizers where they see what is hidden. The scores file
    may hold columns that are hidden, so organizers alone see it.
    """
    if not may_see_log(user, submission):
        return frozenset()
    if competition_policy.Viewer(user, submission.phase.round.competition).sees_hidden:
        return frozenset(RunFile.Kind.values)
    kinds: set[RunFile.Kind] = set()
    if not reads_labels(task.ingestion_program):
        kinds |= {RunFile.Kind.PREDICTIONS, RunFile.Kind.INGESTION_LOG}
    # A program's details tell its scores: they wait until these are shown.
    tells_scores = shows_columns(submission.phase, sees_hidden=False, now=clock.now(submission.phase.competition))
    if submission.phase.shows_details and tells_scores:
        kinds |= {RunFile.Kind.SCORING_LOG, RunFile.Kind.DETAILS}
    return frozenset(str(kind.value) for kind in kinds)


def may_check_readiness(user: Person, submission: Submission) -> bool:
    """Whether the person may ask for a readiness check and cancel it: the entrant and organizers who may edit,
    where they may read the logs, which is what a check shows.
    """
    may_act = is_own(user, submission) or competition_policy.may_edit(user, submission.phase.round.competition)
    return may_act and may_see_log(user, submission)


def may_cancel(user: Person, submission: Submission) -> bool:
    """An organizer who may edit; its entrant where the phase is not hidden.

    In a hidden phase the answer to the wish would tell whether a run has ended.
    """
    viewer = competition_policy.Viewer(user, submission.phase.round.competition)
    return viewer.may_edit or (not submission.phase.is_hidden and is_own(user, submission))


def usable_classes(user: Person, competition: Competition) -> list[str]:
    """The classes of workers that phases of a competition may ask for: those that serve it, and the usual one."""
    if not competition_policy.may_edit(user, competition):
        return []
    serving = Worker.objects.filter(revoked_at=None).filter(Q(competitions=None) | Q(competitions=competition))
    usual = str(Phase._meta.get_field("resource_class").default)
    return sorted({usual, *serving.values_list("resource_class", flat=True)})
