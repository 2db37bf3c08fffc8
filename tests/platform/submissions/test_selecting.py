"""The organizers' table of submissions: filters, search, and pages found by keys."""

import datetime as dt

import pytest
from django.utils import timezone

from competitions.models import Phase
from submissions import selecting
from submissions.models import Run, RunState, Submission
from submissions.selecting import Filter
from tests.platform import factories as make

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def phase():
    made = make.phase(make.competition("contest"))
    made.round.competition = made.competition
    return made


def sent(phase, name, minutes_ago=0, **fields):
    return make.submission(phase, make.user(name), received_at=NOW - dt.timedelta(minutes=minutes_ago), **fields)


def failed(submission, order, reason="crashed"):
    Run.objects.filter(submission=submission, order=order).update(state=RunState.FAILED, reason=reason)


def found(phase, given, **viewer):
    viewer = {"sees_hidden": True, "now": NOW, **viewer}
    return set(selecting.matching([phase], Filter.read(given), **viewer))


def walked(phase, given, monkeypatch, per_page=3):
    """All pages forwards, then all of them backwards."""
    monkeypatch.setattr(selecting, "PER_PAGE", per_page)
    wanted = Filter.read(given)
    every = selecting.matching([phase], wanted, sees_hidden=True, now=NOW)
    page = selecting.page_of(every, wanted, [phase])
    pages = [page.submissions]
    while page.last:
        page = selecting.page_of(every, wanted, [phase], after=page.last)
        pages.append(page.submissions)
    back = [page.submissions]
    while page.first:
        page = selecting.page_of(every, wanted, [phase], before=page.first)
        back.append(page.submissions)
    assert back[::-1] == pages
    return [submission for some in pages for submission in some]


@pytest.mark.parametrize("order", selecting.ORDERS)
def test_pages_of_every_order_hold_everybody_once_forwards_and_backwards(phase, monkeypatch, order):
    # Three of the same moment, so that only the last key tells them apart.
    made = [sent(phase, name, minutes) for name in ("alice", "bob", "carol") for minutes in (0, 5, 5, 9)]
    listed = walked(phase, {"order": order}, monkeypatch)
    assert sorted(one.pk for one in listed) == sorted(one.pk for one in made)
    if order == "entrant":
        assert [one.entrant.name for one in listed] == ["alice"] * 4 + ["bob"] * 4 + ["carol"] * 4
    times = [one.received_at for one in listed if order != "entrant" or one.entrant.name == "alice"]
    assert times == sorted(times, reverse=order != "oldest")


def test_what_arrives_meanwhile_moves_nobody_to_another_page(phase, monkeypatch):
    monkeypatch.setattr(selecting, "PER_PAGE", 2)
    made = [sent(phase, "alice", minutes) for minutes in (1, 2, 3, 4)]
    wanted = Filter()
    every = Submission.objects.filter(phase=phase)
    first = selecting.page_of(every, wanted, [phase])
    sent(phase, "bob")
    second = selecting.page_of(every, wanted, [phase], after=first.last)
    assert first.submissions + second.submissions == made
    assert (first.total, second.total) == (4, 5)


def test_a_submission_of_another_competition_is_no_place_to_go_on_from(phase):
    sent(phase, "alice")
    elsewhere = sent(make.phase(make.competition("other")), "bob", 60)
    page = selecting.page_of(Submission.objects.filter(phase=phase), Filter(), [phase], after=elsewhere.pk)
    assert len(page.submissions) == 1


def test_filters_find_state_kind_phase_and_disqualified_ones(phase):
    done = sent(phase, "alice", state="finished")
    results = sent(phase, "bob", kind="results")
    out = sent(phase, "carol", disqualified_at=NOW)
    assert found(phase, {"state": "finished"}) == {done}
    assert found(phase, {"kind": "results"}) == {results}
    assert found(phase, {"state": "disqualified"}) == {out}
    assert found(phase, {"phase": "1"}) == {done, results, out}
    assert found(phase, {"phase": "7"}) == set()
    assert found(phase, {"entrant": str(done.entrant_id)}) == {done}


def test_filters_find_what_failed_on_a_dataset_and_why(phase):
    first, second = phase.tasks.all()
    alice, bob = sent(phase, "alice"), sent(phase, "bob")
    failed(alice, 0)
    failed(bob, 1, "timed_out")
    assert found(phase, {"failed_on": str(first.pk)}) == {alice}
    assert found(phase, {"reason": "timed_out"}) == {bob}
    assert found(phase, {"failed_on": str(second.pk), "reason": "crashed"}) == set()


def test_the_search_finds_names_numbers_files_and_digests(phase):
    alice = sent(phase, "alice", filename="forest.zip", sha256="ab12cd34" + "0" * 56)
    bob = sent(phase, "bob", number=77)
    assert found(phase, {"q": "ALI"}) == {alice}
    assert found(phase, {"q": "forest"}) == {alice}
    assert found(phase, {"q": "ab12cd34"}) == {alice}
    assert found(phase, {"q": "#77"}) == {bob}
    assert found(phase, {"q": "nobody"}) == set()


def test_what_no_allow_list_knows_is_left_out_of_the_filter():
    given = {
        "state": "x' OR 1=1",
        "kind": "none",
        "order": "score",
        "failed_on": "1e9",
        "phase": "-1",
        "q": "a\0b",
    }
    read = Filter.read({**given, "q": "a\0b"})
    assert read == Filter(q="ab")
    assert Filter().asked == {}
    assert not Filter(order="oldest").narrows


def test_who_does_not_see_what_is_hidden_does_not_learn_it_from_a_filter(phase):
    phase.kind = Phase.Kind.FINAL
    phase.release = Phase.When.BY_HAND
    phase.save()
    alice = sent(phase, "alice", state="finished")
    failed(alice, 0)
    for given in ({"state": "finished"}, {"reason": "crashed"}, {"failed_on": str(phase.tasks.first().pk)}):
        assert found(phase, given) == {alice}
        assert found(phase, given, sees_hidden=False) == set()
    assert found(phase, {"q": "alice"}, sees_hidden=False) == {alice}
