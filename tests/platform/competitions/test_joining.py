"""Who may join, by every way of registration."""

import pytest
from allauth.account.models import EmailAddress

from accounts.refusals import Refused
from competitions import allow_list
from competitions.actions import join
from competitions.models import Participant
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return make.user("alice")


def verify(person, email, verified=True):
    EmailAddress.objects.create(user=person, email=email, verified=verified)


@pytest.mark.parametrize(("registration", "state"), [("open", "approved"), ("approval", "pending")])
def test_joining_is_at_once_or_after_an_answer(alice, registration, state):
    contest = make.competition(registration=registration)
    assert join(contest, alice).state == state
    assert join(contest, alice).state == state
    assert Participant.objects.count() == 1


def test_nobody_joins_where_registration_is_closed(alice):
    with pytest.raises(Refused, match="no new participants"):
        join(make.competition(registration="closed"), alice)


@pytest.mark.parametrize("line", ["alice@lab.example.org", "ALICE@Lab.example.org", "@lab.example.org"])
def test_a_verified_address_on_the_list_lets_in_at_once(alice, line):
    contest = make.competition(registration="allow_list", allowed_emails=f"someone@else.org\n {line} \n")
    verify(alice, "Alice@lab.example.org")
    assert join(contest, alice).state == "approved"


@pytest.mark.parametrize(
    "line",
    ["lab.example.org", "@example.org", "@ab.example.org", "lice@lab.example.org", "bob@lab.example.org", ""],
)
def test_what_only_resembles_the_address_lets_nobody_in(alice, line):
    contest = make.competition(registration="allow_list", allowed_emails=line)
    verify(alice, "alice@lab.example.org")
    with pytest.raises(Refused, match="none of your verified e-mail addresses"):
        join(contest, alice)
    assert not Participant.objects.exists()


def test_an_address_that_was_not_verified_lets_nobody_in(alice):
    contest = make.competition(registration="allow_list", allowed_emails="alice@example.org")
    verify(alice, "alice@example.org", verified=False)
    assert alice.email == "alice@example.org"
    with pytest.raises(Refused, match="verified"):
        join(contest, alice)


def test_a_list_is_typed_in_any_form_and_its_mistakes_are_told():
    text = "a@b.org, @c.org;\n\n d@e.org a@B.org"
    assert allow_list.entries(text) == ["a@b.org", "@c.org", "d@e.org"]
    assert allow_list.mistakes(text) == []
    assert allow_list.mistakes("a@b.org\nalice\n@nowhere\na@@b.org") == ["alice", "@nowhere", "a@@b.org"]


def test_who_was_removed_does_not_join_again(alice):
    contest = make.competition()
    make.participant(contest, alice, "removed")
    assert join(contest, alice).state == "removed"
