"""Who may do what with a competition. Every page, command and API call asks here.

`Viewer` is one person before one competition; the functions below it answer single questions. Foreign ids of
forms and calls (a dataset, a parent phase, a class of workers, an image) are resolved here too, so that an id
that was guessed names nothing that its sender may not use.
"""

import datetime as dt
from collections.abc import Collection, Iterable
from functools import cached_property
from typing import Any, TypeVar

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db.models import Count, Exists, F, Model, OuterRef, Q, QuerySet, Subquery

from accounts.models import User
from accounts.prepared import Prepared
from accounts.refusals import Refused
from competitions import allow_list, lifecycle
from competitions.models import (
    Competition,
    Delivery,
    Departure,
    Entrant,
    Extension,
    Organizer,
    Participant,
    Phase,
    Program,
    Question,
    Round,
    Task,
    TeamMember,
)
from datasets.models import Dataset

Person = User | AnonymousUser
Found = TypeVar("Found", bound=Model)

CREATE_COMPETITIONS = "competitions.add_competition"


class Viewer:
    """One person before one competition; roles and participation are read once."""

    def __init__(self, user: Person, competition: Competition) -> None:
        self.user, self.competition = user, competition

    @cached_property
    def role(self) -> Organizer | None:
        """The person's role here, if any."""
        if not self.user.is_authenticated:
            return None
        return self.competition.organizers.filter(user=self.user).first()

    @cached_property
    def participation(self) -> Participant | None:
        """The person's wish to take part, where there is one."""
        if not self.user.is_authenticated:
            return None
        return self.competition.participants.filter(user=self.user).first()

    @cached_property
    def entrant(self) -> Entrant | None:
        """As what the person competes so far: the team's entrant, else the person's own, if any."""
        return own_entrant(self.user, self.competition)

    @cached_property
    def entrant_id(self) -> int | None:
        """The id of `entrant`."""
        return self.entrant.pk if self.entrant else None

    @cached_property
    def unread(self) -> int:
        """How many announcements the person was told and has not seen on the site."""
        if not self.user.is_authenticated:
            return 0
        return Delivery.objects.filter(
            _is_unread(self.user.pk), announcement__competition=self.competition
        ).count()

    @cached_property
    def had_extra_time(self) -> bool:
        """Whether `entrant` was ever given extra time."""
        return self.entrant is not None and self.entrant.extensions.exists()

    @cached_property
    def has_fact_sheet(self) -> bool:
        """Whether entrants are asked anything about their methods."""
        return self.competition.questions.exists()

    @cached_property
    def has_programs(self) -> bool:
        """Whether programs of its organizers run and score what is sent to the competition."""
        return self.competition.programs.exists()

    @cached_property
    def owes_answers(self) -> bool:
        """Whether `entrant` takes no place before it has answered."""
        return self.entrant is not None and self.entrant.owes_answers

    @cached_property
    def is_asked_by_team(self) -> bool:
        """Whether a team waits for the person's answer."""
        here = Competition.objects.filter(pk=self.competition.pk)
        return self.user.is_authenticated and here.filter(Exists(_team_questions(self.user.pk))).exists()

    @cached_property
    def has_left_team(self) -> bool:
        """Whether the person left a team after it had submitted with them."""
        left = Departure.objects.filter(entrant__competition=self.competition.pk)
        return self.user.is_authenticated and left.filter(user=self.user).exists()

    @property
    def is_superuser(self) -> bool:
        """Whether the person is an operator who holds every role."""
        return self.user.is_authenticated and self.user.is_superuser

    @property
    def is_organizer(self) -> bool:
        """Whether the person holds a role here: owner, editor or reviewer."""
        return self.is_superuser or self.role is not None

    @property
    def may_edit(self) -> bool:
        """Whether the person may change the competition and act on submissions of others."""
        return self.is_superuser or (self.role is not None and self.role.role in EDITING)

    @property
    def owns(self) -> bool:
        """Whether the person may give and take roles."""
        return self.is_superuser or (self.role is not None and self.role.role == Organizer.Role.OWNER)

    @property
    def sees_hidden(self) -> bool:
        """Whether the person sees names of hidden datasets, unreleased scores and logs of hidden phases.

        Owners and editors do; a reviewer only where the owner ticked it.
        """
        return self.may_edit or (self.role is not None and self.role.sees_hidden)

    @property
    def takes_part(self) -> bool:
        """Whether the person is an approved participant."""
        wish = self.participation
        return wish is not None and wish.state == Participant.State.APPROVED

    @property
    def may_see(self) -> bool:
        """Whether the person may read the competition's pages.

        A draft is its organizers' alone. What is private is also for those who take part or asked to, and for
        those whose verified address is on its list. A rehearsal is private whatever its settings say.
        """
        if self.competition.state == Competition.State.DRAFT:
            return self.is_organizer
        is_private = self.competition.visibility == Competition.Visibility.PRIVATE
        if self.is_organizer or not (is_private or self.competition.rehearses_id):
            return True
        wish = self.participation
        if wish is not None:
            return wish.state in LIVE
        return allow_list.admits(self.competition, self.user)

    @property
    def may_submit(self) -> bool:
        """Whether the person may submit: an approved participant, or an organizer who tries the competition."""
        if self.competition.state == Competition.State.ARCHIVED:
            return False
        return self.may_see and (self.takes_part or self.is_organizer)

    @property
    def may_download_data(self) -> bool:
        """Whether public files of datasets go to the person; which datasets, `datasets_in_view` says."""
        return self.may_see and (self.takes_part or self.is_organizer)


