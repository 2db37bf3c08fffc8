"""Who may see which file of a dataset: every role by every file, and what changes a role."""

import datetime as dt

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from accounts.refusals import Refused
from competitions import dataset_policy, policy
from competitions.models import Organizer, Phase
from datasets.models import DatasetShare
from datasets.policy import LEAST, Access, File, may_edit, may_read, owns
from datasets.sharing import TEXTS, describe, publish, share, unshare
from tests.platform import factories as make

pytestmark = pytest.mark.django_db

NOTHING: set[File] = set()
PUBLIC = {File.PUBLIC_CARD, File.PUBLIC_FILES, File.CACHE}
USING = PUBLIC | {File.CARD, File.FINDINGS}
EVERYTHING_BUT_SOLUTIONS = set(File) - {File.SOLUTIONS}

# Everybody who could ask, and what they read of a private dataset and of a public one.
TABLE = {
    "anonymous": (NOTHING, PUBLIC),
    "stranger": (NOTHING, PUBLIC),
    "participant": (NOTHING, PUBLIC),
    "blind reviewer": (NOTHING, PUBLIC),
    "reviewer": (USING, USING),
    "contest editor": (USING, USING),
    "contest owner": (USING, USING),
    "shared user": (USING, USING),
    "shared editor": (EVERYTHING_BUT_SOLUTIONS, EVERYTHING_BUT_SOLUTIONS),
    "dataset owner": (EVERYTHING_BUT_SOLUTIONS, EVERYTHING_BUT_SOLUTIONS),
    "operator": (EVERYTHING_BUT_SOLUTIONS, EVERYTHING_BUT_SOLUTIONS),
    "deactivated owner": (NOTHING, PUBLIC),
}


@pytest.fixture
def felix():
    return make.user("felix")


@pytest.fixture
def dataset(felix):
    return make.dataset(felix, "madeline")


@pytest.fixture
def contest(dataset):
    made = make.competition(organizer=make.user("olga"))
    make.phase(made, tasks=0).tasks.create(dataset=dataset)
    return made


@pytest.fixture
def people(dataset, contest, felix):
    def organizer(name, role, **fields):
        person = make.user(name)
        Organizer.objects.create(competition=contest, user=person, role=role, **fields)
        return person

    def sharing(name, role):
        person = make.user(name)
        share(dataset, with_user=person, role=role, by=felix)
        return person

    participant = make.user("paula")
    make.participant(contest, participant)
    return {
        "anonymous": AnonymousUser(),
        "stranger": make.user("charlie"),
        "participant": participant,
        "blind reviewer": organizer("rob", "reviewer"),
        "reviewer": organizer("rita", "reviewer", sees_hidden=True),
        "contest editor": organizer("eddy", "editor"),
        "contest owner": contest.created_by,
        "shared user": sharing("bob", DatasetShare.Role.USER),
        "shared editor": sharing("ed", DatasetShare.Role.EDITOR),
        "dataset owner": felix,
        "operator": make.user("sam", is_superuser=True),
        "deactivated owner": felix.__class__(pk=felix.pk, username="felix", is_active=False),
    }


def readable(person, dataset):
    access = dataset_policy.access(person, dataset, timezone.now())
    return {file for file in File if may_read(access, file)}


@pytest.mark.parametrize("who", TABLE)
def test_everybody_reads_what_the_table_says(who, people, dataset):
    private, public = TABLE[who]
    assert readable(people[who], dataset) == private
    dataset.is_public = True
    assert readable(people[who], dataset) == public


def test_nobody_whoever_they_are_reads_a_solution():
    assert set(LEAST) == EVERYTHING_BUT_SOLUTIONS
    assert not any(may_read(access, File.SOLUTIONS) for access in Access)


def test_the_library_has_what_a_person_may_see(people, dataset, felix):
    make.dataset(felix)  # shared with nobody, used nowhere
    for who, (private, _) in TABLE.items():
        library = dataset_policy.library(people[who])
        assert (dataset in library) == bool(private), who
        assert len(library) == len(set(library))


def test_who_may_change_it_and_who_may_give_it_away(people, dataset):
    assert {who for who, person in people.items() if may_edit(person, dataset)} == {
        "shared editor", "dataset owner", "operator",
    }  # fmt: skip
    assert {who for who, person in people.items() if owns(person, dataset)} == {"dataset owner", "operator"}


@pytest.mark.parametrize("is_revealed", [False, True])
def test_a_public_dataset_stays_hidden_until_every_blind_phase_has_revealed_it(dataset, is_revealed):
    now = timezone.now()
    blind = make.phase(make.competition(), tasks=0, kind=Phase.Kind.AUTOML)
    task = blind.tasks.create(dataset=dataset)
    dataset.is_public = True
    dataset.save()
    if is_revealed:
        task.revealed_at = now - dt.timedelta(minutes=1)
        task.save()
    assert bool(readable(AnonymousUser(), dataset)) == is_revealed
    assert (dataset in dataset_policy.public_datasets(now)) == is_revealed


def test_a_shared_dataset_may_be_put_into_a_phase_until_the_share_ends(dataset, felix):
    bob = make.user("bob")
    assert dataset not in policy.usable_datasets(bob)
    share(dataset, with_user=bob, role="user", by=felix)
    assert list(policy.usable_datasets(bob)) == [dataset]
    unshare(dataset, user=bob, by=bob)
    assert dataset not in policy.usable_datasets(bob)
    with pytest.raises(Refused, match="not shared"):
        unshare(dataset, user=bob, by=felix)


def test_only_the_owner_shares_and_publishes(people, dataset):
    for who, person in people.items():
        if who in ("anonymous", "dataset owner", "operator"):
            continue
        with pytest.raises(Refused, match="Only its owner"):
            share(dataset, with_user=people["stranger"], role="user", by=person)
        with pytest.raises(Refused, match="Only its owner"):
            publish(dataset, public=True, by=person)
        with pytest.raises(Refused, match="Only its owner"):
            unshare(dataset, user=people["shared editor" if who != "shared editor" else "shared user"], by=person)


def test_a_second_share_changes_the_role(dataset, felix):
    bob = make.user("bob")
    share(dataset, with_user=bob, role="user", by=felix)
    share(dataset, with_user=bob, role="editor", by=felix)
    assert [one.role for one in dataset.shares.all()] == ["editor"]
    with pytest.raises(Refused, match="no role"):
        share(dataset, with_user=bob, role="owner", by=felix)
    with pytest.raises(Refused, match="owns"):
        share(dataset, with_user=felix, role="user", by=felix)


def test_a_dataset_becomes_public_with_a_licence_and_data(dataset, felix):
    with pytest.raises(Refused, match="licence"):
        publish(dataset, public=True, by=felix)
    describe(dataset, by=felix, licence="CC BY 4.0")
    publish(dataset, public=True, by=felix)
    dataset.refresh_from_db()
    assert dataset.is_public
    publish(dataset, public=False, by=felix)
    assert not dataset_policy.public_datasets(timezone.now()).exists()


def test_texts_are_changed_by_who_may_edit(people, dataset):
    texts = {name: f"new {name}" for name in TEXTS}
    describe(dataset, by=people["shared editor"], **texts)
    dataset.refresh_from_db()
    assert {name: getattr(dataset, name) for name in TEXTS} == texts
    for wrong in ({"title": " "}, {"title": "x" * 121}, {"licence": "x" * 201}, {"slug": "other"}):
        with pytest.raises(Refused):
            describe(dataset, by=None, **wrong)
    with pytest.raises(Refused, match="Only its owner and editors"):
        describe(dataset, by=people["shared user"], title="Mine")
