"""Every address of the pages for every role; an address that is missing from the table fails."""

import pytest
from django.db import transaction
from django.urls import reverse

from accounts.models import User
from pages.urls import urlpatterns
from submissions import readiness
from tests.platform.pages.conftest import ROLES

PUBLIC = dict.fromkeys(ROLES, 200)
LOGIN = {"anonymous": 302}
OWN = {**dict.fromkeys(ROLES, 200), **LOGIN, "stranger": 404, "other": 404}
POSTED = {**dict.fromkeys(ROLES, 302)}

OF_SITE = ("home", "icon", "competitions")
OF_SUBMISSION = (
    "submission",
    "cancel_submission",
    "choose_submission",
    "submission_archive",
    "published_code",
)
FORMS = ("submissions", "act", "prize")  # pages that are read and posted to
NOTHING_YET = ("prize", "published_code")  # nobody has won
OF_READINESS = ("readiness", "check_readiness", "cancel_readiness", "readiness_log")

# Name of the address: method, what each role gets. The submission is the participant's.
TABLE = {
    "home": ("get", PUBLIC),
    "icon": ("get", dict.fromkeys(ROLES, 301)),
    "competitions": ("get", PUBLIC),
    "competition": ("get", PUBLIC),
    "phases": ("get", PUBLIC),
    "datasets": ("get", PUBLIC),
    "dataset_download": ("get", {**PUBLIC, **LOGIN, "stranger": 403}),
    "evaluation": ("get", PUBLIC),
    "rules": ("get", PUBLIC),
    "added_page": ("get", PUBLIC),
    "join": ("post", POSTED),
    "starting_kit": ("get", PUBLIC),
    "submissions": ("get", {**PUBLIC, **LOGIN}),
    "submission": ("get", OWN),
    "cancel_submission": (
        "post",
        {**OWN, "participant": 302, "organizer": 302, "reviewer": 403, "superuser": 302},
    ),
    "submission_archive": ("get", OWN),
    "run_log": ("get", OWN),
    "readiness": ("get", OWN),
    "check_readiness": (
        "post",
        {**OWN, "participant": 302, "organizer": 302, "reviewer": 403, "superuser": 302},
    ),
    "cancel_readiness": (
        "post",
        {**OWN, "participant": 302, "organizer": 302, "reviewer": 403, "superuser": 302},
    ),
    "readiness_log": ("get", OWN),
    "leaderboard": ("get", PUBLIC),
    "leaderboard_csv": ("get", PUBLIC),
    "leaderboard_json": ("get", PUBLIC),
    "leaderboard_history": ("get", PUBLIC),
    "manage": ("get", {**PUBLIC, **LOGIN, "stranger": 403, "participant": 403, "other": 403}),
    "act": ("get", {**PUBLIC, **LOGIN, "stranger": 403, "participant": 403, "other": 403, "reviewer": 403}),
    "prize": ("get", {**dict.fromkeys(ROLES, 404), **LOGIN}),
    "published_code": ("get", dict.fromkeys(ROLES, 404)),
    "choose_submission": (
        "post",
        {**dict.fromkeys(ROLES, 403), **LOGIN, "stranger": 404, "other": 404, "participant": 409},
    ),
}


def address(world, name):
    arguments = {
        "added_page": {"page_slug": "prizes"},
        "act": {"action": "pause-queue"},
        "prize": {"number": world.phase.number},
        "dataset_download": {"task_id": world.phase.tasks.first().pk},
        "run_log": {"submission_id": world.submission.pk, "run_id": world.run.pk},
        **{name: {"submission_id": world.submission.pk} for name in (*OF_SUBMISSION, *OF_READINESS)},
    }.get(name, {})
    return reverse(name, kwargs={} if name in OF_SITE else {"slug": world.contest.slug, **arguments})


@pytest.fixture(autouse=True)
def kit(monkeypatch, tmp_path):
    """The kit's zip has tests of its own."""
    path = tmp_path / "kit.zip"
    path.write_bytes(b"PK")
    monkeypatch.setattr("pages.views.competition.kit_archive", lambda: path)


def test_every_address_is_in_the_table():
    assert {pattern.name for pattern in urlpatterns} == set(TABLE)


def answers(world, name):
    """What each role gets from an address; what one role changes is undone before the next asks."""
    method, _ = TABLE[name]
    if name in ("cancel_readiness", "readiness_log"):
        readiness.ask(world.submission, by=world.people["participant"])
    for role in ROLES:
        with transaction.atomic():
            yield role, getattr(world.client(role), method)(address(world, name))
            transaction.set_rollback(True)


@pytest.mark.parametrize("name", TABLE)
def test_each_role_gets_what_the_table_says(world, name):
    _, expected = TABLE[name]
    got = {}
    for role, response in answers(world, name):
        got[role] = response.status_code
        if response.status_code == 302 and role == "anonymous":
            assert response.url.startswith("/accounts/login/?next=")
    assert got == expected


@pytest.mark.parametrize("name", [name for name in TABLE if name not in OF_SITE])
def test_a_draft_does_not_exist_but_for_its_organizers(world, name):
    world.contest.state = "draft"
    world.contest.save()
    for role, response in answers(world, name):
        if role in ("organizer", "reviewer", "superuser") and name not in NOTHING_YET:
            assert response.status_code != 404, role
        else:
            assert response.status_code == 404 or (role == "anonymous" and response.status_code == 302), role


@pytest.mark.parametrize("name", TABLE)
def test_other_methods_are_refused(world, name):
    method, _ = TABLE[name]
    if name in FORMS:
        assert world.client("participant").put(address(world, name)).status_code == 405
    else:
        other = "post" if method == "get" else "get"
        assert getattr(world.client("participant"), other)(address(world, name)).status_code == 405


def test_pages_carry_a_policy_without_inline_script_or_style(world):
    response = world.client("participant").get(world.url())
    policy = response.headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    "name", ["competition", "phases", "datasets", "rules", "submissions", "submission", "leaderboard"]
)
def test_no_page_needs_inline_script_or_style(world, name):
    html = world.client("participant").get(address(world, name)).content.decode()
    assert " style=" not in html
    assert "<script>" not in html
    assert "onclick" not in html


def test_a_person_removed_from_the_contest_keeps_no_way_in(world):
    User.objects.filter(username="alice").update(is_active=False)
    assert world.client("anonymous").login(username="alice", password="correct horse battery") is False
