"""Bundles of CodaLab become what they say."""

import datetime as dt

import pytest

from bundles.reading.contest import Accepts, Computation, Rule
from tests.platform.bundles.reading.test_version2 import contest_of, warned
from tests.platform.bundles.reading.writing import ONE, PROGRAM, Writer, added, changed

SECOND = """  2:
    phasenumber: 2
    label: Final
    start_date: 2026-03-01
    scoring_program: scoring_program.zip
"""
WITH_SECOND = changed(ONE, ("leaderboard:\n  leaderboards", SECOND + "leaderboard:\n  leaderboards"))


def day(*parts: int) -> dt.datetime:
    return dt.datetime(*parts, tzinfo=dt.UTC)  # type: ignore[misc]


def test_a_plain_bundle_is_read_without_a_warning(bundle: Writer) -> None:
    report = bundle.one()
    contest = contest_of(report)
    assert report.ok and not report.warnings and not report.questions
    assert (report.version, contest.layout, contest.title) == ("1.5", 1, "Iris")
    assert contest.terms is not None and contest.terms.is_html
    phase = contest.phases[0]
    assert (phase.daily_quota, phase.total_quota, phase.wall_seconds) == (999, 100, 300.0)
    assert phase.accepts is Accepts.ANY and phase.ends_at is None
    assert not contest.approves_registration


def test_a_phase_ends_when_the_next_begins_and_the_last_at_the_end_of_the_contest(bundle: Writer) -> None:
    first, final = contest_of(bundle.one(added(WITH_SECOND, "end_date: 2026-05-01 12:00:00+02:00\n"))).phases
    assert first.ends_at is not None and first.ends_at.utc == day(2026, 3, 1)
    assert final.ends_at is not None and final.ends_at.utc == day(2026, 5, 1, 10)


@pytest.mark.parametrize("end", ["", "null", "''"])
def test_an_empty_end_is_none(bundle: Writer, end: str) -> None:
    report = bundle.one(added(WITH_SECOND, f"end_date: {end}\n"))
    assert contest_of(report).phases[1].ends_at is None
    assert not report.warnings


def test_a_phase_may_never_end(bundle: Writer) -> None:
    yaml = changed(WITH_SECOND, ("start_date: 2026-01-01", "start_date: 2026-01-01\n    phase_never_ends: True"))
    assert contest_of(bundle.one(yaml)).phases[0].ends_at is None


def test_phases_may_be_keyed_from_zero_or_be_a_list(bundle: Writer) -> None:
    keyed = changed(
        WITH_SECOND, ("  1:\n    phasenumber: 1\n", "  0:\n"), ("  2:\n    phasenumber: 2\n", "  1:\n")
    )
    listed = changed(WITH_SECOND, ("  1:\n    phasenumber: 1\n", "  -\n"), ("  2:\n    phasenumber: 2\n", "  -\n"))
    for yaml in (keyed, listed):
        assert [phase.name for phase in contest_of(bundle.one(yaml)).phases] == ["Development", "Final"]


def test_phases_that_begin_together_end_together_with_a_warning(bundle: Writer) -> None:
    yaml = added(changed(WITH_SECOND, ("2026-03-01", "2026-01-01")), "end_date: 2026-05-01\n")
    report = bundle.one(yaml)
    assert [phase.ends_at.utc for phase in contest_of(report).phases if phase.ends_at] == [day(2026, 5, 1)] * 2
    assert warned(report, "same time")


def test_a_quota_of_zero_is_none(bundle: Writer) -> None:
    lines = "start_date: 2026-01-01\n    max_submissions: 0\n    max_submissions_per_day: 0"
    report = bundle.one(changed(ONE, ("start_date: 2026-01-01", lines)))
    phase = contest_of(report).phases[0]
    assert (phase.daily_quota, phase.total_quota) == (0, 0)
    assert not report.questions


