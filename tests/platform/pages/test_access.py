"""Every address of the site, as everybody, by every verb: what the table says, and no address outside of it."""

import logging
import re

import pytest
from django.contrib import admin
from django.db import transaction
from django.test import Client
from django.urls import reverse

from accounts.models import User
from submissions.models import Attempt, Run, Submission
from tests.platform import factories as make
from tests.platform import mid_series
from tests.platform.pages import access_table as table
from tests.platform.pages.crawl import routes

# Where a pattern of Django's or allauth's is a regular expression, or one for each model: its row in the table.
WRITTEN = (
    (r"^accounts/\^confirm-email/.*$", "accounts/confirm-email/<key>/"),
    (r"^accounts/\^password/reset/key/.*$", "accounts/password/reset/key/<uid>-<key>/"),
    (r"^admin/\^\(\?P<app_label>.*$", "admin/<app>/"),
    (r"^admin/\(\?P<url>.*$", "admin/<anything else>"),
    (r"^(admin/\w+/\w+/)<(?:path:object_id|id)>/(.*)$", r"\1<id>/\2"),
)


def row_of(route: str) -> str:
    """The name of a route's row."""
    for pattern, name in WRITTEN:
        if re.match(pattern, route):
            return re.sub(pattern, name, route)
    return route


def models() -> dict[str, type]:
    """The models of the admin by the names of the table."""
    return {f"{model._meta.app_label}/{model._meta.model_name}": model for model in admin.site._registry}


def whole_table(*, has_entry=lambda model: True) -> dict[str, dict[str, table.Row]]:
    """The four parts of the table, rows of models filled in."""
    of_models: dict[str, table.Row] = {}
    for name in models():
        of_models |= table.admin_rows(name, has_entry=has_entry(name))
    return {
        "pages": table.PAGES,
        "worker": table.WORKER,
        "accounts": table.ACCOUNTS,
        "admin": table.ADMIN | of_models,
    }


@pytest.fixture
def kit(monkeypatch, tmp_path):
    """The kit's zip has tests of its own, and so have the baselines of datasets, such as a rehearsal makes."""
    monkeypatch.setattr("datasets.checks.best_baseline", lambda material: None)
    path = tmp_path / "kit.zip"
    path.write_bytes(b"PK")
    monkeypatch.setattr("pages.views.competition.kit_archive", lambda: path)


def test_every_address_is_in_the_table_and_nothing_else():
    in_table = {name.partition(" (")[0] for part in whole_table().values() for name in part}
    assert {row_of(route) for route, _ in routes()} == in_table


def test_every_row_speaks_of_every_verb_and_every_role():
    for part in whole_table().values():
        for name, row in part.items():
            assert set(row) == set(table.VERBS), name
            for verb, statuses in row.items():
                assert set(statuses) == set(table.ROLES), f"{verb} {name}"


def test_every_model_of_the_admin_is_said_to_be_read_only_or_not():
    kinds = [*table.READ_ONLY, *table.EDITED, *table.MADE_HERE]
    assert sorted(kinds) == sorted(models())


def address(name: str, world: mid_series.World) -> str:
    """The address of a row: blind rows lead to the blind phase, the others to what the team has in an open one."""
    title = "AutoML[1]" if name.endswith(" (blind)") else "Practice"
    submission = world.submissions[f"participant in {title}"]
    arguments = {
        "slug": "series",
        "dataset_slug": world.phases[title].tasks.first().dataset.slug,
        "task_id": world.phases[title].tasks.first().pk,
        "submission_id": submission.pk,
        "run_id": submission.runs.first().pk,
        "check_id": 1,
        "file_id": 0,
        "program_id": 0,
        "import_id": 0,
        "export_id": 0,
        "kind": "details",
        "upload_id": world.upload.pk if world.upload else 0,
        "page_slug": "prizes",
        "phase_id": world.phases[title].pk,
        "round_id": world.phases[title].round_id,
        "team_id": world.contest.teams.get().pk,
        "question_id": world.contest.questions.get().pk,
        "entrant_id": world.contest.teams.get().entrant.pk,
        "what": "decline",
        "secret": "guessed",
        "action": "pause-queue",
        "step": "archive",
        "which": "overview",
        "announcement_id": world.contest.announcements.get().pk,
        "work_id": 1,
        "page_id": world.contest.pages.get().pk,
        "picture_id": 0,
        "name": "plot" if "<slug:name>" in name else "plot.png",
        "suffix": "csv",
        "section": "standings",
        "population_id": 0,
        "benchmark_id": 0,
        "view": "nothing",
        "number": 1,
        "token": "forged",
        "version": "another",
        "app": "competitions",
        "anything else": "nothing/",
        "key": "abc",
        "uid": "1",
        "content_type_id": 1,
        "object_id": 0,
    }
    path = name.removesuffix(" (blind)")
    model = models().get("/".join(path.split("/")[1:3]))
    if model is not None:
        entry = model._default_manager.first()
        arguments["id"] = 0 if entry is None else entry.pk
    return "/" + re.sub(r"<(?:\w+:)?([\w ]+)>", lambda found: str(arguments[found[1]]), path)


def browsers(world: mid_series.World) -> dict[str, Client]:
    """A browser for every role, logged in where the role has a session."""
    clients = {role: world.client(role) for role in table.ROLES}
    revoked, token = make.worker("revoked")
    type(revoked).objects.filter(pk=revoked.pk).update(revoked_at=revoked.created_at)
    clients["worker"].defaults["HTTP_AUTHORIZATION"] = f"Bearer {world.worker_token}"
    clients["revoked"].defaults["HTTP_AUTHORIZATION"] = f"Bearer {token}"
    return clients