def viewer_of(user: Person, slug: str) -> Viewer | None:
    """The person before the competition of an address; None where there is none. One query.

    Role, participation and extra time come with the competition, because every page asks for them.
    """
    competition: Any = (FOR_MEMBER if user.is_authenticated else FOR_STRANGER).first(user.pk or 0, slug)
    if competition is None:
        return None
    viewer = Viewer(user, competition)
    viewer.has_programs = bool(competition.programmed)
    if not user.is_authenticated:
        return viewer
    viewer.role = _own(Organizer, viewer, OF_ROLE)
    viewer.participation = _own(Participant, viewer, OF_WISH)
    viewer.entrant_id, viewer.had_extra_time = competition.own_entrant_id, bool(competition.had_extra_time)
    viewer.unread = competition.unread or 0
    viewer.has_fact_sheet, viewer.owes_answers = bool(competition.asks), bool(competition.own_owing)
    viewer.is_asked_by_team, viewer.has_left_team = bool(competition.asked), bool(competition.left)
    return viewer


def _for_stranger(user: int, slug: str) -> Any:
    """The competition of an address with what concerns everybody."""
    programs = Program.objects.filter(competition=OuterRef("pk"))
    return Competition.objects.filter(slug=slug).annotate(programmed=Exists(programs))


def _for_member(user: int, slug: str) -> Any:
    """The same with what concerns somebody who is logged in."""
    entrants = entrants_of(user).filter(competition=OuterRef("pk"))
    entrants = entrants.order_by(F("team").asc(nulls_last=True), "pk")
    return _for_stranger(user, slug).annotate(
        **_of_own(Organizer, user, OF_ROLE),
        **_of_own(Participant, user, OF_WISH),
        own_entrant_id=Subquery(entrants.values("pk")[:1]),
        had_extra_time=Exists(Extension.objects.filter(entrant=OuterRef("own_entrant_id"))),
        unread=Subquery(_unread_of(user)),
        asks=Exists(Question.objects.filter(competition=OuterRef("pk"))),
        own_owing=Subquery(entrants.values("owes_answers")[:1]),
        asked=Exists(_team_questions(user)),
        left=Exists(Departure.objects.filter(user=user, entrant__competition=OuterRef("pk"))),
    )


# Every page asks these, and to build them took longer than anything else of it.
FOR_STRANGER: Prepared[Any] = Prepared(_for_stranger)
FOR_MEMBER: Prepared[Any] = Prepared(_for_member)


def _team_questions(user: int | None) -> QuerySet[TeamMember]:
    """Places that wait for the person's answer in the competition of an outer query: those of somebody who was
    asked to come in, and a captain's whose team was asked to merge.
    """
    invited, captain = Q(state=TeamMember.State.INVITED), Q(state=TeamMember.State.CAPTAIN)
    waits = invited | (captain & Q(team__merges_offered__isnull=False))
    return TeamMember.objects.filter(waits, user=user, team__competition=OuterRef("pk"))


