"""The admin: for superusers, complete, and read-only where only actions may change things."""

import pytest
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from accounts.models import User
from competitions.fields import SizeField
from competitions.models import (
    AuditEntry,
    Competition,
    Entrant,
    Extension,
    HeldRole,
    Participant,
    Phase,
    PrizeClaim,
    Round,
    Team,
)
from datasets.models import DatasetVersion
from leaderboards.models import LeaderboardRow
from submissions.models import (
    Attempt,
    BuiltImage,
    Handover,
    Prediction,
    PredictionScore,
    Run,
    Score,
    Submission,
)
from tests.platform import factories as make

OURS = ("accounts", "datasets", "competitions", "submissions", "leaderboards")
MODELS = [model for model in admin.site._registry if model._meta.app_label in OURS]
EVERY_MODEL = list(admin.site._registry)  # those of other packages too
READ_ONLY = (
    Attempt,
    AuditEntry,
    BuiltImage,
    DatasetVersion,
    Extension,
    Handover,
    HeldRole,
    LeaderboardRow,
    Prediction,
    PredictionScore,
    PrizeClaim,
    Run,
    Score,
    Submission,
    Team,
)


def address(model, page, *args):
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_superuser_opens_every_list_and_every_entry(world, model):
    client = world.client("superuser")
    assert client.get(address(model, "changelist")).status_code == 200
    entry = model.objects.first()
    if entry is not None:
        assert client.get(address(model, "change", entry.pk)).status_code == 200


@pytest.mark.parametrize("model", [User, Competition, Round, Phase, Participant, Entrant])
def test_a_superuser_can_make_what_no_command_makes(world, model):
    assert world.client("superuser").get(address(model, "add")).status_code == 200


@pytest.mark.parametrize("model", EVERY_MODEL, ids=lambda model: model.__name__)
def test_staff_that_is_no_superuser_opens_nothing(world, model):
    clerk = make.user("clerk", is_staff=True)
    from django.contrib.auth.models import Permission

    clerk.user_permissions.set(Permission.objects.all())
    client = Client()
    client.force_login(clerk)
    response = client.get(address(model, "changelist"))
    assert response.status_code == 302
    assert response.url.startswith("/admin/login/")


@pytest.mark.parametrize("model", READ_ONLY, ids=lambda model: model.__name__)
def test_what_only_actions_change_is_read_only(world, model):
    client = world.client("superuser")
    assert client.get(address(model, "add")).status_code == 403
    entry = model.objects.first()
    if entry is not None:
        assert client.post(address(model, "change", entry.pk), {}).status_code == 403
        assert client.post(address(model, "delete", entry.pk), {"post": "yes"}).status_code == 403


def test_no_secret_and_no_place_of_a_file_is_shown(world):
    client = world.client("superuser")
    worker, _ = make.worker("quick")
    assert worker.token_hash not in client.get(address(type(worker), "change", worker.pk)).content.decode()
    version = DatasetVersion.objects.first()
    html = client.get(address(DatasetVersion, "change", version.pk)).content.decode()
    assert version.valid_solution.name not in html
    html = client.get(address(Submission, "change", world.submission.pk)).content.decode()
    assert world.submission.archive.name not in html


def test_everybody_else_is_sent_to_the_admins_login(world):
    assert world.client("participant").get("/admin/").status_code == 302


def test_whoever_makes_a_competition_in_the_admin_is_kept_as_its_maker(world):
    inlines = ("organizers", "rounds", "pages")
    management = {f"{name}-{what}": 0 for name in inlines for what in ("TOTAL_FORMS", "INITIAL_FORMS")}
    typed = {
        "slug": "fresh",
        "title": "Fresh",
        "state": "draft",
        "registration": "open",
        "visibility": "public",
        "max_team_size": 1,
        "created_by": world.people["participant"].pk,
        **management,
    }
    response = world.client("superuser").post(address(Competition, "add"), typed)
    assert response.status_code == 302, response.context["errors"]
    assert Competition.objects.get(slug="fresh").created_by == world.people["superuser"]


@pytest.mark.parametrize(
    ("typed", "kept"), [("8 GiB", 8 * 2**30), ("512M", 512 * 2**20), ("1024", 1024), ("", None)]
)
def test_the_memory_of_a_phase_is_typed_with_its_unit(typed, kept):
    assert SizeField(required=False).clean(typed) == kept


def test_what_is_no_size_is_refused_with_a_sentence():
    with pytest.raises(ValidationError, match="write it like 8GiB"):
        SizeField(required=False).clean("much")


@pytest.mark.parametrize(("kept", "read"), [(8 * 2**30, "8 GiB"), (2**30 + 1, "1073741825"), (None, "")])
def test_the_memory_of_a_phase_is_read_with_its_unit_where_that_is_exact(world, kept, read):
    world.phase.memory_bytes = kept
    world.phase.save()
    html = world.client("superuser").get(address(Phase, "change", world.phase.pk)).content.decode()
    field = next(tag.partition(">")[0] for tag in html.split("<input") if 'name="memory_bytes"' in tag)
    assert (f'value="{read}"' in field) if read else ("value=" not in field)


def test_memory_of_runs_and_workers_is_read_with_its_unit(world):
    Run.objects.update(peak_memory_bytes=3 * 2**29)
    client = world.client("superuser")
    assert "1.5 GiB" in client.get(address(Run, "change", world.run.pk)).content.decode()
    worker, _ = make.worker("quick")
    assert "8 GiB" in client.get(address(type(worker), "change", worker.pk)).content.decode()
    assert "8 GiB" in client.get(address(type(worker), "changelist")).content.decode()


def test_the_moments_of_actions_are_not_typed(world):
    html = world.client("superuser").get(address(Phase, "change", world.phase.pk)).content.decode()
    for name in ("released_at", "revealed_at"):
        assert f'name="{name}' not in html
    html = world.client("superuser").get(address(Entrant, "change", Entrant.objects.first().pk)).content.decode()
    assert 'name="held_a_role"' not in html