def ask(client: Client, verb: str, path: str):
    """The answer to one request; what it changes, in the database or in the browser, is undone."""
    cookies = client.cookies.copy()
    with transaction.atomic():
        body = {"content_type": "application/json"} if path.startswith("/worker/") and verb != "GET" else {}
        response = client.generic(verb, path, **body) if verb != "POST" or body else client.post(path)
        transaction.set_rollback(True)
    client.cookies = cookies
    return response


# No view takes another verb, so of these one of each kind of role is asked: a guest, an entrant, an organizer,
# staff, the operator and a machine.
SPOKEN = ("GET", "POST")
FEW = ("anonymous", "participant", "owner", "clerk", "admin", "worker")


@pytest.mark.parametrize("part", ["pages", "worker", "accounts", "admin"])
def test_everybody_gets_what_the_table_says(db, kit, caplog, settings, part):
    caplog.set_level(logging.CRITICAL, "django.request")
    settings.ACCOUNT_RATE_LIMITS = False
    world = mid_series.build()
    clients = browsers(world)
    rows = whole_table(has_entry=lambda name: models()[name]._default_manager.exists())[part]
    differing = []
    for name, row in rows.items():
        path = address(name, world)
        for verb, expected in row.items():
            asked = clients if verb in SPOKEN else {role: clients[role] for role in FEW}
            got = {role: ask(client, verb, path).status_code for role, client in asked.items()}
            wrong = {role: status for role, status in got.items() if status != expected[role]}
            if wrong:
                differing.append(f"{verb} {name}: {wrong}")
    assert differing == []


def test_who_must_log_in_is_sent_back_afterwards(db, client):
    response = client.get("/competitions/series/manage/")
    assert response.url == "/accounts/login/?next=/competitions/series/manage/"


OF_DRAFT = [name for name in table.PAGES if name.startswith(table.CONTEST)]


def test_a_draft_does_not_exist_but_for_its_organizers(db, kit, caplog):
    caplog.set_level(logging.CRITICAL, "django.request")
    world = mid_series.build()
    type(world.contest).objects.update(state="draft")
    clients = browsers(world)
    for name in OF_DRAFT:
        path = address(name, world)
        for role in ("anonymous", "stranger", "participant", "other", "foreign", "clerk"):
            for verb in ("GET", "POST"):
                status = ask(clients[role], verb, path).status_code
                assert status in (404, 405) or (role == "anonymous" and status == 302), f"{verb} {name} as {role}"
        if table.PAGES[name]["GET"]["owner"] == 200:
            assert ask(clients["reviewer" if "blind" not in name else "owner"], "GET", path).status_code in (
                200,
                403,
            )


def test_a_private_competition_does_not_exist_for_strangers(db, kit, caplog):
    caplog.set_level(logging.CRITICAL, "django.request")
    world = mid_series.build()
    type(world.contest).objects.update(visibility="private")
    stranger = browsers(world)["stranger"]
    for name in OF_DRAFT:
        assert ask(stranger, "GET", address(name, world)).status_code in (404, 405), name


def test_a_submission_is_found_in_its_own_contest_only(db):
    world = mid_series.build()
    submission = world.submissions["participant in Practice"]
    run = submission.runs.first()
    for name in ("submission", "submission_archive"):
        path = reverse(name, kwargs={"slug": "elsewhere", "submission_id": submission.pk})
        assert world.client("foreign").get(path).status_code == 404
    other = world.submissions["other in the Tweakathon"]
    path = reverse("run_log", kwargs={"slug": "series", "submission_id": other.pk, "run_id": run.pk})
    assert world.client("owner").get(path).status_code == 404


def test_a_worker_speaks_for_its_own_attempt_alone(db, client):
    """The secret of an attempt that another worker holds is not enough, nor is the token without the secret."""
    world = mid_series.build()
    run = Run.objects.get(state="running")
    _, token = make.worker("rival")
    for bearer in (token, world.worker_token):
        for call, body in (
            ("heartbeat", {}),
            ("uploads", {"name": "log.txt", "size": 1}),
            ("report", {"status": "ok"}),
        ):
            answer = client.post(
                f"/worker/runs/{run.pk}/{call}",
                {"attempt": 1, "secret": "guessed", **body},
                content_type="application/json",
                headers={"Authorization": f"Bearer {bearer}"},
            )
            assert answer.status_code == 404
    assert Attempt.objects.get(run=run).outcome == "open"


@pytest.mark.parametrize(
    "path", ["", "phases/", "datasets/", "rules/", "submissions/", "leaderboard/", "SUBMISSION"]
)
def test_no_page_needs_inline_script_or_style(db, path):
    world = mid_series.build()
    own = Submission.objects.filter(phase=world.phases["Practice"]).get().get_absolute_url()
    response = world.client("participant").get(own if path == "SUBMISSION" else f"/competitions/series/{path}")
    policy = response.headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    html = response.content.decode()
    assert " style=" not in html
    assert "<script>" not in html
    assert "onclick" not in html


def test_a_person_whose_account_was_closed_has_no_way_in(db):
    world = mid_series.build()
    client = world.client("participant")
    User.objects.filter(username="alice").update(is_active=False)
    assert client.get("/competitions/series/submissions/").status_code == 302
    assert Client().login(username="alice", password=make.PASSWORD) is False