def test_a_phase_without_a_scoring_program_takes_nothing(bundle: Writer) -> None:
    yaml = changed(WITH_SECOND, ("2026-03-01\n    scoring_program: scoring_program.zip", "2026-03-01"))
    report = bundle.one(yaml)
    pause = contest_of(report).phases[1]
    assert pause.tasks == () and pause.daily_quota == 0
    assert warned(report, "no scoring program")


def test_a_scoring_only_phase_takes_results(bundle: Writer) -> None:
    yaml = changed(ONE, ("start_date: 2026-01-01", "start_date: 2026-01-01\n    is_scoring_only: True"))
    assert contest_of(bundle.one(yaml)).phases[0].accepts is Accepts.RESULTS


@pytest.mark.parametrize(
    ("lines", "rule"),
    [
        ("force_submission_to_leaderboard: True", Rule.FORCE_LAST),
        ("force_submission_to_leaderboard: 'true'\ndisallow_leaderboard_modifying: true", Rule.FORCE_LAST),
        ("disallow_leaderboard_modifying: True", Rule.ADD),
        ("", Rule.ADD_AND_DELETE),
    ],
)
def test_the_flags_say_which_rule_stands(bundle: Writer, lines: str, rule: Rule) -> None:
    assert contest_of(bundle.one(added(ONE, lines + "\n"))).boards[0].rule is rule


def test_a_phase_may_force_the_best(bundle: Writer) -> None:
    lines = "start_date: 2026-01-01\n    force_best_submission_to_leaderboard: True"
    yaml = added(changed(ONE, ("start_date: 2026-01-01", lines)), "force_submission_to_leaderboard: true\n")
    assert contest_of(bundle.one(yaml)).boards[0].rule is Rule.FORCE_BEST


BOARDS = """
title: Two boards
html: {overview: overview.html, terms: terms.html}
phases:
  1: {phasenumber: 1, label: One, start_date: 2026-01-01, scoring_program: scoring_program.zip,
      hidden_columns: "time, nothing"}
leaderboard:
  leaderboards:
    TWO: &TWO {label: Second, rank: 2}
    ONE: &ONE {label: First, rank: 1}
  column_groups:
    SPAN: &SPAN {label: Span only}
  columns:
    a: {leaderboard: *ONE, label: A, rank: 3, numeric_format: 4, column_group: *SPAN}
    b: {leaderboard: *ONE, label: B, rank: 2, sort: asc, numeric_format: "%.3f"}
    rank: {leaderboard: *ONE, label: "<Rank>", rank: 1, sort: asc, selection_default: 1,
           computed: {operation: Avg, fields: "a, b", weights: "2,1"}}
    time: {leaderboard: *TWO, label: Time, rank: 1}
    both: {leaderboard: *TWO, label: Both, computed: {operation: Avg, fields: [a, time]}}
"""


def test_two_boards_keep_groups_ranks_and_averages_of_ranks(bundle: Writer) -> None:
    report = bundle.one(BOARDS)
    first, second = contest_of(report).boards
    assert (first.title, second.title) == ("First", "Second")
    assert [column.key for column in first.columns] == ["rank", "b", "a"]
    rank, b, a = first.columns
    assert (rank.computation, rank.fields, rank.weights) == (Computation.MEAN_RANK, ("a", "b"), (2.0, 1.0))
    assert rank.is_ascending and first.primary == "rank"
    assert (a.group, a.precision, b.precision, b.is_ascending) == ("Span only", 4, 3, True)
    assert contest_of(report).phases[0].hidden_columns == ("time",)
    assert warned(report, "nothing")


def test_a_column_of_another_board_comes_along_hidden(bundle: Writer) -> None:
    second = contest_of(bundle.one(BOARDS)).boards[1]
    assert [(column.key, column.is_hidden) for column in second.columns] == [
        ("time", False),
        ("both", False),
        ("a", True),
    ]
    assert second.primary == "time"


