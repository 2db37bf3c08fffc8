"""The people of a competition as its organizers see them: which are chosen, and what is told of each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet
from django.http import QueryDict

from competitions.models import Competition, Entrant, Participant, TeamMember
from competitions.policy import IN_TEAM
from leaderboards.export import spreadsheet_text

MOST_CHOSEN = 500
AT_ONCE = 500
COLUMNS = ("user name", "name", "affiliation", "state", "joined", "competes as", "submissions")


@dataclass(frozen=True)
class Filter:
    """Which people are listed. Addresses are searched only for who may see them."""

    state: str = ""
    words: str = ""
    sees_emails: bool = False

    @classmethod
    def of(cls, given: QueryDict, *, sees_emails: bool) -> "Filter":
        """The filter of a query; an unknown state is none."""
        state = given.get("state", "")
        known = state if state in Participant.State.values else ""
        return cls(known, given.get("q", "").strip()[:80], sees_emails)

    def of_words(self, people: QuerySet[Participant]) -> QuerySet[Participant]:
        """Those whose name, or address, holds the words."""
        if not self.words:
            return people
        found = Q()
        for column in ("username", "first_name", "last_name", "affiliation"):
            found |= Q(**{f"user__{column}__icontains": self.words})
        parts = self.words.split(None, 1)
        if len(parts) == 2:
            found |= Q(user__first_name__icontains=parts[0], user__last_name__icontains=parts[1])
        if self.sees_emails:
            found |= Q(user__email__icontains=self.words)
        return people.filter(found)

    def rows(self, competition: Competition) -> QuerySet[Participant]:
        """Those who are listed."""
        people = self.of_words(competition.participants.all())
        return people.filter(state=self.state) if self.state else people


@dataclass(frozen=True)
class Choice:
    """People who were ticked; or everybody of a filter, but for those who joined after the page was shown."""

    filter: Filter
    ids: tuple[int, ...] = ()
    is_everybody: bool = False
    last: int = 0

    @classmethod
    def of(cls, given: QueryDict, *, sees_emails: bool) -> "Choice":
        """What a form sent."""
        ids = tuple(int(one) for one in given.getlist("who")[:MOST_CHOSEN] if one.isdecimal() and len(one) < 19)
        last = given.get("last", "")
        return cls(
            Filter.of(given, sees_emails=sees_emails),
            ids,
            given.get("everybody") == "yes",
            int(last) if last.isdecimal() and len(last) < 19 else 0,
        )

    def rows(self, competition: Competition) -> QuerySet[Participant]:
        """The chosen people."""
        if self.is_everybody:
            return self.filter.rows(competition).filter(pk__lte=self.last)
        return competition.participants.filter(pk__in=self.ids)

    def fields(self) -> list[tuple[str, str]]:
        """The hidden fields that say the same again."""
        if not self.is_everybody:
            return [("who", str(pk)) for pk in self.ids]
        named = {"everybody": "yes", "last": str(self.last), "state": self.filter.state, "q": self.filter.words}
        return [(name, value) for name, value in named.items() if value]


@dataclass(frozen=True)
class Line:
    """One person in the list: as what they compete, and how often they have submitted."""

    participant: Participant
    entrant: Entrant | None
    submissions: int


def lines(competition: Competition, people: Sequence[Participant]) -> list[Line]:
    """A line for each of them, in two queries however many they are."""
    users = [one.user_id for one in people]
    alone = Entrant.objects.filter(competition=competition, user__in=users)
    counted: dict[int | None, tuple[Entrant | None, int]] = {
        one.user_id: (one, one.many) for one in alone.annotate(many=Count("submissions"))
    }
    places = TeamMember.objects.filter(team__competition=competition, user__in=users, state__in=IN_TEAM)
    # A team's entrant goes before one of the person's own that never submitted.
    for place in places.select_related("team__entrant").annotate(many=Count("team__entrant__submissions")):
        counted[place.user_id] = (place.team.entrant, place.many)
    return [Line(one, *counted.get(one.user_id, (None, 0))) for one in people]


def table(competition: Competition, chosen: Filter) -> Iterator[list[object]]:
    """The rows of the export, head first; names cannot become formulas of a spreadsheet."""
    yield [*COLUMNS, *(["e-mail"] if chosen.sees_emails else [])]
    rows = chosen.rows(competition).select_related("user").order_by("pk")
    last = 0
    while people := list(rows.filter(pk__gt=last)[:AT_ONCE]):
        last = people[-1].pk
        for line in lines(competition, people):
            user = line.participant.user
            texts = [user.get_username(), user.get_full_name(), user.affiliation]
            competes = line.entrant.name if line.entrant else ""
            yield [
                *(spreadsheet_text(text) for text in texts),
                line.participant.state,
                line.participant.joined_at.isoformat(timespec="seconds"),
                spreadsheet_text(competes),
                line.submissions,
                *([spreadsheet_text(user.email)] if chosen.sees_emails else []),
            ]
