"""What may be put into a competition, and by whom: ids that were guessed name nothing."""

import pytest
from django.contrib.auth.models import AnonymousUser, Permission

from accounts.models import User
from accounts.refusals import Refused
from competitions import policy
from competitions.models import Competition, Organizer, Phase
from submissions.policy import usable_classes
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def contest():
    return make.competition()


@pytest.fixture
def olga(contest):
    return contest.created_by


def with_role(contest, name, role, **fields):
    person = make.user(name)
    Organizer.objects.create(competition=contest, user=person, role=role, **fields)
    return person


def test_making_competitions_is_granted_by_the_operator():
    alice = make.user("alice")
    assert not policy.may_create_competition(alice)
    assert not policy.may_create_competition(AnonymousUser())
    alice.user_permissions.add(Permission.objects.get(codename="add_competition"))
    assert policy.may_create_competition(User.objects.get(pk=alice.pk))
    assert policy.may_create_competition(make.user("sam", is_superuser=True))


def test_an_organizer_uses_own_datasets_and_those_of_competitions_they_edit(contest, olga):
    own = make.dataset(olga)
    of_contest = make.dataset(make.user("felix"))
    phase = make.phase(contest, tasks=0)
    phase.tasks.create(dataset=of_contest)
    foreign = make.dataset(make.user("felix"))
    assert set(policy.usable_datasets(olga)) == {own, of_contest}
    assert foreign not in policy.usable_datasets(olga)
    rita = with_role(contest, "rita", "reviewer", sees_hidden=True)
    assert not policy.usable_datasets(rita).exists()
    assert set(policy.usable_datasets(with_role(contest, "eddy", "editor"))) == {of_contest}
    assert not policy.usable_datasets(AnonymousUser()).exists()
    assert foreign in policy.usable_datasets(make.user("sam", is_superuser=True))


@pytest.mark.parametrize("guess", [0, -1, "x", "", None, 2**70, "1; drop"])
def test_an_id_that_was_guessed_is_refused_like_a_foreign_one(olga, guess):
    foreign = make.dataset(make.user("felix"))
    usable = policy.usable_datasets(olga)
    with pytest.raises(Refused) as guessed:
        policy.resolved(usable, guess, "dataset")
    with pytest.raises(Refused) as known:
        policy.resolved(usable, foreign.pk, "dataset")
    assert str(guessed.value) == str(known.value) == "There is no such dataset."
    assert guessed.value.status == known.value.status == 404
    own = make.dataset(olga)
    assert policy.resolved(usable, str(own.pk), "dataset") == own


def test_a_parent_phase_is_one_of_the_same_competition(contest, olga):
    phase = make.phase(contest)
    foreign = make.phase(make.competition(organizer=make.user("felix")))
    assert list(policy.usable_parents(olga, contest)) == [phase]
    assert foreign not in policy.usable_parents(olga, contest)
    assert not policy.usable_parents(make.user("felix"), contest).exists()


def test_classes_of_workers_are_those_that_serve_the_competition(contest, olga):
    make.worker(resource_class="gpu")
    elsewhere, _ = make.worker(resource_class="private")
    elsewhere.competitions.add(make.competition(organizer=make.user("felix")))
    here, _ = make.worker(resource_class="lent")
    here.competitions.add(contest)
    assert usable_classes(olga, contest) == ["default", "gpu", "lent"]
    assert usable_classes(make.user("alice"), contest) == []


def test_images_are_those_that_the_operator_allows(contest, olga, settings):
    settings.SANDBOX_IMAGES = ("one:1", "two:2")
    assert tuple(policy.usable_images(olga, contest)) == ("one:1", "two:2")
    assert not policy.usable_images(with_role(contest, "rita", "reviewer"), contest)


def test_only_the_owner_gives_roles_and_only_editors_edit(contest, olga):
    eddy, rita = with_role(contest, "eddy", "editor"), with_role(contest, "rita", "reviewer")
    felix = make.competition(organizer=make.user("felix")).created_by
    asked = {
        "owns": policy.owns,
        "may_edit": policy.may_edit,
        "is_organizer": policy.is_organizer,
        "sees_hidden": policy.sees_hidden,
    }
    got = {
        name: [person.username for person in (olga, eddy, rita, felix) if may(person, contest)]
        for name, may in asked.items()
    }
    assert got == {
        "owns": ["olga"],
        "may_edit": ["olga", "eddy"],
        "is_organizer": ["olga", "eddy", "rita"],
        "sees_hidden": ["olga", "eddy"],
    }
    assert not any(may(AnonymousUser(), contest) for may in asked.values())


def test_a_draft_is_for_its_organizers_and_an_archive_takes_nothing(contest, olga):
    alice = make.user("alice")
    make.participant(contest, alice)
    assert policy.may_submit(alice, contest)
    contest.state = Competition.State.DRAFT
    assert policy.may_see(olga, contest)
    assert not policy.may_see(alice, contest)
    assert not policy.may_submit(alice, contest)
    assert not policy.may_download_data(alice, contest)
    contest.state = Competition.State.ARCHIVED
    assert policy.may_see(alice, contest)
    assert policy.may_download_data(alice, contest)
    assert not policy.may_submit(alice, contest)
    assert not policy.may_submit(olga, contest)


def test_a_dataset_of_a_blind_phase_elsewhere_is_unseen_here_too(contest, olga):
    """An editor of two competitions puts the same dataset into both."""
    other = make.competition(organizer=olga)
    parent = make.phase(other)
    blind = make.phase(other, kind=Phase.Kind.AUTOML, parent=parent, opens_at=parent.opens_at, tasks=1)
    dataset = blind.tasks.get().dataset
    here = make.phase(contest, tasks=0)
    task = here.tasks.create(dataset=dataset)
    now = here.opens_at
    assert policy.known_tasks([task], now) == set()
    assert not policy.shows_all_datasets(here, now)
    blind.tasks.update(revealed_at=now)
    assert policy.known_tasks([task], now) == {task.pk}
    assert policy.shows_all_datasets(here, now)
