"""The starting kit's sample submissions as archives, for the demo and for rehearsals."""

import zipfile
from pathlib import Path

from django.conf import settings

SEARCH = "sample_code_submission"  # tries learners until its time is over
LINEAR = "sample_linear_submission"


def sample_archive(name: str, scratch: Path) -> Path:
    """Zip one of the kit's sample submissions into `scratch`; returns the zip."""
    return packed(settings.ROOT / "starting_kit" / name, scratch)


def packed(folder: Path, scratch: Path) -> Path:
    """Zip a submission's folder, without what Python left in it; returns the zip."""
    archive = scratch / f"{folder.name}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                file.write(path, path.relative_to(folder))
    return archive
