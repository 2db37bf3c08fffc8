"""What organizers do to rounds, phases and their datasets: checked, shown before, done, kept in the audit log."""

import datetime as dt

import pytest

from accounts.refusals import Refused
from competitions.actions.phases import AddPhase, EditPhase, FillFromBlueprint, MoveDates, MovePhase, RemovePhase
from competitions.actions.rounds import AddRound, EditRound, RemoveRound
from competitions.actions.tasks import AddTasks, EditTasks, TaskEdit, tasks_seen
from competitions.actions.wording import seen_of
from competitions.models import AuditEntry, Competition, Phase, Round, Task
from competitions.presets import PRESETS
from submissions.changes import ChangeBudget
from tests.platform import factories as make
from tests.platform.series import enter, finish, series

pytestmark = pytest.mark.django_db


@pytest.fixture
def contest(clock):
    return series(clock.now)


@pytest.fixture
def olga(contest):
    return make.user("olga")


def audit():
    return AuditEntry.objects.order_by("-pk").first()


def edit(contest, title, olga, **values):
    return EditPhase(by=olga, phase=contest[title], values=values)


def test_only_owners_and_editors_may(contest):
    charlie = make.user("charlie")
    phase = contest["Final[1]"]
    for action in (
        AddRound(by=charlie, contest=contest.contest, number=7),
        RemovePhase(by=charlie, phase=phase),
        EditPhase(by=charlie, phase=phase, values={"title": "Mine"}),
        EditTasks(by=charlie, phase=phase, edits=[]),
        MoveDates(by=charlie, contest=contest.contest, dates={}),
    ):
        with pytest.raises(Refused) as refused:
            action.execute()
        assert refused.value.status == 403


def test_a_round_is_added_renamed_and_removed_while_it_is_empty(contest, olga):
    AddRound(by=olga, contest=contest.contest, number=3, title="Expert").execute()
    made = contest.contest.rounds.get(number=3)
    with pytest.raises(Refused, match="round 3 already"):
        AddRound(by=olga, contest=contest.contest, number=3).execute()
    EditRound(by=olga, round=made, number=4, title="Master").execute()
    assert audit().text == "Round 3: Expert became Round 4: Master."
    made.refresh_from_db()
    RemoveRound(by=olga, round=made).execute()
    with pytest.raises(Refused, match=r"has phases: AutoML\[1\], Tweakathon"):
        RemoveRound(by=olga, round=contest["Tweakathon[1]"].round).execute()


def final_after(contest, before, **fields):
    parent = contest[before]
    hour = dt.timedelta(hours=1)
    opens = parent.closes_at + 5 * hour
    values = {"kind": "final", "title": "Final again", "parent": parent, "opens_at": opens}
    return {**values, "closes_at": opens + hour, "round": parent.round, **fields}


def test_a_phase_is_added_with_the_datasets_and_metrics_of_its_parent(contest, olga):
    Task.objects.filter(phase=contest["Tweakathon[0]"]).update(metric="BAC")
    values = final_after(contest, "Tweakathon[0]")
    action = AddPhase(by=olga, contest=contest.contest, values=values, copies_tasks=True, prizes=["100 €", "50 €"])
    action.execute()
    made = contest.contest.phases().get(title="Final again")
    assert made.number == 7
    assert [task.metric for task in made.tasks.all()] == ["BAC", "BAC"]
    assert [prize.title for prize in made.prizes.all()] == ["100 €", "50 €"]
    assert audit().text == "Final again was added, with the 2 datasets of Tweakathon[0]."


def test_a_phase_of_a_new_round_must_fit_beside_the_others_too(contest, olga):
    values = final_after(contest, "Tweakathon[0]", round=None, kind="automl", title="Blind")
    values |= {"opens_at": contest.at(11), "closes_at": contest.at(12)}
    with pytest.raises(Refused, match=r"AutoML\[1\] and Blind overlap"):
        AddPhase(by=olga, contest=contest.contest, values=values).execute()
    values |= {"opens_at": contest.at(13), "closes_at": contest.at(14)}
    AddPhase(by=olga, contest=contest.contest, values=values).execute()
    assert contest.contest.phases().get(title="Blind").round.number == 3