def test_boards_may_be_named_by_text_or_missing(bundle: Writer) -> None:
    by_name = changed(ONE, ("leaderboard: *RESULTS", "leaderboard: RESULTS"))
    assert contest_of(bundle.one(by_name)).boards[0].title == "Results"
    without = changed(ONE, ("      leaderboard: *RESULTS\n", ""), ("      rank: 1\n  columns", "  columns"))
    assert contest_of(bundle.one(without)).boards[0].title == "Results"


def test_anchors_may_stand_at_the_columns(bundle: Writer) -> None:
    declared = "  leaderboards:\n    RESULTS: &RESULTS\n      label: Results\n      rank: 1\n"
    yaml = changed(ONE, (declared, ""), ("leaderboard: *RESULTS", "leaderboard: &id001 {label: Results, rank: 1}"))
    report = bundle.one(yaml + "      college: null\n  leaderboards:\n    Results: *id001\n")
    assert contest_of(report).boards[0].title == "Results"
    assert warned(report, "college")


PARALLEL = """
title: Many datasets
html: {overview: overview.html, terms: terms.html}
phases:
  1: {phasenumber: 1, label: All, start_date: 2026-01-01, is_parallel_parent: True, is_scoring_only: True,
      scoring_program: scoring_program.zip}
  2: {phasenumber: 2, label: First, start_date: 2026-01-01, parent_phasenumber: 1, is_scoring_only: True,
      scoring_program: scoring_program.zip, ingestion_program: ingest.zip,
      ingestion_program_only_during_scoring: True}
  3: {phasenumber: 3, label: Second, start_date: 2026-01-01, parent_phasenumber: 1,
      scoring_program: scoring_program.zip}
  4: {phasenumber: 4, label: After, start_date: 2026-02-01, scoring_program: scoring_program.zip}
leaderboard:
  columns:
    score: {label: Score, leaderboard: {label: Results, rank: 1}}
"""


def test_parallel_children_fan_out_of_their_parent_and_last_as_long(bundle: Writer) -> None:
    report = bundle.one(PARALLEL, {"ingest.zip": PROGRAM})
    parent, first, second, after = contest_of(report).phases
    assert (parent.fans_out_from, first.fans_out_from, second.fans_out_from) == (None, 0, 0)
    assert after.fans_out_from is None
    assert {phase.ends_at.utc for phase in (parent, first, second) if phase.ends_at} == {day(2026, 2, 1)}
    assert parent.accepts is Accepts.ANY and first.accepts is Accepts.ANY
    assert contest_of(report).tasks[first.tasks[0]].overlaps


def test_a_parent_passes_on_what_is_sent_and_its_own_scoring_program_is_left_out(bundle: Writer) -> None:
    report = bundle.one(PARALLEL, {"ingest.zip": PROGRAM})
    parent = contest_of(report).phases[0]
    assert parent.tasks == () and parent.total_quota > 0
    assert len(report.warnings) == 1 and warned(report, "gathers the scores of its parallel phases")


def test_a_parent_without_children_scores_by_itself(bundle: Writer) -> None:
    alone = PARALLEL.replace(" parent_phasenumber: 1,", "")
    report = bundle.one(alone, {"ingest.zip": PROGRAM})
    assert contest_of(report).phases[0].tasks == (0,)


def test_settings_of_phases_are_kept(bundle: Writer) -> None:
    lines = """start_date: 2026-01-01
    color: green
    leaderboard_management_mode: hide_results
    execution_time_limit: 1200
    default_docker_image: one/image:1
    scoring_program_docker_image: two/image:2
    max_submission_size: 3
    public_data: reference_data.zip
    datasets:
      1: {name: Corpus, url: "https://data.example/corpus", description: Words}
      2: {name: Odd, url: "javascript:alert(1)"}"""
    yaml = added(changed(ONE, ("start_date: 2026-01-01", lines)), "competition_docker_image: zero/image\n")
    contest = contest_of(bundle.one(yaml))
    phase = contest.phases[0]
    assert phase.hides_board and phase.hides_scores and phase.wall_seconds == 1200
    assert (phase.image, phase.scoring_image, phase.ingestion_image) == ("one/image:1", "two/image:2", "")
    assert contest.images == ("zero/image", "one/image:1", "two/image:2")
    assert phase.max_submission_bytes == 3 << 20 and phase.public_data is not None
    assert [link.url for link in phase.links] == ["https://data.example/corpus"]
    assert any("colours" in sentence for sentence in contest.unsayable)


