"""What a worker is given of a programmed run: an ingestion program, its input data. Never reference data."""

from typing import Any

from django.db.models.fields.files import FieldFile

from api import transfer
from competitions.models import Program
from submissions.models import Run
from submissions.programs import kinds


def inputs(run: Run) -> dict[str, Any]:
    """What the claim of a programmed run tells beside the archive: layout, ingestion program, input data."""
    task, phase, version = run.task, run.submission.phase, run.dataset_version
    program = kinds.ingestion_of(task, phase) if kinds.ingests_at_worker(task, phase) else None
    return {
        "layout": kinds.layout_of(task),
        "ingestion": program
        and {
            "url": transfer.program_link(program.pk),
            "sha256": program.sha256,
            "name": program.name,
            "command": program.command,
        },
        "input_data": {"url": transfer.download_link(version.public_zip), "sha256": version.public_sha256}
        if version.public_zip
        else None,
    }


def file_of(token: str) -> FieldFile | None:
    """The file of the ingestion program that a link names; None for every other link.

    Scoring programs may hold answers, so no link opens one.
    """
    ticket = transfer.read_ticket(token, "program")
    if ticket is None:
        return None
    program = Program.objects.filter(pk=int(ticket.name), kind=Program.Kind.INGESTION).first()
    return program.file if program else None