def test_what_belongs_to_another_competition_goes_into_no_phase(contest, olga):
    other = make.phase(make.competition(organizer=olga))
    with pytest.raises(Refused, match="no such round"):
        edit(contest, "Tweakathon[0]", olga, round=other.round).execute()
    with pytest.raises(Refused, match="belongs to another competition"):
        edit(contest, "Final[0]", olga, parent=other).execute()
    with pytest.raises(Refused, match="no such phase"):
        MoveDates(by=olga, contest=contest.contest, dates={other.pk: (contest.at(1), contest.at(2))}).execute()
    with pytest.raises(Refused, match="no such phase"):
        dataset = make.dataset(olga)
        AddTasks(by=olga, contest=contest.contest, datasets=[dataset], phases=[other]).execute()


def test_an_edit_shows_and_keeps_old_and_new_values(contest, olga, clock):
    finish(enter(contest["Tweakathon[0]"], make.user("alice")))
    clock.set(contest.at(1))
    action = edit(contest, "Tweakathon[0]", olga, tie_rule="shared", daily_quota=None)
    preview = action.preview(clock.now)
    assert [(one.label, one.old, one.new) for one in preview.changes] == [
        ("Submissions a day", "5", "no limit"),
        ("Ties", "the earlier submission wins", "the place is shared"),
    ]
    assert any("made anew from its 1 submission" in sentence for sentence in preview.sentences)
    assert any("the new quota holds from the next one on" in sentence for sentence in preview.sentences)
    assert contest["Tweakathon[0]"].tie_rule == "earlier", "a preview changes nothing"
    action.execute()
    assert contest["Tweakathon[0]"].tie_rule == "shared"
    assert audit().data["changes"][0] == {"field": "Submissions a day", "old": "5", "new": "no limit"}


def test_whoever_comes_second_with_an_old_form_overwrites_nothing(contest, olga):
    seen = seen_of(contest["Tweakathon[0]"])
    edit(contest, "Tweakathon[0]", olga, daily_quota=3).execute()
    late = EditPhase(by=olga, phase=contest["Tweakathon[0]"], values={"daily_quota": 9}, seen=seen)
    with pytest.raises(Refused, match="Somebody else has changed"):
        late.execute()
    assert contest["Tweakathon[0]"].daily_quota == 3


@pytest.mark.parametrize(
    "values",
    [{"wall_seconds": 5.0}, {"kind": "open"}, {"image": "x"}, {"repeats": 3}, {"convention": "libscores"}],
)
def test_what_runs_were_made_with_is_not_edited_in_passing(contest, olga, clock, values):
    enter(contest["Tweakathon[0]"], make.user("alice"))
    with pytest.raises(Refused):
        edit(contest, "Tweakathon[0]", olga, **values).execute()


def test_dates_of_several_phases_move_together_in_one_step(contest, olga, clock):
    dates = {
        contest[title].pk: (contest.at(opens), contest.at(closes))
        for title, opens, closes in (("Tweakathon[0]", 1, 11), ("Final[0]", 11, 12), ("AutoML[1]", 11, 12))
    }
    action = MoveDates(by=olga, contest=contest.contest, dates=dates)
    assert [one.label for one in action.preview(clock.now).changes] == [
        "Tweakathon[0]: opens",
        "Tweakathon[0]: closes",
        "Final[0]: opens",
        "AutoML[1]: opens",
    ]
    action.execute()
    assert contest["AutoML[1]"].opens_at == contest.at(11)
    assert AuditEntry.objects.count() == 1


def test_dates_that_break_the_protocol_are_told_by_phase_and_field(contest, olga, clock):
    action = MoveDates(
        by=olga, contest=contest.contest, dates={contest["Tweakathon[0]"].pk: (contest.at(0), contest.at(11))}
    )
    found = {(phase.title, problem.field) for phase, problem in action.problems(clock.now)}
    assert found == {("Final[0]", "opens_at"), ("AutoML[1]", "opens_at")}
    with pytest.raises(Refused, match="overlaps its parent"):
        action.execute()


@pytest.mark.parametrize(
    ("now", "opens", "closes", "why"),
    [
        (11, 0, 10.5, "has ended; its entries went forward"),
        (5, 6, 10, "it cannot open later"),
        (5, 0, 4, "cannot lie in the past"),
    ],
)
def test_dates_of_a_phase_with_submissions_stay_true_to_what_happened(
    contest, olga, clock, now, opens, closes, why
):
    enter(contest["Tweakathon[0]"], make.user("alice"))
    clock.set(contest.at(now))
    phase = contest["Tweakathon[0]"]
    wanted = (contest.at(opens), contest.at(closes))
    with pytest.raises(Refused, match=why):
        MoveDates(by=olga, contest=contest.contest, dates={phase.pk: wanted}).execute()
    with pytest.raises(Refused, match=why):
        edit(contest, "Tweakathon[0]", olga, opens_at=wanted[0], closes_at=wanted[1]).execute()