def _is_unread(user: int | None) -> Q:
    return Q(user=user, read_at=None)


def _unread_of(user: int) -> QuerySet[Any, Any]:
    """How many unread announcements the person has in the competition of an outer query."""
    unread = Delivery.objects.filter(_is_unread(user), announcement__competition=OuterRef("pk")).order_by()
    return unread.values("announcement__competition").annotate(many=Count("pk")).values("many")


OF_ROLE = ("id", "role", "sees_hidden")
OF_WISH = ("id", "state", "wants_mail")


def _of_own(model: type[Model], user: int, names: Iterable[str]) -> dict[str, Subquery]:
    """Values of the person's row, to be read with the competition."""
    rows = model._default_manager.filter(competition=OuterRef("pk"), user=user)
    return {f"own_{model._meta.model_name}_{name}": Subquery(rows.values(name)[:1]) for name in names}


def _own(model: type[Found], viewer: Viewer, names: Iterable[str]) -> Found | None:
    """The person's row from those values, if there is one; its others are loaded when they are asked for."""
    values = {name: getattr(viewer.competition, f"own_{model._meta.model_name}_{name}") for name in names}
    if values["id"] is None:
        return None
    known = {**values, "competition_id": viewer.competition.pk, "user_id": viewer.user.pk}
    ordered = [field.attname for field in model._meta.concrete_fields if field.attname in known]
    return model.from_db(viewer.competition._state.db, ordered, [known[name] for name in ordered])


EDITING = (Organizer.Role.OWNER, Organizer.Role.EDITOR)
LIVE = (Participant.State.PENDING, Participant.State.APPROVED)
IN_TEAM = (TeamMember.State.MEMBER, TeamMember.State.CAPTAIN)


def is_organizer(user: Person, competition: Competition) -> bool:
    """Whether the person holds a role here; superusers hold all."""
    return Viewer(user, competition).is_organizer


def may_edit(user: Person, competition: Competition) -> bool:
    """Whether the person may change the competition and act on submissions of others."""
    return Viewer(user, competition).may_edit


def owns(user: Person, competition: Competition) -> bool:
    """Whether the person may give and take roles."""
    return Viewer(user, competition).owns


def sees_hidden(user: Person, competition: Competition) -> bool:
    """Whether the person sees hidden names, unreleased scores and logs of hidden phases."""
    return Viewer(user, competition).sees_hidden


def visible_competitions(user: Person) -> QuerySet[Competition]:
    """The competitions that lists show to the person: public ones, and those that are the person's.

    Unlisted and private ones stand in the lists of their organizers, of who takes part in them, and of those on
    the e-mail list of a private one. A rehearsal is in no list: it is reached from what it rehearses. Nor is what
    is being deleted.
    """
    found = Competition.objects.filter(rehearses=None, deletion=None)
    if user.is_authenticated and user.is_superuser:
        return found
    is_out = ~Q(state=Competition.State.DRAFT)
    public = is_out & Q(visibility=Competition.Visibility.PUBLIC)
    if not user.is_authenticated:
        return found.filter(public)
    organized = Q(pk__in=Organizer.objects.filter(user=user).values("competition"))
    joined = Participant.objects.filter(user=user, state__in=LIVE).values("competition")
    turned_away = Participant.objects.filter(user=user).exclude(state__in=LIVE).values("competition")
    invited = Q(visibility=Competition.Visibility.PRIVATE, pk__in=allow_list.admitting(user))
    mine = Q(pk__in=joined) | (invited & ~Q(pk__in=turned_away))
    return found.filter(public | organized | (is_out & mine))


def roles_of(user: Person) -> dict[int, str]:
    """The person's roles by the ids of the competitions; one query."""
    if not user.is_authenticated:
        return {}
    return dict(Organizer.objects.filter(user=user).values_list("competition", "role"))


def may_see(user: Person, competition: Competition) -> bool:
    """Whether the person may read the competition's pages."""
    return Viewer(user, competition).may_see


def may_create_competition(user: Person) -> bool:
    """Whether the operator granted the person to make competitions."""
    return user.is_authenticated and user.is_active and user.has_perm(CREATE_COMPETITIONS)


def participation(user: Person, competition: Competition) -> Participant | None:
    """The person's wish to take part, where there is one."""
    return Viewer(user, competition).participation


