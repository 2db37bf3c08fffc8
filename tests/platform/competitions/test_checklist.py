"""What a competition still needs before it can be published: rules on facts, without a database."""

import datetime as dt
from dataclasses import replace

import pytest

from competitions import checklist
from competitions.models import Competition, Phase, Round
from competitions.protocol_check import check_protocol
from tests.platform import factories as make

NOW = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
CONTEST = Competition(title="C", summary="S", overview="O", rules="R")


def phase(number, kind="tweakathon", *, opens=1, closes=10, parent=None, **fields):
    return Phase(
        pk=number,
        number=number,
        round=Round(number=0, competition=CONTEST),
        title=f"P{number}",
        kind=kind,
        opens_at=NOW + dt.timedelta(days=opens),
        closes_at=NOW + dt.timedelta(days=closes),
        parent=parent,
        **fields,
    )


def facts(*phases, tasks=None, unscored=None, contest=CONTEST):
    tasks = {one.pk: 2 for one in phases} if tasks is None else tasks
    datasets = {one.number: list(range(tasks.get(one.pk, 0))) for one in phases}
    problems = check_protocol(phases, datasets, now=NOW)
    return checklist.Facts(contest, phases, problems, tasks, unscored or {}, NOW)


def said(items):
    return [item.text for item in items]


def test_a_whole_competition_misses_nothing_and_needs_no_advice():
    first = phase(1)
    whole = facts(first, phase(2, "final", opens=10, closes=12, parent=first))
    assert checklist.missing(whole) == []
    assert checklist.advised(whole) == []
    assert all(item.is_done for item in checklist.check(whole))


def test_without_phases_that_alone_is_said():
    assert said(checklist.missing(facts())) == ["It has no phases"]


def test_a_phase_that_takes_submissions_is_needed():
    parent = phase(1, "open")
    alone = facts(phase(2, "final", opens=10, closes=12, parent=parent))
    assert "No phase takes submissions" in said(checklist.missing(alone))


def test_the_first_phase_needs_datasets_and_later_ones_may_get_them_later():
    first = phase(1)
    final = phase(2, "final", opens=10, closes=12, parent=first)
    assert said(checklist.missing(facts(first, final, tasks={2: 2}))) == ["P1 has no datasets"]
    later = facts(first, final, tasks={1: 2})
    assert checklist.missing(later) == []
    assert said(checklist.advised(later)) == ["No datasets yet: P2"]


def test_an_open_phase_without_datasets_is_missed_once():
    assert said(checklist.missing(facts(phase(1, opens=-1), tasks={}))) == ["P1 has no datasets"]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"opens": 10, "closes": 5}, "reversed"),
        ({"kind": "final"}, "has no parent"),
        ({"carry_over": True}, "carries entries over"),
    ],
)
def test_dates_and_parents_against_the_protocol_are_missing_things(fields, says):
    broken = facts(phase(1), phase(2, **fields))
    assert any(says in text for text in said(checklist.missing(broken)))


def test_many_empty_phases_are_one_line():
    first = phase(1)
    others = [phase(number, "open") for number in range(2, 7)]
    advice = said(checklist.advised(facts(first, *others, tasks={1: 1})))
    assert advice == ["No datasets yet: P2, P3 and 3 more"]


def test_datasets_that_cannot_be_scored_are_counted_and_not_named():
    missing = said(checklist.missing(facts(phase(1), unscored={1: 2})))
    assert missing == ["In P1 2 datasets have no solution of the validation part, so nothing can be scored"]


def test_a_list_that_lets_nobody_in_is_missed():
    contest = Competition(title="C", summary="S", overview="O", rules="R", registration="allow_list")
    assert "Nobody can join" in said(checklist.missing(facts(phase(1), contest=contest)))[0]
    contest.allowed_emails = "a@x.org\n@y.org"
    assert checklist.missing(facts(phase(1), contest=contest)) == []


def test_a_private_competition_without_a_list_lets_nobody_in_either():
    contest = Competition(title="C", summary="S", overview="O", rules="R", visibility="private")
    assert "Nobody finds the way in" in said(checklist.missing(facts(phase(1), contest=contest)))[0]
    contest.allowed_emails = "@y.org"
    assert checklist.missing(facts(phase(1), contest=contest)) == []


def test_a_competition_that_was_never_rehearsed_is_told():
    never = replace(facts(phase(1)), was_rehearsed=False)
    assert [item.key for item in checklist.advised(never)] == ["rehearsal"]


@pytest.mark.parametrize("name", ["summary", "overview", "rules"])
def test_a_text_that_is_not_written_is_advice(name):
    contest = Competition(**{"title": "C", "summary": "S", "overview": "O", "rules": "R", name: " \n"})
    found = facts(phase(1), contest=contest)
    assert checklist.missing(found) == []
    assert [item.key for item in checklist.advised(found)] == [name]


def test_a_phase_without_any_quota_and_one_that_is_over_are_told():
    free = phase(1, opens=-9, closes=-1, daily_quota=None)
    advice = [item.key for item in checklist.advised(facts(free))]
    assert advice == ["quota", "over"]


def test_every_line_names_a_section_of_the_studio():
    from pages.studio import SECTIONS

    contest = Competition(title="C", registration="allow_list")
    worst = facts(phase(1, daily_quota=None), phase(2, "final"), tasks={}, unscored={1: 1}, contest=contest)
    found = {item.section for item in checklist.check(worst)}
    assert found <= {section.key for section in SECTIONS}


def test_the_facts_are_read_with_few_queries_however_many_phases_there_are(db, django_assert_num_queries):
    contest = make.competition(overview="O", summary="S", rules="R")
    for number in range(4):
        make.phase(contest, kind="open", title=f"P{number}")
    with django_assert_num_queries(6):
        found = checklist.gathered(contest, NOW)
    assert checklist.missing(found) == []
    first = found.phases[0]
    first.tasks.first().dataset.versions.update(has_valid_solution=False)
    again = checklist.gathered(contest, NOW)
    assert again.unscored == {first.pk: 1}
    assert checklist.missing(replace(again, unscored={})) == []
