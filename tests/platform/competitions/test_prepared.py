"""The query that every page asks is made once and says the same as one that is made for each."""

import pytest
from django.contrib.auth.models import AnonymousUser

from competitions import policy
from competitions.models import Competition
from tests.platform import mid_series

pytestmark = pytest.mark.django_db
CONTEST = {field.attname for field in Competition._meta.concrete_fields}


def told(row: object) -> dict[str, object]:
    """All that was read; truth values as such, which one of the databases writes as numbers."""
    values = {name: value for name, value in vars(row).items() if not name.startswith("_")}
    return {
        name: value if name in CONTEST or not isinstance(value, bool) else int(value)
        for name, value in values.items()
    }


def test_the_prepared_query_reads_what_one_made_for_the_person_reads():
    world = mid_series.build()
    for role, person in world.people.items():
        for slug in ("series", "elsewhere"):
            made = policy._for_member(person.pk, slug).first()
            assert told(policy.FOR_MEMBER.first(person.pk, slug)) == told(made), f"{role} before {slug}"


def test_one_person_never_gets_what_is_anothers(django_assert_num_queries):
    world = mid_series.build()
    policy.viewer_of(world.people["owner"], "series")  # whose rights would be left behind
    with django_assert_num_queries(1):
        stranger = policy.viewer_of(world.people["stranger"], "series")
    assert stranger.role is None
    assert not stranger.takes_part
    with django_assert_num_queries(1):
        mate = policy.viewer_of(world.people["mate"], "series")
    assert mate.entrant_id == world.contest.teams.get().entrant.pk
    with django_assert_num_queries(1):
        assert policy.viewer_of(AnonymousUser(), "series").competition == world.contest


def test_an_address_that_looks_like_a_query_names_nothing():
    person = mid_series.build().people["stranger"]
    for slug in ("nothing", "%s", "' OR 1=1 --", "series%"):
        assert policy.viewer_of(person, slug) is None
