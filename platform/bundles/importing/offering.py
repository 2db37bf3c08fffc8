"""What an organizer can answer to questions about things of another server: what the site has of the same kind."""

from __future__ import annotations

import dataclasses

from accounts.models import User
from bundles.importing.keeping import usable_data, usable_programs
from bundles.importing.report import ImportReport
from bundles.reading.report import Choice

MOST_OFFERED = 200


def offer_choices(report: ImportReport, organizer: User) -> None:
    """Add the organizer's own datasets and programs to the questions that want one; leaving it out comes first."""
    for place, question in enumerate(report.questions):
        if question.kind not in ("file", "program"):
            continue
        found = _programs(organizer) if question.kind == "program" else _data(organizer)
        choices = (Choice("", "leave it out"), *question.choices, *found)
        report.questions[place] = dataclasses.replace(question, choices=choices)


def _programs(organizer: User) -> tuple[Choice, ...]:
    programs = usable_programs(organizer).select_related("competition").order_by("-pk")[:MOST_OFFERED]
    return tuple(
        Choice(f"program:{one.pk}", f"{one.get_kind_display()} {one.name} of {one.competition}")
        for one in programs
    )


def _data(organizer: User) -> tuple[Choice, ...]:
    found = usable_data(organizer).order_by("-pk")[:MOST_OFFERED]
    return tuple(Choice(f"dataset:{one.pk}", one.title) for one in found)
