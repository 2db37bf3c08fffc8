"""What may be put into a competition, and by whom: ids that were guessed name nothing."""

import datetime as dt

import pytest
from django.contrib.auth.models import AnonymousUser, Permission

from accounts.models import User
from accounts.refusals import Refused
from competitions import policy
from competitions.actions.copying import copied
from competitions.actions.publishing import Unpublish
from competitions.models import Competition, Organizer, Phase
from submissions import handover
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


@pytest.fixture
def shown(contest, clock):
    """A blind phase that has ended, and whose dataset got its name."""
    parent = make.phase(contest, opens_at=clock.now - dt.timedelta(days=20))
    opens, closes = clock.now - dt.timedelta(days=9), clock.now - dt.timedelta(days=2)
    blind = make.phase(contest, kind="automl", parent=parent, opens_at=opens, closes_at=closes, tasks=1)
    blind.tasks.update(revealed_at=closes)
    return blind


@pytest.fixture
def opened(contest, shown, clock):
    """The phase after it, in which people submit to the same dataset."""
    phase = make.phase(contest, tasks=0, opens_at=clock.now - dt.timedelta(days=1))
    phase.tasks.create(dataset=shown.tasks.get().dataset)
    return phase


def test_a_competition_of_next_year_takes_no_name_away_that_was_shown(contest, shown, opened, clock):
    copied(
        contest,
        slug="next",
        title="Next",
        owner=contest.created_by,
        shift=dt.timedelta(days=365),
        state="published",
    )
    assert policy.shows_all_datasets(shown, clock.now)
    assert policy.shows_all_datasets(opened, clock.now)


def test_a_draft_that_was_never_published_hides_nothing_elsewhere(contest, shown, opened, clock):
    copy = copied(contest, slug="copy", title="Copy", owner=contest.created_by)
    assert policy.shows_all_datasets(shown, clock.now)
    assert policy.shows_all_datasets(opened, clock.now)
    assert not policy.shows_all_datasets(copy.phases().get(kind="automl"), clock.now)


def test_the_clock_reveals_nothing_in_a_draft_whose_dates_are_still_those_of_another_year(contest, shown, clock):
    copy = copied(contest, slug="copy", title="Copy", owner=contest.created_by)
    tasks = copy.phases().get(kind="automl").tasks
    handover.tick()
    assert tasks.get().revealed_at is None
    Competition.objects.filter(pk=copy.pk).update(state=Competition.State.PUBLISHED)
    handover.tick()
    assert tasks.get().revealed_at == clock.now


def test_what_was_published_and_taken_back_goes_on_hiding_its_datasets(contest, shown, opened, clock):
    copy = copied(contest, slug="copy", title="Copy", owner=contest.created_by, state="published")
    assert not policy.shows_all_datasets(opened, clock.now)
    Unpublish(contest.created_by, copy).execute()
    assert not policy.shows_all_datasets(opened, clock.now)