def test_a_phase_goes_only_while_nothing_depends_on_it(contest, olga):
    with pytest.raises(Refused, match=r"Final\[0\] and AutoML\[1\] come after"):
        RemovePhase(by=olga, phase=contest["Tweakathon[0]"]).execute()
    enter(contest["AutoML[2]"], make.user("alice"))
    with pytest.raises(Refused, match="has 1 submission"):
        RemovePhase(by=olga, phase=contest["AutoML[2]"]).execute()
    RemovePhase(by=olga, phase=contest["Final[1]"]).execute()
    assert not contest.contest.phases().filter(title="Final[1]").exists()


def test_phases_change_places_without_changing_dates(contest, olga):
    MovePhase(by=olga, phase=contest["Final[0]"], is_up=False).execute()
    assert [phase.title for phase in contest.contest.phases()][:3] == ["Tweakathon[0]", "AutoML[1]", "Final[0]"]
    with pytest.raises(Refused, match="the first already"):
        MovePhase(by=olga, phase=contest["Tweakathon[0]"], is_up=True).execute()


def test_only_a_competition_without_phases_is_filled_from_a_template(contest, olga):
    start = dt.datetime(2031, 1, 1, tzinfo=dt.UTC)
    with pytest.raises(Refused, match="has phases already"):
        FillFromBlueprint(by=olga, contest=contest.contest, blueprint="single", start=start).execute()
    empty = make.competition(organizer=olga)
    Round.objects.create(competition=empty, number=0, name="Old")
    FillFromBlueprint(by=olga, contest=empty, blueprint="three-phases", start=start).execute()
    assert [str(one) for one in empty.rounds.all()] == ["Round 0: Practice", "Round 1: Blind test"]
    assert empty.phases().count() == 3


def test_several_datasets_go_into_several_phases_and_what_is_there_stays(contest, olga, clock):
    enter(contest["Tweakathon[0]"], make.user("alice"))
    old = contest["Tweakathon[0]"].tasks.first().dataset
    new = make.dataset(olga)
    phases = [contest["Tweakathon[0]"], contest["AutoML[2]"]]
    action = AddTasks(by=olga, contest=contest.contest, datasets=[old, new], phases=phases)
    assert any("1 submission that never ran on it" in one for one in action.preview(clock.now).sentences)
    action.execute()
    assert contest["Tweakathon[0]"].tasks.count() == 3
    assert [task.order for task in contest["AutoML[2]"].tasks.all()] == [0, 1, 2, 3]
    with pytest.raises(Refused, match="have these datasets already"):
        action.execute()


def test_a_dataset_of_somebody_else_is_unknown(contest, olga):
    dataset = make.dataset(make.user("felix"))
    action = AddTasks(by=olga, contest=contest.contest, datasets=[dataset], phases=[contest["AutoML[2]"]])
    with pytest.raises(Refused, match="no such dataset"):
        action.execute()


def test_a_metric_must_fit_the_kind_of_task(contest, olga):
    action = AddTasks(
        by=olga,
        contest=contest.contest,
        datasets=[make.dataset(olga)],
        phases=[contest["AutoML[2]"]],
        metric="R2",
    )
    with pytest.raises(Refused, match="R2 does not score binary classification") as refused:
        action.execute()
    assert refused.value.mend == "Choose BAC, AUC, F1, PAC."


def test_datasets_of_a_phase_are_ordered_named_timed_and_taken_out_in_one_step(contest, olga, clock):
    phase = contest["AutoML[2]"]
    one, two = phase.tasks.all()
    edits = [TaskEdit(one.pk, 1, is_removed=True), TaskEdit(two.pk, 0, "secret", "BAC", 30)]
    action = EditTasks(by=olga, phase=phase, edits=edits)
    labels = [change.label for change in action.preview(clock.now).changes]
    assert labels == [
        one.dataset.title,
        *(f"{two.dataset.title}: {what}" for what in ("place", "alias", "metric", "seconds")),
    ]
    action.execute()
    (left,) = phase.tasks.all()
    assert (left.name, left.order, left.metric, left.wall_seconds) == ("secret", 0, "BAC", 30)
    assert audit().data["changes"][0] == {"field": one.dataset.title, "old": "in the phase", "new": "taken out"}
    assert audit().text == (
        f"In {phase.title}: {one.dataset.title} was taken out; {two.dataset.title} was moved from place 2 to 1 "
        "and had its alias changed from none to secret and had its metric changed from the dataset's own to BAC "
        "and had its seconds changed from the phase's to 30."
    )


