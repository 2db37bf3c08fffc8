"""The commands `import_bundle` and `export_bundle`, as scripts see them."""

import json

import pytest
from django.core.management import call_command

from competitions.models import Competition
from tests.platform import factories
from tests.platform.bundles.importing.writing import YAML, packed

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def alice():
    return factories.user("alice")


def ran(capsys, *arguments: object) -> tuple[dict, int]:
    """The JSON of a command, and its exit code."""
    code = 0
    try:
        call_command(*(str(one) for one in arguments), "--json")
    except SystemExit as end:
        code = int(end.code or 0)
    return json.loads(capsys.readouterr().out.splitlines()[-1]), code


def test_a_bundle_is_imported_and_exported(tmp_path, capsys):
    result, code = ran(capsys, "import_bundle", packed(tmp_path), "--organizer", "alice")
    assert (code, result["ok"], result["slug"], result["errors"]) == (0, True, "iris", [])
    assert Competition.objects.get().created_by.username == "alice"
    exported = tmp_path / "exported.zip"
    result, code = ran(capsys, "export_bundle", "iris", exported)
    assert (code, result["ok"]) == (0, True)
    assert exported.stat().st_mode & 0o777 == 0o600
    result, code = ran(capsys, "import_bundle", exported, "--organizer", "alice")
    assert (code, result["slug"]) == (0, "iris-2")


def test_errors_come_with_place_message_and_mend(tmp_path, capsys):
    path = packed(tmp_path, yaml=YAML.replace("overview.md", "gone.md").replace("terms.md", "lost.md"))
    result, code = ran(capsys, "import_bundle", path, "--organizer", "alice")
    assert code == 1
    assert not result["ok"]
    assert len(result["errors"]) == 2
    assert all(set(one) == {"place", "message", "mend"} for one in result["errors"])
    assert not Competition.objects.exists()


def test_the_order_of_dates_and_the_images_are_options(tmp_path, capsys):
    yaml = YAML.replace("2026-01-01 09:00:00+01:00", "8-05-2025") + "docker_image: lab/gpu:3\n"
    options = ("--date-order", "dmy", "--map-image", "lab/gpu:3=podium-sandbox:latest")
    result, code = ran(capsys, "import_bundle", packed(tmp_path, yaml=yaml), "--organizer", "alice", *options)
    assert code == 0
    phase = Competition.objects.get(slug=result["slug"]).phases().get()
    assert phase.opens_at.isoformat() == "2025-05-08T00:00:00+00:00"
    assert phase.image == "podium-sandbox:latest"


def test_a_dry_run_says_what_would_be(tmp_path, capsys):
    result, code = ran(capsys, "import_bundle", packed(tmp_path), "--organizer", "alice", "--dry-run")
    assert (code, result["ok"], result["slug"]) == (0, True, "iris")
    assert not Competition.objects.exists()
