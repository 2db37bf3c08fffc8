"""Which phases make a protocol, and in which sentence the others are refused."""

import datetime as dt

import pytest
from django.core.exceptions import ValidationError

from competitions.models import Competition, Phase, Round
from competitions.protocol_check import check_competition, check_protocol
from tests.platform import factories as make
from tests.platform.series import series

NOW = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)
CONTEST = Competition(pk=1, title="A contest")
ROUND = Round(number=0, competition=CONTEST)
Kind = Phase.Kind


def phase(number, kind, opens, closes, parent=None, **fields):
    return Phase(
        **{
            "round": ROUND,
            "number": number,
            "title": f"Phase {number}",
            "kind": kind,
            "opens_at": NOW + dt.timedelta(hours=opens),
            "closes_at": None if closes is None else NOW + dt.timedelta(hours=closes),
            "parent": parent,
            **fields,
        }
    )


def found(*phases, datasets=None, **more):
    """The refusals and the warnings, as their sentences."""
    datasets = datasets or {one.number: [one.number] for one in phases}
    problems = check_protocol(phases, datasets, **more)
    return [
        [problem.message for problem in problems if problem.is_warning is is_warning]
        for is_warning in (False, True)
    ]


def test_a_tweakathon_its_final_and_the_next_blind_phase_are_in_order():
    first = phase(1, Kind.TWEAKATHON, 0, 10)
    final, blind = phase(2, Kind.FINAL, 10, 12, first), phase(3, Kind.AUTOML, 10, 12, first)
    second = phase(4, Kind.TWEAKATHON, 12, 20, blind, carry_over=True)
    datasets = {1: [1, 2], 2: [1, 2], 3: [3, 4], 4: [3, 4]}
    assert found(first, final, blind, second, datasets=datasets) == [[], []]


def test_reversed_dates_are_refused():
    assert found(phase(1, Kind.TWEAKATHON, 3, 2)) == [
        ["Phase 1 is reversed: it closes before it opens, or at the same moment."],
        [],
    ]


def test_two_phases_of_one_kind_overlap_unless_their_tracks_differ():
    first = phase(1, Kind.TWEAKATHON, 0, 10)
    assert found(first, phase(2, Kind.TWEAKATHON, 9, 12))[0] == ["Phase 1 and Phase 2 overlap."]
    assert found(first, phase(2, Kind.TWEAKATHON, 10, 12))[0] == []
    assert found(first, phase(2, Kind.TWEAKATHON, 9, 12, track="gpu"))[0] == []
    assert found(first, phase(2, Kind.OPEN, 9, 12))[0] == []


def test_a_phase_cannot_begin_before_the_parent_whose_entries_it_takes_has_closed():
    parent = phase(1, Kind.TWEAKATHON, 0, 10)
    assert found(parent, phase(2, Kind.FINAL, 9, 12, parent))[0] == [
        "Phase 2 overlaps its parent Phase 1, which closes after it opens."
    ]
    endless = phase(1, Kind.TWEAKATHON, 0, None)
    assert found(endless, phase(2, Kind.FINAL, 9, 12, endless))[0] == [
        "Phase 2 takes over the entries of Phase 1, which never closes."
    ]


def test_a_parent_that_comes_later_is_refused():
    later = phase(1, Kind.TWEAKATHON, 5, 10)
    assert found(later, phase(2, Kind.AUTOML, 1, 2, later))[0] == [
        "Phase 1, the parent of Phase 2, comes later or at the same time."
    ]


def test_a_parent_of_another_competition_is_refused():
    stranger = phase(1, Kind.TWEAKATHON, 0, 1, round=Round(number=0, competition=Competition(pk=2, title="B")))
    assert found(phase(2, Kind.AUTOML, 1, 2, stranger))[0] == [
        "The parent of Phase 2 belongs to another competition."
    ]


def test_a_circle_of_parents_is_refused():
    one = phase(1, Kind.TWEAKATHON, 0, 1, carry_over=True)
    two = phase(2, Kind.AUTOML, 1, 2, one)
    one.parent = two
    assert "Phase 2 comes from itself, by its parents." in found(one, two)[0]


def test_a_phase_without_datasets_is_a_warning_until_it_opens():
    one = phase(1, Kind.TWEAKATHON, 0, 1)
    before, after = NOW - dt.timedelta(seconds=1), NOW
    sentence = "Phase 1 has no datasets."
    assert found(one, datasets={9: [1]}, now=before) == [[], [sentence]]
    assert found(one, datasets={9: [1]}, now=after) == [[sentence], []]