def test_migration_is_forced_off_in_the_first_phase(bundle: Writer) -> None:
    yaml = WITH_SECOND.replace("    scoring_program:", "    auto_migration: True\n    scoring_program:")
    assert [phase.takes_over for phase in contest_of(bundle.one(yaml)).phases] == [False, True]


def test_pages_may_be_few_and_have_any_name(bundle: Writer) -> None:
    yaml = changed(ONE, ("  terms: terms.html", "  get_starting_kit: kit.html\n  data:"))
    report = bundle.one(yaml, {"kit.html": "<p>Kit</p>"})
    contest = contest_of(report)
    assert contest.terms is None
    assert [page.title for page in contest.pages] == ["Overview", "Get starting kit"]
    assert warned(report, "no terms") and warned(report, "data")


def test_settings_of_the_whole_contest_are_kept(bundle: Writer) -> None:
    lines = """
    has_registration: True
    anonymous_leaderboard: true
    allow_teams: true
    enable_detailed_results: true
    admin_names: one, two
    require_team_approval: true
    reward: 100
    """
    contest = contest_of(bundle.one(added(ONE, lines)))
    assert contest.approves_registration and contest.board_is_anonymous and contest.allows_teams
    assert contest.shows_details and contest.reward == "100"
    assert any(sentence.startswith("admin_names: one, two") for sentence in contest.unsayable)
    assert any(sentence.startswith("require_team_approval") for sentence in contest.unsayable)


INGEST = "start_date: 2026-01-01\n    ingestion_program: ingest.zip"


def test_labels_beside_participants_code_stop_the_import_unless_the_owner_allows_it(bundle: Writer) -> None:
    yaml = changed(ONE, ("start_date: 2026-01-01", INGEST))
    files = {"ingest.zip": {"metadata": "command: python $ingestion_program/i.py $hidden $submission_program\n"}}
    report = bundle.one(yaml, files)
    assert report.contest is None
    assert "Labels would be readable by participants' code" in report.errors[0].message
    assert report.questions[0].key == "labels_are_readable"
    allowed = bundle.one(yaml, files, answers={"labels_are_readable": "yes"})
    assert len(contest_of(allowed).labels_in_reach) == 1 and allowed.warnings


def test_hidden_labels_are_fine_where_the_submission_has_a_container_of_its_own(bundle: Writer) -> None:
    yaml = changed(ONE, ("start_date: 2026-01-01", INGEST))
    files = {"ingest.zip": {"metadata": "command: python $ingestion_program/i.py $hidden $shared\n"}}
    assert contest_of(bundle.one(yaml, files)).labels_in_reach == ()


def test_terms_are_known_by_their_longer_name_too(bundle: Writer) -> None:
    report = bundle.one(changed(ONE, ("  terms: terms.html", "  Terms and Conditions: terms.html")))
    assert contest_of(report).terms is not None and not report.warnings


def test_an_empty_phase_is_left_out(bundle: Writer) -> None:
    report = bundle.one(changed(ONE, ("leaderboard:\n  leaderboards", "  2:\nleaderboard:\n  leaderboards")))
    assert len(contest_of(report).phases) == 1 and warned(report, "empty entry")


def test_labels_that_are_given_away_are_warned_of(bundle: Writer) -> None:
    yaml = changed(ONE, ("start_date: 2026-01-01", "start_date: 2026-01-01\n    public_data: reference_data.zip"))
    report = bundle.one(yaml)
    assert contest_of(report).phases[0].public_data
    assert warned(report, "both public data and reference data")
