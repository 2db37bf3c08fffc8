"""Properties of the pure rules of the protocol, over many series of phases and entries."""

import datetime as dt

from hypothesis import given
from hypothesis import strategies as st

from competitions.lifecycle import Entry, Step, due_handovers, due_reveals, handover_step, takes_over_at
from competitions.models import Competition, Phase, Round
from competitions.protocol_check import check_protocol

NOW = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)
SECOND = dt.timedelta(seconds=1)
Kind = Phase.Kind
ROUND = Round(number=0, competition=Competition(title="A contest"))

hours = st.integers(-50, 50)


@st.composite
def chains(draw):
    """Phases that follow each other, each the child of the one before, with gaps of some hours."""
    at = NOW + dt.timedelta(hours=draw(hours))
    parent, phases = None, []
    for number in range(1, draw(st.integers(1, 7)) + 1):
        kind = Kind.TWEAKATHON if parent is None else draw(st.sampled_from([Kind.TWEAKATHON, Kind.AUTOML]))
        opens = at + dt.timedelta(hours=draw(st.integers(0, 5)))
        at = opens + dt.timedelta(hours=draw(st.integers(1, 9)))
        phase = Phase(
            pk=number,
            round=ROUND,
            number=number,
            kind=kind,
            title=f"Phase {number}",
            opens_at=opens,
            closes_at=at,
            parent=parent,
            carry_over=parent is not None,
        )
        phases.append(phase)
        parent = phase
    return phases


entries = st.lists(
    st.builds(
        Entry,
        submission_id=st.integers(1, 10**6),
        received_at=st.builds(lambda h: NOW + dt.timedelta(hours=h), st.integers(-5, 5)),
        is_active=st.booleans(),
        competes=st.booleans(),
        is_chosen=st.booleans(),
    ),
    max_size=8,
    unique_by=lambda entry: entry.submission_id,
)


@given(chains(), hours)
def test_what_is_due_stays_due_and_parents_come_before_children(phases, later):
    now = NOW + dt.timedelta(hours=later)
    due = due_handovers(phases, now)
    assert due == sorted(due, key=lambda phase: phase.number)
    assert set(due) <= set(due_handovers(phases, now + dt.timedelta(days=400)))
    for phase in due:
        assert phase.parent.has_ended(now) and phase.has_begun(now)


@given(chains())
def test_a_hand_over_is_due_from_its_moment_and_not_a_second_before(phases):
    for phase in phases:
        at = takes_over_at(phase)
        if at is None:
            assert phase.parent is None
            continue
        assert phase in due_handovers(phases, at)
        assert phase not in due_handovers(phases, at - SECOND)


@given(chains(), hours)
def test_datasets_are_revealed_only_by_a_blind_phase_that_has_closed(phases, later):
    now = NOW + dt.timedelta(hours=later)
    for phase in due_reveals(phases, {phase.pk for phase in phases}, now):
        assert phase.is_blind and phase.closes_at <= now
    assert due_reveals(phases, set(), now) == []


@given(chains())
def test_a_chain_of_phases_is_a_protocol(phases):
    datasets = {phase.number: [phase.number * 2, phase.number * 2 + 1] for phase in phases}
    assert not [problem for problem in check_protocol(phases, datasets) if not problem.is_warning]


@given(entries, st.sampled_from(["latest", "chosen"]), st.integers(-3, 3))
def test_a_step_depends_only_on_what_competes_and_never_takes_what_still_runs(found, counts, extended):
    until = NOW + dt.timedelta(hours=extended)
    step, taken = handover_step(found, counts=counts, extended_until=until, now=NOW)
    competing = [entry for entry in found if entry.competes]
    assert (step, taken) == handover_step(competing[::-1], counts=counts, extended_until=until, now=NOW)
    if until > NOW:
        assert step is Step.WAIT
    elif not competing:
        assert step is Step.NOTHING
    if step is Step.TAKE:
        by_id = {entry.submission_id: entry for entry in found}
        assert by_id[taken].competes and not by_id[taken].is_active
        if counts == "latest" or not any(entry.is_chosen for entry in competing):
            assert by_id[taken].received_at == max(entry.received_at for entry in competing)
    else:
        assert taken is None


@given(entries)
def test_whoever_waits_is_taken_as_soon_as_everything_has_ended(found):
    ended = [
        Entry(entry.submission_id, entry.received_at, False, entry.competes, entry.is_chosen) for entry in found
    ]
    for counts in ("latest", "chosen"):
        step, _ = handover_step(ended, counts=counts, now=NOW)
        assert step is not Step.WAIT