def may_submit(user: Person, competition: Competition) -> bool:
    """Whether the person takes part: an approved participant, or an organizer who tries the competition."""
    return Viewer(user, competition).may_submit


def may_download_data(user: Person, competition: Competition) -> bool:
    """Whether the person may download the public files of the competition's datasets."""
    return Viewer(user, competition).may_download_data


def own_entrants(user: Person) -> QuerySet[Entrant]:
    """The entrants for whom the person speaks: the person's own, and those of the person's teams."""
    return entrants_of(user.pk) if user.is_authenticated else Entrant.objects.none()


def entrants_of(user: int) -> QuerySet[Entrant]:
    """The same for the person of an id."""
    places = TeamMember.objects.filter(user=user, state__in=IN_TEAM)
    return Entrant.objects.filter(Q(user=user) | Q(team__in=places.values("team")))


def own_entrant(user: Person, competition: Competition) -> Entrant | None:
    """As what the person competes so far: the team's entrant, else the person's own; None before the first use."""
    found = own_entrants(user).filter(competition=competition).select_related("team")
    # An entrant of one's own that never submitted may be left from before the team.
    return min(found, key=lambda entrant: entrant.team_id is None, default=None)


def known_tasks(tasks: Iterable[Task], now: dt.datetime) -> set[int]:
    """The ids of those tasks whose datasets entrants may know now; wants their phases loaded. One query.

    A dataset that has begun to be shown stays known. One of a blind phase is not, before it is revealed, in
    whatever competition that phase is.
    """
    tasks = list(tasks)
    here = Round.objects.filter(phases__in={task.phase_id for task in tasks}).values("competition")
    others = Task.objects.filter(hiding() | Q(phase__kind=Phase.Kind.AUTOML, phase__round__competition__in=here))
    others = others.filter(dataset__in={task.dataset_id for task in tasks})
    others = others.exclude(pk__in=[task.pk for task in tasks]).select_related("phase")
    return lifecycle.revealed_tasks([*tasks, *others], now) & {task.pk for task in tasks}


def hiding() -> Q:
    """The tasks whose datasets are hidden in other competitions, too, as long as they are not revealed.

    What is rehearsed, on another clock, hides nothing elsewhere. Nor does a draft that was never published: a copy
    for next year would take the datasets away from those who compete now.
    """
    of = "phase__round__competition"
    is_draft = Q(**{f"{of}__state": Competition.State.DRAFT, f"{of}__published_at": None})
    return Q(phase__kind=Phase.Kind.AUTOML, **{f"{of}__rehearses": None}) & ~is_draft


def shows_all_datasets(phase: Phase, now: dt.datetime) -> bool:
    """Whether entrants may know every dataset of a phase; nothing of theirs may run by name before that."""
    tasks = list(phase.tasks.all())
    for task in tasks:
        task.phase = phase
    return len(known_tasks(tasks, now)) == len(tasks)


def usable_datasets(user: Person) -> QuerySet[Dataset]:
    """The datasets that the person may put into a phase: own, shared, and those of competitions they edit."""
    if not user.is_authenticated:
        return Dataset.objects.none()
    if user.is_superuser:
        return Dataset.objects.all()
    edited = Competition.objects.filter(organizers__user=user, organizers__role__in=EDITING)
    of_contests = Q(tasks__phase__round__competition__in=edited)
    return Dataset.objects.filter(Q(owner=user) | Q(shares__user=user) | of_contests).distinct()


def usable_parents(user: Person, competition: Competition) -> QuerySet[Phase]:
    """The phases from which a phase of this competition may take over entries: those of this competition."""
    return competition.phases() if may_edit(user, competition) else Phase.objects.none()


def usable_images(user: Person, competition: Competition) -> Collection[str]:
    """The images in which runs may happen: those that the operator allows."""
    return settings.SANDBOX_IMAGES if may_edit(user, competition) else ()


def resolved(choices: "QuerySet[Found]", pk: object, what: str) -> Found:
    """The choice of this id; an unknown one and one that is not the person's are refused alike."""
    try:
        return choices.get(pk=pk)
    except (ObjectDoesNotExist, ValueError, TypeError, OverflowError, ValidationError) as problem:
        raise Refused(f"There is no such {what}.", status=404) from problem
