"""What results alone would lose, which quota comes back, and what costs none."""

import pytest
from django.test import Client

from accounts.refusals import Refused
from submissions.actions import DropsCode, cancel, submit
from submissions.models import Run, Submission
from submissions.models.submission import quota_left
from tests.platform import factories as make
from tests.platform.series import copies, enter, fail, finish, series, tick

pytestmark = pytest.mark.django_db


@pytest.fixture
def contest(clock):
    return series(clock.now)


@pytest.fixture
def alice(contest):
    person = make.user("alice")
    make.participant(contest.contest, person)
    return person


def left(phase, person, now):
    return quota_left(phase, make.entrant(phase.competition, person), now)


def test_results_that_would_drop_the_code_are_taken_only_from_somebody_who_says_so(contest, alice, tmp_path):
    phase = contest["Tweakathon[0]"]
    results = make.results_zip(tmp_path, phase)
    submit(user=alice, phase=phase, archive=results, filename="r.zip")  # there is no code yet that could be lost
    submit(user=alice, phase=phase, archive=make.code_zip(tmp_path / "code"), filename="s.zip")
    with pytest.raises(DropsCode, match=r"whose code goes forward to AutoML\[1\]"):
        submit(user=alice, phase=phase, archive=results, filename="r.zip")
    assert Submission.objects.count() == 2
    submit(user=alice, phase=phase, archive=results, filename="r.zip", drops_code=True)
    submit(user=alice, phase=phase, archive=results, filename="r.zip")  # the code is dropped already


def test_a_phase_that_no_blind_phase_follows_asks_nothing(contest, alice, tmp_path):
    phase = make.phase(contest.contest, title="Open", number=9)
    submit(user=alice, phase=phase, archive=make.code_zip(tmp_path / "code"), filename="s.zip")
    submit(user=alice, phase=phase, archive=make.results_zip(tmp_path, phase), filename="r.zip")


def test_the_page_warns_before_results_are_sent_and_takes_the_answer(contest, alice, tmp_path):
    phase = contest["Tweakathon[0]"]
    submit(user=alice, phase=phase, archive=make.code_zip(tmp_path / "code"), filename="s.zip")
    client = Client()
    client.force_login(alice)
    url = f"/competitions/{contest.contest.slug}/submissions/"
    page = client.get(url).content.decode()
    assert "AutoML[1] runs the code of your latest submission here." in page
    assert 'name="drops_code"' in page

    def send(**fields):
        with make.results_zip(tmp_path, phase).open("rb") as file:
            return client.post(url, {"archive": file, "phase": phase.number, **fields}, headers={"accept": JSON})

    refused = send()
    assert refused.status_code == 409
    assert "box ticked" in refused.json()["mend"]
    assert send(drops_code="1").status_code == 201


JSON = "application/json"


def test_the_page_says_which_submission_counts_and_where_it_goes(contest, alice, clock, tmp_path):
    client = Client()
    client.force_login(alice)
    url = f"/competitions/{contest.contest.slug}/submissions/"
    finish(enter(contest["Tweakathon[0]"], alice, hours_ago=-1))
    page = " ".join(client.get(url).content.decode().split())
    assert "counts; it <span>goes forward to Final[0]</span>" in page
    assert "goes forward to AutoML[1]</span>" in page
    clock.set(contest.at(10))
    tick()
    page = " ".join(client.get(url).content.decode().split())
    assert "went forward to Final[0] as submission 2" in page or "went forward to Final[0] as submission 3" in page


def test_results_that_went_nowhere_are_told_so(contest, alice, clock):
    results = enter(contest["Tweakathon[0]"], alice, kind="results")
    results.runs.update(source="results")
    finish(results)
    client = Client()
    client.force_login(alice)
    url = f"/competitions/{contest.contest.slug}/submissions/"
    assert "would have no place in AutoML[1]" in client.get(url).content.decode()
    clock.set(contest.at(10))
    tick()
    assert "it has no place in AutoML[1]" in client.get(url).content.decode()


def test_quota_comes_back_only_while_no_run_was_ever_claimed(contest, alice):
    phase = contest["Tweakathon[0]"]
    now = contest.at(1)
    untouched = enter(phase, alice, hours_ago=-1)
    claimed = enter(phase, alice, hours_ago=-1)
    Run.objects.filter(pk=claimed.runs.first().pk).update(attempt_number=1)
    assert left(phase, alice, now) == 3
    cancel(untouched, by=alice)
    cancel(claimed, by=alice)
    assert left(phase, alice, now) == 4


def test_what_we_lost_costs_no_quota_but_twice_a_day_at_most(contest, alice, clock):
    phase = contest["Tweakathon[0]"]
    for _ in range(3):
        fail(enter(phase, alice), "infrastructure")
    assert left(phase, alice, clock.now) == 4
    clock.move(hours=25)
    fail(enter(phase, alice), "infrastructure")
    assert Submission.objects.filter(uses_quota=False).count() == 3


def test_what_the_organizers_own_scorer_spoiled_costs_no_quota(contest, alice, clock):
    phase = contest["Tweakathon[0]"]
    fail(enter(phase, alice), "scoring_failed")
    assert left(phase, alice, clock.now) == 5
    fail(enter(phase, alice), "crashed")
    assert left(phase, alice, clock.now) == 4


def test_an_entry_that_went_forward_by_itself_is_not_cancelled(contest, alice, clock):
    finish(enter(contest["Tweakathon[0]"], alice))
    clock.set(contest.at(10))
    tick()
    (entry,) = copies(contest["AutoML[1]"])
    with pytest.raises(Refused, match="by itself"):
        cancel(entry, by=make.user("olga"))
    assert left(contest["AutoML[1]"], alice, clock.now) == 5
