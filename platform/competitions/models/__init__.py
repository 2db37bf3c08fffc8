"""Competitions and their protocol: rounds, phases, tasks; organizers, participants, entrants."""

from competitions.models.contest import Competition, Page
from competitions.models.people import Entrant, Organizer, Participant
from competitions.models.protocol import Phase, Round, Task

__all__ = [
    "Competition",
    "Entrant",
    "Organizer",
    "Page",
    "Participant",
    "Phase",
    "Round",
    "Task",
]
