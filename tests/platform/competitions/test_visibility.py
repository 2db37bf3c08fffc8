"""Who may read a competition, and in whose lists it stands."""

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError

from competitions import allow_list, policy
from competitions.models import Competition, Organizer, Participant
from tests.platform import factories as make

pytestmark = pytest.mark.django_db

NOBODY = AnonymousUser()


def contest(visibility="public", state="published", **fields):
    return make.competition(visibility=visibility, state=state, **fields)


def verified(name, address="", *, is_verified=True):
    person = make.user(name)
    EmailAddress.objects.create(user=person, email=address or person.email, verified=is_verified)
    return person


def listed(person, competition):
    return policy.visible_competitions(person).filter(pk=competition.pk).exists()


def sees(person, competition):
    """What the two ways of asking say, which must agree."""
    by_slug = policy.viewer_of(person, competition.slug)
    assert by_slug.may_see == policy.may_see(person, competition)
    return by_slug.may_see


@pytest.mark.parametrize("visibility", Competition.Visibility.values)
def test_a_draft_is_its_organizers_alone_whatever_it_will_be(visibility):
    draft = contest(visibility, "draft", allowed_emails="alice@example.org")
    olga, alice = draft.created_by, verified("alice")
    make.participant(draft, make.user("bob"))
    assert sees(olga, draft)
    assert listed(olga, draft)
    for person in (NOBODY, alice, make.user("bob")):
        assert not sees(person, draft)
        assert not listed(person, draft)


def test_what_is_unlisted_is_read_by_everybody_and_listed_for_its_own_people():
    unlisted = contest("unlisted")
    make.participant(unlisted, make.user("alice"))
    for person in (NOBODY, make.user("charlie"), make.user("alice"), unlisted.created_by):
        assert sees(person, unlisted)
    assert not listed(NOBODY, unlisted)
    assert not listed(make.user("charlie"), unlisted)
    assert listed(make.user("alice"), unlisted)
    assert listed(unlisted.created_by, unlisted)


@pytest.mark.parametrize("state", ["published", "archived"])
@pytest.mark.parametrize(
    ("wish", "may"), [("pending", True), ("approved", True), ("rejected", False), ("removed", False)]
)
def test_what_is_private_is_for_those_who_take_part_or_asked_to(state, wish, may):
    private = contest("private", state)
    make.participant(private, make.user("alice"), wish)
    assert sees(make.user("alice"), private) is may
    assert listed(make.user("alice"), private) is may
    for person in (NOBODY, make.user("charlie")):
        assert not sees(person, private)
        assert not listed(person, private)


@pytest.mark.parametrize(
    "line", ["alice@example.org", "@example.org", "bob@x.org\nalice@example.org\ncarol@x.org"]
)
def test_what_is_private_is_for_verified_addresses_on_its_list(line):
    private = contest("private", allowed_emails=line)
    alice = verified("alice", "Alice@Example.org")
    assert sees(alice, private)
    assert listed(alice, private)


@pytest.mark.parametrize("line", ["lice@example.org", "alice@example.or", "@ample.org", "@sub.example.org", ""])
def test_an_address_that_is_only_like_one_on_the_list_lets_nobody_in(line):
    private = contest("private", allowed_emails=line)
    alice = verified("alice")
    assert not sees(alice, private)
    assert not listed(alice, private)


def test_an_address_that_was_not_verified_lets_nobody_in():
    private = contest("private", allowed_emails="alice@example.org")
    alice = verified("alice", is_verified=False)
    assert not sees(alice, private)
    assert not listed(alice, private)


def test_whoever_was_turned_away_is_not_let_in_by_the_list():
    private = contest("private", allowed_emails="@example.org")
    alice = verified("alice")
    make.participant(private, alice, Participant.State.REMOVED)
    assert not sees(alice, private)
    assert not listed(alice, private)


def test_reviewers_and_operators_see_everything_that_is_organized():
    private = contest("private", "draft")
    Organizer.objects.create(competition=private, user=make.user("rita"), role="reviewer")
    for person in (make.user("rita"), make.user("sam", is_superuser=True)):
        assert sees(person, private)
        assert listed(person, private)


def test_a_rehearsal_is_in_no_list_and_its_organizers_see_it():
    rehearsal = contest("public", "draft", rehearses=contest())
    assert sees(rehearsal.created_by, rehearsal)
    for person in (rehearsal.created_by, make.user("sam", is_superuser=True), NOBODY):
        assert not listed(person, rehearsal)


def test_lists_cost_at_most_three_queries_whoever_asks(django_assert_max_num_queries):
    private = contest("private", allowed_emails="@example.org")
    alice = verified("alice")
    with django_assert_max_num_queries(3):
        assert list(policy.visible_competitions(alice)) == [private]


def test_a_list_of_addresses_is_brought_into_one_spelling():
    assert (
        allow_list.tidied(" Alice@X.org , bob@x.org;\n\n@Y.org\nalice@x.ORG") == "alice@x.org\nbob@x.org\n@y.org"
    )


@pytest.mark.parametrize("line", ["alice", "alice@", "@", "x.org", "@a@b.org"])
def test_a_line_that_is_no_address_is_named(line):
    with pytest.raises(ValidationError, match="either an address"):
        allow_list.tidied(f"bob@x.org\n{line}")


def test_the_address_of_the_page_that_makes_competitions_is_taken():
    with pytest.raises(ValidationError, match="the site's own"):
        contest(slug="new").full_clean()
