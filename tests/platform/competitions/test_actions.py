"""What organizers do to a competition: each action checks, shows before what it does, and leaves an entry."""

import datetime as dt

import pytest
from django.core.exceptions import ValidationError

from accounts.refusals import Refused
from competitions.actions import dates, queue, release
from competitions.models import AuditEntry, Extension, Phase
from competitions.protocol_check import clean_phase
from submissions import dispatch
from submissions.models import Submission
from tests.platform import factories as make
from tests.platform.series import copies, enter, finish, series, tick

pytestmark = pytest.mark.django_db
HOUR = dt.timedelta(hours=1)


@pytest.fixture
def contest(clock):
    return series(clock.now)


@pytest.fixture
def olga(contest):
    return make.user("olga")


def entries():
    return [(entry.action, entry.text) for entry in AuditEntry.objects.order_by("id")]


def test_a_deadline_that_moves_takes_everything_after_it_along(contest, olga, clock):
    contest.contest.teams_close_at = contest.at(15)
    contest.contest.save()
    clock.set(contest.at(5))
    action = dates.ExtendDeadline(by=olga, phase=contest["Tweakathon[0]"], closes_at=contest.at(13))
    assert len(action.preview(clock.now).sentences) == 6
    assert contest["AutoML[1]"].opens_at == contest.at(10), "a preview changes nothing"
    action.execute()
    assert contest["Tweakathon[0]"].closes_at == contest.at(13)
    for title, opens, closes in (("Final[0]", 13, 15), ("AutoML[1]", 13, 15), ("AutoML[2]", 23, 25)):
        assert (contest[title].opens_at, contest[title].closes_at) == (contest.at(opens), contest.at(closes))
    contest.contest.refresh_from_db()
    assert contest.contest.teams_close_at == contest.at(18)
    ((action_name, text),) = entries()
    assert action_name == "extend_deadline"
    assert "Tweakathon[0]" in text


def test_a_deadline_moves_alone_only_where_nothing_overlaps(contest, olga, clock):
    action = dates.ExtendDeadline(
        by=olga, phase=contest["Tweakathon[0]"], closes_at=contest.at(11), move_later=False
    )
    with pytest.raises(Refused, match="overlaps"):
        action.execute()
    assert contest["Tweakathon[0]"].closes_at == contest.at(10)
    action.closes_at = contest.at(9)
    action.execute()
    assert contest["AutoML[1]"].opens_at == contest.at(10)


@pytest.mark.parametrize(("now", "closes", "why"), [(5, 4, "past"), (11, 14, "has ended"), (5, 10, "already")])
def test_a_deadline_that_makes_no_sense_is_refused(contest, olga, clock, now, closes, why):
    clock.set(contest.at(now))
    action = dates.ExtendDeadline(by=olga, phase=contest["Tweakathon[0]"], closes_at=contest.at(closes))
    with pytest.raises(Refused, match=why):
        action.execute()
    assert entries() == []


def test_a_deadline_that_takes_others_past_the_end_of_the_calendar_is_refused(contest, olga, clock):
    end = dt.datetime(9999, 12, 31, 23, 59, tzinfo=dt.UTC)
    with pytest.raises(Refused, match="calendar"):
        dates.ExtendDeadline(by=olga, phase=contest["Tweakathon[0]"], closes_at=end).execute()


def test_only_editors_of_the_competition_act(contest, clock):
    for person in (make.user("alice"), make.competition(organizer=make.user("otto")).created_by):
        with pytest.raises(Refused, match="Only organizers"):
            queue.PauseQueue(by=person, contest=contest.contest).execute()


def extra(contest, person, closes, why="The site was down.", **fields):
    return dates.GiveExtraTime(
        **{
            "by": make.user("olga"),
            "phase": contest["Tweakathon[0]"],
            "entrant": make.entrant(contest.contest, person),
            "closes_at": contest.at(closes),
            "why": why,
            **fields,
        }
    )


def test_extra_time_is_for_one_entrant_and_ends_before_the_blind_datasets_are_shown(contest, clock):
    alice, bob = make.user("alice"), make.user("bob")
    clock.set(contest.at(9))
    with pytest.raises(Refused, match="shows its datasets"):
        extra(contest, alice, 13).execute()
    with pytest.raises(Refused, match="reason"):
        extra(contest, alice, 11, why=" ").execute()
    extra(contest, alice, 11).execute()
    extra(contest, alice, 11.5).execute()
    assert Extension.objects.count() == 1
    phase = contest["Tweakathon[0]"]
    assert phase.is_open_for(make.entrant(contest.contest, alice), contest.at(11))
    assert not phase.is_open_for(make.entrant(contest.contest, alice), contest.at(11.5))
    assert not phase.is_open_for(make.entrant(contest.contest, bob), contest.at(10))
    assert not phase.is_open_for(None, contest.at(10))


def test_no_deadline_moves_so_that_extra_time_ends_after_the_blind_datasets_are_shown(contest, olga, clock):
    clock.set(contest.at(5))
    extra(contest, make.user("alice"), 11.5).execute()
    with pytest.raises(Refused, match="Extra time"):
        dates.ExtendDeadline(by=olga, phase=contest["Tweakathon[0]"], closes_at=contest.at(7)).execute()
    clock.set(contest.at(10))
    with pytest.raises(Refused, match="Extra time"):
        dates.ExtendDeadline(by=olga, phase=contest["AutoML[1]"], closes_at=contest.at(11)).execute()
    edited = contest["AutoML[1]"]
    edited.closes_at = contest.at(11)
    with pytest.raises(ValidationError, match="Extra time"):
        clean_phase(edited)
    dates.ExtendDeadline(by=olga, phase=contest["AutoML[1]"], closes_at=contest.at(11.5)).execute()


