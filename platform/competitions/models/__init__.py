"""Competitions and their protocol: rounds, phases, tasks; people, teams and entrants; the audit log."""

from competitions.models.audit import AuditEntry
from competitions.models.contest import Competition, Page, PageImage
from competitions.models.deletion import Deletion
from competitions.models.fact_sheet import Answer, Question
from competitions.models.people import (
    Departure,
    Entrant,
    HeldRole,
    Organizer,
    Participant,
    Team,
    TeamLink,
    TeamMember,
    TeamMerge,
)
from competitions.models.programs import Column, ColumnBoard, Program
from competitions.models.protocol import Extension, Phase, PhaseFile, Prize, PrizeClaim, Round, Task
from competitions.models.telling import Announcement, Delivery

__all__ = [
    "Announcement",
    "Answer",
    "AuditEntry",
    "Column",
    "ColumnBoard",
    "Competition",
    "Deletion",
    "Delivery",
    "Departure",
    "Entrant",
    "Extension",
    "HeldRole",
    "Organizer",
    "Page",
    "PageImage",
    "Participant",
    "Phase",
    "PhaseFile",
    "Prize",
    "PrizeClaim",
    "Program",
    "Question",
    "Round",
    "Task",
    "Team",
    "TeamLink",
    "TeamMember",
    "TeamMerge",
]
