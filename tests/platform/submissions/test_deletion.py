"""A competition is deleted with all that was sent to it, and nothing else is."""

import pytest
from django.apps import apps
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.refusals import Refused
from competitions.models import AuditEntry, Competition, Deletion, PageImage
from submissions import deletion, dispatch, handover
from submissions.deletion import DeleteCompetition, ThrowAwayRehearsal
from submissions.models import Run, RunState, Submission, Worker
from tests.platform import factories as make
from tests.platform import mid_series
from tests.platform.series import enter, finish, series

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(clock):
    return mid_series.build()


def delete(contest, by, typed="The series"):
    return DeleteCompetition(by=by, contest=contest, typed=typed).execute()


def end_at_workers():
    """Every worker hears at its next heartbeat that its run was cancelled, and lets it go."""
    asked = Run.objects.filter(cancel_asked=True)
    assert asked.exists()
    asked.update(state=RunState.CANCELLED)


def files_of(contest):
    ids = list(Submission.objects.filter(phase__round__competition=contest).values_list("pk", flat=True))
    return {name for _, name in deletion._files_of(ids)}


def all_rows():
    """The ids of every row of every table."""
    return {
        model._meta.label: set(model.objects.values_list("pk", flat=True))
        for model in apps.get_models()
        if model._meta.managed
    }


def test_only_an_owner_who_types_its_name_deletes_it(world):
    for role in ("editor", "reviewer", "participant", "foreign"):
        with pytest.raises(Refused, match="Only owners"):
            delete(world.contest, world.people[role])
    with pytest.raises(Refused, match="not the name"):
        delete(world.contest, world.people["owner"], typed="the series")
    assert not Deletion.objects.exists()


def test_it_is_out_of_sight_at_once_and_its_runs_are_cancelled(world):
    delete(world.contest, world.people["owner"])
    for role in ("anonymous", "participant", "editor", "owner"):
        assert world.client(role).get("/competitions/series/").status_code == 404
    runs = Run.objects.filter(submission__phase__round__competition=world.contest)
    assert not runs.filter(state=RunState.QUEUED).exists()
    assert not dispatch.queued()
    assert not runs.filter(state=RunState.RUNNING, cancel_asked=False).exists()


def test_nothing_is_removed_under_a_worker_that_still_runs_it(world):
    delete(world.contest, world.people["owner"])
    gone = Deletion.objects.get()
    assert not deletion.finish(gone)
    assert Submission.objects.filter(phase__round__competition=world.contest).exists()
    end_at_workers()
    assert deletion.finish(gone)


def test_all_its_rows_and_files_go_and_nothing_of_others(world, django_capture_on_commit_callbacks):
    other = series()
    finish(enter(other["Tweakathon[0]"], make.user("alice")))
    kept, kept_files = all_rows(), files_of(other.contest)
    picture = PageImage(competition=world.contest, name="x.png", size=1, width=1, height=1)
    picture.file.save("x.png", ContentFile(b"x"))
    own_files = files_of(world.contest) | {picture.file.name}
    with django_capture_on_commit_callbacks(execute=True):
        delete(world.contest, world.people["owner"])
        end_at_workers()
        deletion.finish_all()
    assert not Competition.objects.filter(pk=world.contest.pk).exists()
    left = {model: apps.get_model(model).objects.filter(pk__in=pks).count() for model, pks in kept.items()}
    of_other = Submission.objects.filter(phase__round__competition=other.contest)
    assert left["submissions.Submission"] == of_other.count() == 1
    assert left["submissions.Run"] == Run.objects.filter(submission__in=of_other).count()
    assert left["leaderboards.LeaderboardRow"] == 2  # of the validation and of the test part
    assert left["datasets.Dataset"] == len(kept["datasets.Dataset"])
    assert left["accounts.User"] == len(kept["accounts.User"])
    assert left["competitions.Competition"] == 2
    assert not [name for name in own_files if default_storage.exists(name)]
    assert all(default_storage.exists(name) for name in kept_files)


def test_the_operator_keeps_who_did_it_and_its_audit_log(world):
    delete(world.contest, world.people["owner"])
    end_at_workers()
    deletion.finish_all()
    gone = Deletion.objects.get()
    assert (gone.slug, gone.title, gone.asked_by_name) == ("series", "The series", "olga")
    assert gone.competition is None
    assert gone.ended_at is not None
    assert gone.counts["submissions"] == 7
    assert [entry["action"] for entry in gone.audit][-1] == "delete_competition"
    assert not AuditEntry.objects.filter(competition=world.contest.pk).exists()