def test_a_blind_phase_on_datasets_that_were_shown_before_is_warned_of():
    first = phase(1, Kind.TWEAKATHON, 0, 10)
    blind = phase(2, Kind.AUTOML, 10, 12, first)
    assert found(first, blind, datasets={1: [1, 2], 2: [2, 3]})[1] == [
        "Phase 2 is blind, but Phase 1 shows one of its datasets before."
    ]


def test_a_blind_phase_may_share_its_datasets_with_the_tweakathon_that_opens_when_it_closes():
    first = phase(1, Kind.TWEAKATHON, 0, 10)
    blind = phase(2, Kind.AUTOML, 10, 12, first)
    second = phase(3, Kind.TWEAKATHON, 12, 20, blind, carry_over=True)
    assert found(first, blind, second, datasets={1: [1], 2: [2], 3: [2]})[1] == []


def test_a_final_with_other_datasets_than_its_parent_is_warned_of():
    first = phase(1, Kind.TWEAKATHON, 0, 10)
    final = phase(2, Kind.FINAL, 10, 12, first)
    assert found(first, final, datasets={1: [1, 2], 2: [1]})[1] == [
        "Phase 2 has other datasets than Phase 1, whose entries it reveals."
    ]


def test_a_blind_phase_after_one_that_takes_results_only_is_refused():
    first = phase(1, Kind.TWEAKATHON, 0, 10, accepts="results")
    assert found(first, phase(2, Kind.AUTOML, 10, 12, first))[0] == [
        "Phase 1 takes results only, so no code could ever reach Phase 2."
    ]


def test_two_datasets_of_one_name_are_refused():
    one = phase(1, Kind.TWEAKATHON, 0, 1)
    assert found(one, datasets={1: [1, 2]}, names={1: ["ada", "ada"]})[0] == [
        "Two datasets of Phase 1 go by the name ada."
    ]


@pytest.mark.django_db
def test_the_phases_of_a_series_are_read_from_the_database_in_a_bounded_number_of_queries(
    django_assert_max_num_queries,
):
    contest = series(NOW)
    phases = list(contest.contest.phases())
    with django_assert_max_num_queries(3):
        assert check_competition(phases, now=NOW + dt.timedelta(days=9)) == []


@pytest.mark.django_db
def test_a_phase_edited_alone_is_checked_against_its_neighbours_and_children():
    contest = series(NOW)
    first = contest["Tweakathon[0]"]
    first.closes_at = contest.at(11)
    with pytest.raises(ValidationError, match="overlaps its parent"):
        first.clean()
    second = contest["Tweakathon[1]"]
    second.opens_at = contest.at(11)
    with pytest.raises(ValidationError, match="overlap"):
        second.clean()
    contest["Final[0]"].clean()


@pytest.mark.django_db
def test_metric_budget_and_dataset_of_a_task_with_runs_are_not_edited_in_passing():
    contest = series(NOW)
    task = contest["Tweakathon[0]"].tasks.first()
    task.metric = "BAC"
    task.clean()
    make.submission(contest["Tweakathon[0]"], make.user("alice"))
    for field, value in (("metric", "BAC"), ("wall_seconds", 5.0), ("dataset", make.dataset(make.user("olga")))):
        task.refresh_from_db()
        setattr(task, field, value)
        with pytest.raises(ValidationError, match="manage page"):
            task.clean()
    phase = contest["Tweakathon[0]"]
    for field, value in (("wall_seconds", 5.0), ("convention", "libscores"), ("kind", "open"), ("cores", 1)):
        phase.refresh_from_db()
        setattr(phase, field, value)
        with pytest.raises(ValidationError, match="manage page"):
            phase.clean()


@pytest.mark.django_db
def test_datasets_of_a_blind_phase_go_by_neutral_names_that_follow_their_places():
    contest = series(NOW)
    blind = contest["AutoML[1]"]
    assert [task.name for task in blind.tasks.all()] == ["dataset1", "dataset2"]
    more = make.dataset(make.user("olga"), "secret")
    added = blind.tasks.create(dataset=more)
    assert added.name == "dataset3"
    blind.tasks.update(alias="")
    assert not any(task.dataset.slug in task.name for task in blind.tasks.all())
