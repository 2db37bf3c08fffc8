"""Competitions and their protocol: rounds, phases, tasks; people, teams and entrants; the audit log."""

from competitions.models.audit import AuditEntry
from competitions.models.contest import Competition, Page
from competitions.models.people import Entrant, HeldRole, Organizer, Participant, Team, TeamMember
from competitions.models.protocol import Extension, Phase, Prize, PrizeClaim, Round, Task

__all__ = [
    "AuditEntry",
    "Competition",
    "Entrant",
    "Extension",
    "HeldRole",
    "Organizer",
    "Page",
    "Participant",
    "Phase",
    "Prize",
    "PrizeClaim",
    "Round",
    "Task",
    "Team",
    "TeamMember",
]
