"""The audit log as a person may read it.

What was done may name what is hidden: a dataset of a blind phase, an entrant's score. Who does not see what is
hidden reads who did what kind of thing when, and the sentences of those actions that can name nothing of it; the
search looks at no others, since a word that is found tells as much as a word that is shown.
"""

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.utils import timezone

from competitions.models import AuditEntry, Competition
from leaderboards.export import spreadsheet_text
from pages.action_labels import label_of

# Actions whose sentences speak of people and of the competition as a whole.
NAMES_NOTHING_HIDDEN = frozenset(
    {
        "approve_participants",
        "give_role",
        "pause_queue",
        "reject_participants",
        "remove_participants",
        "resume_queue",
        "send_mails_again",
        "take_role",
    }
)
CLOCK = "-"  # in the filter: what no person did
MOST_SHOWN = 200  # characters of a detail; exports have the whole
HEAD = ("when", "who", "action", "what", "details")


@dataclass(frozen=True)
class Filter:
    """Which entries are listed. Days are those of the active time zone, both included."""

    who: str = ""
    action: str = ""
    since: dt.date | None = None
    until: dt.date | None = None
    words: str = ""

    @classmethod
    def of(cls, given: QueryDict) -> "Filter":
        """The filter of a query; a day that is none is no filter."""
        text = {name: given.get(name, "").strip()[:150] for name in ("who", "action", "since", "until", "q")}
        return cls(text["who"], text["action"], _day(text["since"]), _day(text["until"]), text["q"])

    @property
    def is_set(self) -> bool:
        """Whether anything is filtered."""
        return self != Filter()

    def rows(self, competition: Competition, *, sees_hidden: bool) -> QuerySet[AuditEntry]:
        """The entries that match."""
        found: QuerySet[AuditEntry] = competition.audit.select_related("user")
        if self.who:
            found = found.filter(who="" if self.who == CLOCK else self.who)
        if self.action:
            found = found.filter(action=self.action)
        if self.since:
            found = found.filter(at__gte=_midnight(self.since))
        if self.until:
            found = found.filter(at__lt=_midnight(self.until + dt.timedelta(days=1)))
        if self.words:
            in_text = Q(text__icontains=self.words)
            if not sees_hidden:
                in_text &= Q(action__in=NAMES_NOTHING_HIDDEN)
            found = found.filter(in_text)
        return found


def _day(text: str) -> dt.date | None:
    try:
        day = dt.date.fromisoformat(text)
    except ValueError:
        return None
    return day if dt.date.min < day < dt.date.max else None


def _midnight(day: dt.date) -> dt.datetime:
    return dt.datetime.combine(day, dt.time(), timezone.get_current_timezone())


@dataclass(frozen=True)
class Line:
    """An entry as it is shown. `text` is empty where it may name what is hidden from the reader."""

    entry: AuditEntry
    who: str
    text: str

    @property
    def kind(self) -> str:
        """The kind of action in words."""
        return label_of(self.entry.action)

    @property
    def details(self) -> list[tuple[str, str]]:
        """What the entry keeps beside its sentence, shortened; for whoever reads the sentence."""
        told = self.entry.data.items() if self.text else ()
        return [(in_words(name), _shortened(value)) for name, value in told if value not in (None, "", [], {})]

    def as_json(self) -> dict[str, Any]:
        """The entry as an export tells it; without what is hidden."""
        told: dict[str, Any] = {
            "at": self.entry.at.isoformat(timespec="seconds"),
            "who": self.entry.who or None,
            "action": self.entry.action,
            "text": self.text or None,
        }
        return told | ({"data": self.entry.data} if self.text else {})


def _shortened(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def in_words(name: str) -> str:
    """The name of a detail in words: `wall_seconds` as `wall seconds`."""
    return name.replace("_", " ").replace("-", " ")


def line(entry: AuditEntry, *, sees_hidden: bool) -> Line:
    """The entry for one reader."""
    is_told = sees_hidden or entry.action in NAMES_NOTHING_HIDDEN
    name = entry.user.display_name if entry.user else entry.who
    return Line(entry, name, entry.text if is_told else "")


def choices(competition: Competition) -> tuple[list[str], list[str]]:
    """The user names and the kinds of actions that stand in the log; two queries."""
    entries = competition.audit.order_by()
    who = entries.exclude(who="").values_list("who", flat=True).distinct()
    return sorted(who), sorted(entries.values_list("action", flat=True).distinct())


def table(rows: QuerySet[AuditEntry], *, sees_hidden: bool) -> Iterator[list[object]]:
    """The rows of the export as a table, head first, the latest entry first."""
    yield list(HEAD)
    for entry in rows.order_by("-pk").iterator(chunk_size=500):
        shown = line(entry, sees_hidden=sees_hidden)
        data = json.dumps(entry.data, ensure_ascii=False) if shown.text and entry.data else ""
        moment = entry.at.isoformat(timespec="seconds")
        yield [
            moment,
            spreadsheet_text(entry.who),
            entry.action,
            spreadsheet_text(shown.text),
            spreadsheet_text(data),
        ]


def as_json(rows: QuerySet[AuditEntry], *, sees_hidden: bool) -> Iterator[str]:
    """The same as pieces of a JSON array."""
    before = "[\n"
    for entry in rows.order_by("-pk").iterator(chunk_size=500):
        yield before + json.dumps(line(entry, sees_hidden=sees_hidden).as_json(), ensure_ascii=False)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"
