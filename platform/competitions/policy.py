"""Who may do what with a competition. Every page, command and API call asks here."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from accounts.models import User
from competitions.models import Competition, Organizer, Participant

Person = User | AnonymousUser


def is_organizer(user: Person, competition: Competition) -> bool:
    """Whether the person holds a role here; superusers hold all."""
    if not user.is_authenticated:
        return False
    return user.is_superuser or competition.organizers.filter(user=user).exists()


def may_edit(user: Person, competition: Competition) -> bool:
    """Whether the person may change the competition and act on submissions of others."""
    if not user.is_authenticated:
        return False
    roles = (Organizer.Role.OWNER, Organizer.Role.EDITOR)
    return user.is_superuser or competition.organizers.filter(user=user, role__in=roles).exists()


def visible_competitions(user: Person) -> QuerySet[Competition]:
    """The competitions whose pages the person may read."""
    everybody = ~Q(state=Competition.State.DRAFT)
    if not user.is_authenticated:
        return Competition.objects.filter(everybody)
    if user.is_superuser:
        return Competition.objects.all()
    return Competition.objects.filter(everybody | Q(organizers__user=user)).distinct()


def may_see(user: Person, competition: Competition) -> bool:
    """Whether the person may read the competition's pages."""
    return competition.state != Competition.State.DRAFT or is_organizer(user, competition)


def participation(user: Person, competition: Competition) -> Participant | None:
    """The person's wish to take part, where there is one."""
    if not user.is_authenticated:
        return None
    return competition.participants.filter(user=user).first()


def may_submit(user: Person, competition: Competition) -> bool:
    """Whether the person takes part: an approved participant, or an organizer who tries the competition."""
    if competition.state == Competition.State.ARCHIVED:
        return False
    wish = participation(user, competition)
    return (wish is not None and wish.state == Participant.State.APPROVED) or is_organizer(user, competition)


def may_download_data(user: Person, competition: Competition) -> bool:
    """Whether the person may download the public files of the competition's datasets."""
    wish = participation(user, competition)
    return (wish is not None and wish.state == Participant.State.APPROVED) or is_organizer(user, competition)
