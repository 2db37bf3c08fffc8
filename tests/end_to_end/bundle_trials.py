"""Imports bundles of tests/bundles into an installation and sends submissions to them, all through the commands.

    python -m tests.end_to_end.bundle_trials FOLDER NAME …

Runs as a process on the installation's data folder, and prints what the commands answered as one JSON object: for
every bundle the answer of `import_bundle`, and for every person the one of `submit --wait`.
"""

import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.bundles import packing
from tests.end_to_end.installation import PASSWORD

BROKEN_MODEL = {"model.py": "raise RuntimeError('this model is broken')\n"}
# Who sends what to which bundle: a folder below tests/bundles, or files.
SENT: dict[str, dict[str, str | dict[str, str]]] = {
    "results_only": {
        "ann": "traits/results_only/solution",
        "ben": {"labels.csv": "1,de\n2,en\n3,de\n4,fr\n"},
        "cem": {"other.csv": "1,de\n"},
    },
    "four_datasets": {"ann": "traits/four_datasets/solution.zip", "ben": BROKEN_MODEL},
    "shortest_tour": {
        "ann": "samples/shortest_tour",
        "ben": {"tour.txt": "0 1 2 3 4"},
        "cem": {"tour.txt": "0 0 0 0 0"},
    },
    "overlapping": {"ann": "samples/overlapping"},
    "two_boards": {"ann": {"numbers.txt": "90 80 5 12"}, "ben": {"numbers.txt": "80 70 3 10"}},
}


def main(folder: Path, names: list[str]) -> dict[str, Any]:
    """Import, publish, join and submit; returns the answers by bundle."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    return {name: tried(name, folder) for name in names}


def tried(name: str, folder: Path) -> dict[str, Any]:
    """The answers of the commands for one bundle."""
    from accounts.models import User
    from competitions.actions import join
    from competitions.actions.publishing import Publish
    from competitions.models import Competition

    path = packing.bundle(packing.TRAITS / name, folder / f"{name}.zip")
    imported = answer_of("import_bundle", str(path), organizer="olga")
    if not imported.get("ok"):
        return {"imported": imported, "submitted": {}}
    competition = Competition.objects.get(slug=imported["slug"])
    Competition.objects.filter(pk=competition.pk).update(registration=Competition.Registration.OPEN)
    competition.refresh_from_db()
    Publish(None, competition).execute()
    answers = {}
    for person, files in SENT[name].items():
        user = User.objects.filter(username=person).first() or User.objects.create_user(
            person, f"{person}@example.org", PASSWORD
        )
        join(competition, user)
        archive = folder / f"{name}-{person}.zip"
        if isinstance(files, str):
            packing.packed(packing.HERE / files, archive)
        else:
            packing.written(files, archive)
        answers[person] = answer_of(
            "submit", str(archive), competition=competition.slug, user=person, wait=True, task=[]
        )
    return {"imported": imported, "submitted": answers}


def answer_of(command: str, *words: str, **options: object) -> dict[str, Any]:
    """The object that a command prints, with its exit code."""
    from django.core.management import call_command

    said, code = io.StringIO(), 0
    try:
        call_command(command, *words, json=True, stdout=said, **options)
    except SystemExit as ended:
        code = int(ended.code or 0)
    with contextlib.suppress(IndexError):
        return {**json.loads(said.getvalue().splitlines()[-1]), "code": code}
    return {"code": code}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2:])))
