"""What an organizer can answer to questions about things of another server: what the site has of the same kind."""

from __future__ import annotations

import dataclasses

from accounts.models import User
from bundles.importing.keeping import usable_data, usable_programs
from bundles.importing.report import ImportReport
from bundles.reading.report import Choice
from competitions.models import Phase
from submissions.models import Worker

MOST_OFFERED = 200


def offer_choices(report: ImportReport, organizer: User) -> None:
    """Add what the organizer may choose to the questions about files, programs and queues."""
    for place, question in enumerate(report.questions):
        if question.kind in ("file", "program"):
            found = _programs(organizer) if question.kind == "program" else _data(organizer)
            choices = (Choice("", "leave it out"), *question.choices, *found)
        elif question.kind == "queue":
            choices = (Choice("", "the default one"), *_classes())
        else:
            continue
        report.questions[place] = dataclasses.replace(question, choices=choices)


def _classes() -> tuple[Choice, ...]:
    """The classes of workers that a new competition may ask for."""
    workers = Worker.objects.filter(revoked_at=None, competitions=None)
    found = set(workers.values_list("resource_class", flat=True)) - {
        str(Phase._meta.get_field("resource_class").default)
    }
    return tuple(Choice(name, name) for name in sorted(found))


def _programs(organizer: User) -> tuple[Choice, ...]:
    programs = usable_programs(organizer).select_related("competition").order_by("-pk")[:MOST_OFFERED]
    return tuple(
        Choice(f"program:{one.pk}", f"{one.get_kind_display()} {one.name} of {one.competition}")
        for one in programs
    )


def _data(organizer: User) -> tuple[Choice, ...]:
    found = usable_data(organizer).order_by("-pk")[:MOST_OFFERED]
    return tuple(Choice(f"dataset:{one.pk}", one.title) for one in found)
