"""Results as they are kept, found by the hash of their inputs."""

import hashlib
import json
import zlib
from functools import cache
from pathlib import Path

from django.db.models import QuerySet

from analysis.inputs.boards import Loaded
from analysis.models import Computed
from analysis.results import VERSION, Result
from analysis.sections.base import Section

KEPT_BESIDE = 4  # results of a section for an audience, beside the last


def fingerprint_of(section: Section, loaded: Loaded) -> str:
    """SHA-256 of all that decides the result: its inputs, its definitions, and the code of the analyses."""
    return loaded.fingerprint(section.key, section.version, VERSION, _code())


def of_inputs(competition_id: int, section: Section, fingerprint: str) -> QuerySet[Computed]:
    """The row that holds the result, or will; there is at most one."""
    return Computed.objects.filter(competition=competition_id, section=section.key, fingerprint=fingerprint)


def forget_older(row: Computed) -> None:
    """Remove all but the newest results of the same section for the same audience: scores change often while an
    organizer looks at a phase that is open, and each change is another result.
    """
    same = Computed.objects.filter(
        competition=row.competition_id,
        section=row.section,
        audience=row.audience,
        state=Computed.State.READY,
    )
    older = same.exclude(pk=row.pk).order_by("-used_at", "-pk").values_list("pk", flat=True)[KEPT_BESIDE:]
    Computed.objects.filter(pk__in=list(older)).delete()


def packed(result: Result) -> bytes:
    """A result as it is kept."""
    return zlib.compress(json.dumps(result.to_json(), allow_nan=False).encode(), 6)


def unpacked(content: bytes | memoryview) -> Result:
    """What `packed` made."""
    return Result.from_json(json.loads(zlib.decompress(bytes(content))))


@cache
def _code() -> str:
    """A hash of this package: after an upgrade, what an older one computed is computed anew.

    Nobody has to remember to raise a version for a mended sentence or a corrected formula.
    """
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
