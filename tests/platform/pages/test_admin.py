"""The admin: for superusers, complete, and read-only where only actions may change things."""

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from accounts.models import User
from competitions.models import Competition, Entrant, Participant, Phase, Round
from datasets.models import DatasetVersion
from leaderboards.models import LeaderboardRow
from submissions.models import Attempt, Prediction, Run, Score, Submission
from tests.platform import factories as make

OURS = ("accounts", "datasets", "competitions", "submissions", "leaderboards")
MODELS = [model for model in admin.site._registry if model._meta.app_label in OURS]
READ_ONLY = (Run, Attempt, Prediction, Score, LeaderboardRow, Submission, DatasetVersion)


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


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_staff_that_is_no_superuser_opens_nothing(world, model):
    clerk = make.user("clerk", is_staff=True)
    from django.contrib.auth.models import Permission

    clerk.user_permissions.set(Permission.objects.all())
    client = Client()
    client.force_login(clerk)
    assert client.get(address(model, "changelist")).status_code == 403


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