def test_who_has_extra_time_may_submit_and_nobody_else(contest, clock, tmp_path):
    from submissions.actions import submit

    alice, bob = make.user("alice"), make.user("bob")
    for person in (alice, bob):
        make.participant(contest.contest, person)
    clock.set(contest.at(9))
    extra(contest, alice, 11).execute()
    clock.set(contest.at(10.5))
    archive = make.code_zip(tmp_path)
    submit(user=alice, phase=contest["Tweakathon[0]"], archive=archive, filename="s.zip")
    with pytest.raises(Refused, match="closed on"):
        submit(user=bob, phase=contest["Tweakathon[0]"], archive=archive, filename="s.zip")


def test_a_paused_queue_gives_nothing_out_and_says_so(contest, olga, clock):
    submission = enter(contest["Tweakathon[0]"], make.user("alice"))
    worker, _ = make.worker()
    queue.PauseQueue(by=olga, contest=contest.contest).execute()
    dispatch.ring()
    assert {run.sentence for run in submission.runs.all()} == {dispatch.PAUSED}
    assert dispatch.next_for(worker) is None
    contest.contest.refresh_from_db()
    with pytest.raises(Refused, match="paused already"):
        queue.PauseQueue(by=olga, contest=contest.contest).execute()
    queue.ResumeQueue(by=olga, contest=contest.contest).execute()
    assert dispatch.next_for(worker) is not None
    assert [name for name, _ in entries()] == ["pause_queue", "resume_queue"]


def test_a_final_is_released_by_hand_where_the_phase_says_so(contest, olga, clock):
    final = contest["Final[0]"]
    final.release = Phase.When.BY_HAND
    final.save()
    action = release.Release(by=olga, phase=final)
    clock.set(contest.at(11))
    with pytest.raises(Refused, match="has not ended"):
        action.execute()
    clock.set(contest.at(12))
    assert final.public_part(clock.now) is None
    action.execute()
    assert contest["Final[0]"].public_part(clock.now) == "test"
    with pytest.raises(Refused, match="released already"):
        action.execute()


def test_datasets_are_revealed_by_the_clock_when_the_blind_phase_closes_and_never_before(contest, clock):
    blind = contest["AutoML[1]"]
    with pytest.raises(Refused, match="has not ended"):
        release.Reveal(by=None, phase=blind).execute()
    tick(contest.at(12) - dt.timedelta(seconds=1))
    assert not blind.tasks.filter(revealed_at__isnull=False).exists()
    clock.set(contest.at(12))
    tick()
    assert {task.revealed_at for task in blind.tasks.all()} == {clock.now}
    assert [name for name, _ in entries()] == ["reveal"]
    tick()
    assert len(entries()) == 1


def test_datasets_that_are_revealed_by_hand_wait_for_the_organizer(contest, olga, clock):
    from competitions.lifecycle import revealed_tasks
    from competitions.models import Task

    blind = contest["AutoML[1]"]
    blind.reveal = Phase.When.BY_HAND
    blind.save()
    clock.set(contest.at(13))
    tick()
    tasks = list(Task.objects.filter(phase__round__competition=contest.contest).select_related("phase"))
    hidden = {task.pk for task in tasks if task.phase.title in ("AutoML[1]", "Tweakathon[1]")}
    assert not hidden & revealed_tasks(tasks, clock.now), "a Tweakathon that has begun must not name them either"
    release.Reveal(by=olga, phase=blind).execute()
    tasks = list(Task.objects.filter(phase__round__competition=contest.contest).select_related("phase"))
    assert hidden <= revealed_tasks(tasks, clock.now)


def test_an_everlasting_phase_stands_beside_the_official_board(contest, olga, clock):
    clock.set(contest.at(11))
    with pytest.raises(Refused, match="not released"):
        release.OpenForEver(by=olga, phase=contest["Final[0]"]).execute()
    clock.set(contest.at(12))
    release.OpenForEver(by=olga, phase=contest["Final[0]"]).execute()
    made = contest.contest.phases().last()
    assert (made.kind, made.closes_at, made.parent, made.takes_over) == ("open", None, contest["Final[0]"], False)
    assert [task.dataset for task in made.tasks.all()] == [t.dataset for t in contest["Final[0]"].tasks.all()]
    assert made.is_open_for(None, clock.now + dt.timedelta(days=9999))
    with pytest.raises(Refused, match="has an open phase"):
        release.OpenForEver(by=olga, phase=contest["Final[0]"]).execute()


def test_a_shift_moves_every_date_so_that_time_seems_to_have_passed(contest, clock):
    source = finish(enter(contest["Tweakathon[0]"], make.user("alice")))
    before = source.received_at
    dates.shift(contest.contest, 10 * HOUR)
    source.refresh_from_db()
    assert source.received_at == before - 10 * HOUR
    assert contest["Tweakathon[0]"].has_ended(clock.now)
    tick()
    (entry,) = copies(contest["Final[0]"])
    assert entry.received_at == source.received_at
    assert Submission.objects.filter(received_at__gt=clock.now).count() == 0
    dates.shift(contest.contest, 2 * HOUR)
    assert contest["Final[0]"].is_released(clock.now)


def test_the_state_of_a_board_is_set_with_an_entry(contest, olga):
    release.SetBoard(by=olga, phase=contest["Tweakathon[0]"], board="hidden").execute()
    assert contest["Tweakathon[0]"].board == "hidden"
    with pytest.raises(Refused, match="hidden already"):
        release.SetBoard(by=olga, phase=contest["Tweakathon[0]"], board="hidden").execute()
    with pytest.raises(Refused, match="no state"):
        release.SetBoard(by=olga, phase=contest["Tweakathon[0]"], board="upside down").execute()
