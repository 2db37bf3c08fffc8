"""The audit log is added to and never changed, whoever asks."""

import datetime as dt

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from competitions.actions import base
from competitions.models import AuditEntry
from competitions.models.audit import Kept
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def entry():
    contest = make.competition()
    return base.record(
        contest, by=make.user("olga"), action="open", text="The door was opened.", at=timezone.now(), door=1
    )


def test_the_model_refuses_to_change_or_delete_an_entry(entry):
    entry.text = "Nothing happened."
    for attempt in (
        entry.save,
        entry.delete,
        AuditEntry.objects.all().delete,
        lambda: AuditEntry.objects.update(text="Nothing happened."),
        lambda: AuditEntry.objects.bulk_update([entry], ["text"]),
        entry.competition.audit.all().delete,
    ):
        with pytest.raises(Kept):
            attempt()
    assert AuditEntry.objects.get().text == "The door was opened."


@pytest.mark.parametrize(
    ("column", "value"),
    [("text", "Nothing."), ("at", dt.datetime(2020, 1, 1)), ("who", "eve"), ("action", "x"), ("data", "{}")],
)
def test_the_database_refuses_to_change_an_entry(entry, column, value):
    with pytest.raises(DatabaseError, match="kept as it was written"), transaction.atomic():
        connection.cursor().execute(f"UPDATE competitions_auditentry SET {column} = %s", [value])


def test_nobody_else_becomes_the_one_who_did_it(entry):
    eve = make.user("eve")
    with pytest.raises(DatabaseError, match="kept as it was written"), transaction.atomic():
        AuditEntry._base_manager.update(user=eve)


def test_the_user_name_stays_when_the_account_goes(entry):
    eddy = make.user("eddy")
    base.record(entry.competition, by=eddy, action="close", text="The door was closed.", at=timezone.now())
    eddy.delete()
    left = AuditEntry.objects.get(action="close")
    assert (left.user, left.who) == (None, "eddy")


def test_entries_go_with_their_competition(entry):
    entry.competition.delete()
    assert not AuditEntry.objects.exists()