def test_datasets_with_runs_keep_what_their_scores_mean(contest, olga):
    phase = contest["Tweakathon[0]"]
    enter(phase, make.user("alice"))
    one, two = phase.tasks.all()
    for wrong in (
        TaskEdit(one.pk, 0, is_removed=True),
        TaskEdit(one.pk, 0, metric="BAC"),
        TaskEdit(one.pk, 0, wall_seconds=9),
    ):
        with pytest.raises(Refused, match="runs exist"):
            EditTasks(by=olga, phase=phase, edits=[wrong]).execute()
    EditTasks(by=olga, phase=phase, edits=[TaskEdit(one.pk, 5, alias="first")]).execute()
    assert [task.pk for task in phase.tasks.all()] == [two.pk, one.pk]


def test_two_datasets_of_a_phase_never_go_by_one_name(contest, olga):
    phase = contest["AutoML[2]"]
    one, two = phase.tasks.all()
    seen = tasks_seen(list(phase.tasks.all()))
    action = EditTasks(by=olga, phase=phase, edits=[TaskEdit(one.pk, 0, alias="dataset2")], seen=seen)
    assert [(task, name) for task, name, _ in action.problems()] == [(two.pk, "alias")]
    with pytest.raises(Refused, match="goes by the name dataset2 already"):
        action.execute()


def test_a_change_of_budget_shows_and_keeps_old_and_new_values(contest, olga, clock):
    finish(enter(contest["Tweakathon[0]"], make.user("alice")))
    numbers = PRESETS["2018"].fields(0)
    action = ChangeBudget(by=olga, phase=contest["Tweakathon[0]"], any_time=False, **numbers)
    preview = action.preview(clock.now)
    assert [(one.label, one.old, one.new) for one in preview.changes] == [
        ("Seconds for each dataset", "each dataset's own", "1,200"),
        ("Cores", "all that the worker has", "2"),
        ("Memory", "all that the worker has", "8 GiB"),
        ("Any-time rule", "yes", "no"),
    ]
    assert preview.rerun == 2
    action.execute()
    entry = audit()
    assert "Cores all that the worker has → 2" in entry.text
    assert entry.data["changes"][1] == {"field": "Cores", "old": "all that the worker has", "new": "2"}
    phase = contest["Tweakathon[0]"]
    assert (phase.cores, phase.any_time, phase.image) == (2, False, "")
    run = phase.submissions.get().runs.first()
    assert (run.state, run.any_time) == ("queued", False)


def test_an_image_that_the_operator_does_not_allow_comes_into_no_budget(contest, olga):
    phase = contest["Tweakathon[0]"]
    action = ChangeBudget(by=olga, phase=phase, wall_seconds=None, cores=None, memory_bytes=None, image="evil:1")
    with pytest.raises(Refused, match="does not allow"):
        action.execute()


def test_an_image_that_was_taken_away_stops_no_other_edit(contest, olga):
    Phase.objects.filter(title="Tweakathon[0]").update(image="gone:1")
    edit(contest, "Tweakathon[0]", olga, daily_quota=3).execute()
    assert contest["Tweakathon[0]"].daily_quota == 3
    with pytest.raises(Refused, match="does not allow the image other:1"):
        edit(contest, "Tweakathon[0]", olga, image="other:1").execute()


def test_everything_of_a_phase_can_be_set_by_its_form():
    from competitions.actions.wording import LABELS

    kept = {"id", "number", "released_at"}  # given by the competition's order, and by the release
    # What a bundle says of phases that its programs score.
    kept |= {"hidden_columns", "hides_output", "hides_scores", "shows_details", "scores_failed_ingestion"}
    kept |= {"fans_out_from"}
    assert set(LABELS) == {field.name for field in Phase._meta.concrete_fields} - kept


def test_a_draft_is_a_competition_too(olga):
    draft = make.competition(organizer=olga, state=Competition.State.DRAFT)
    AddRound(by=olga, contest=draft, number=0).execute()
    assert draft.rounds.count() == 1