def test_a_deletion_that_was_interrupted_goes_on(world, monkeypatch):
    delete(world.contest, world.people["owner"])
    end_at_workers()
    monkeypatch.setattr(deletion, "CHUNK", 2)
    whole = deletion.remove_submissions
    done = []

    def killed(chunk):
        if done:
            raise KeyboardInterrupt
        done.append(chunk)
        whole(chunk)

    monkeypatch.setattr(deletion, "remove_submissions", killed)
    with pytest.raises(KeyboardInterrupt):
        deletion.finish_all()
    monkeypatch.setattr(deletion, "remove_submissions", whole)
    deletion.finish_all()
    assert not Competition.objects.filter(pk=world.contest.pk).exists()


def test_an_upload_that_came_in_meanwhile_goes_too(world):
    delete(world.contest, world.people["owner"])
    end_at_workers()
    late = enter(world.phases["Practice"], world.people["other"])
    deletion.finish_all()
    assert not Submission.objects.filter(pk=late.pk).exists()


def test_nothing_goes_forward_in_a_competition_that_is_being_deleted(world, clock):
    delete(world.contest, world.people["owner"])
    clock.move(days=40)
    assert handover.tick() == 0


def test_its_address_is_free_at_once(world):
    delete(world.contest, world.people["owner"])
    make.competition("series", world.people["owner"])


def test_a_worker_that_served_it_alone_is_revoked_instead_of_serving_everybody(world):
    alone, _ = make.worker("alone")
    alone.competitions.set([world.contest])
    shared, _ = make.worker("shared")
    shared.competitions.set([world.contest, world.elsewhere])
    delete(world.contest, world.people["owner"])
    end_at_workers()
    deletion.finish_all()
    assert Worker.objects.get(name="alone").revoked_at is not None
    shared.refresh_from_db()
    assert shared.revoked_at is None
    assert list(shared.competitions.all()) == [world.elsewhere]


def test_the_same_holds_where_an_operator_removes_an_empty_competition(world):
    alone, _ = make.worker("alone")
    alone.competitions.set([world.elsewhere])
    world.elsewhere.delete()
    alone.refresh_from_db()
    assert alone.revoked_at is not None


def test_its_rehearsal_goes_with_it(world):
    rehearsal = make.competition("try", world.people["owner"], rehearses=world.contest)
    both, _ = make.worker("both")
    both.competitions.set([world.contest, rehearsal])
    delete(world.contest, world.people["owner"])
    end_at_workers()
    deletion.finish_all()
    assert set(Deletion.objects.values_list("slug", flat=True)) == {"series", "try"}
    both.refresh_from_db()
    assert both.revoked_at is not None
    assert not Competition.objects.filter(title="The series").exists()


def test_a_rehearsal_is_thrown_away_without_typing_and_a_competition_is_not(world):
    rehearsal = make.competition("try", world.people["owner"], rehearses=world.contest)
    with pytest.raises(Refused, match="no rehearsal"):
        ThrowAwayRehearsal(by=world.people["owner"], contest=world.contest).execute()
    with pytest.raises(Refused, match="Only organizers"):
        ThrowAwayRehearsal(by=world.people["participant"], contest=rehearsal).execute()
    ThrowAwayRehearsal(by=world.people["editor"], contest=rehearsal).execute()
    deletion.finish_all()
    assert not Competition.objects.filter(pk=rehearsal.pk).exists()
    assert Competition.objects.filter(slug="series").exists()


def test_the_queries_of_a_chunk_do_not_grow_with_it(clock):
    contest = series()
    for name in ("alice", "bob", "carol"):
        for _ in range(2):
            finish(enter(contest["Tweakathon[0]"], make.user(name)))
    few = list(Submission.objects.values_list("pk", flat=True))
    contest.contest.organizers.all().delete()
    Deletion.objects.create(competition=contest.contest, slug="x", title="x", asked_at=clock.now)
    with CaptureQueriesContext(
        connection,
    ) as one:
        deletion.remove_submissions(few[:1])
    with CaptureQueriesContext(connection) as five:
        deletion.remove_submissions(few[1:])
    assert len(five) <= len(one) + 4  # one look at the board's phase for each


def test_nobody_keeps_it_from_going_by_taking_the_address_it_goes_to(world):
    make.competition(f"deleted-{world.contest.pk}", make.user("mallory"))
    delete(world.contest, world.people["owner"])
    assert not Competition.objects.filter(slug="series").exists()
