"""Bundles of Codabench become what they say."""

import datetime as dt
import zipfile
from pathlib import Path

import pytest

from bundles.reading.contest import BundleContest, Computation, Rule
from bundles.reading.report import BundleReport
from tests.platform.bundles.reading.writing import PROGRAM, TWO, Writer, added, below, changed


def contest_of(report: BundleReport) -> BundleContest:
    """The contest; the errors are shown where there is none."""
    assert report.contest is not None, report.errors
    return report.contest


def warned(report: BundleReport, words: str) -> bool:
    return any(words in problem.message for problem in report.warnings)


def test_a_plain_bundle_is_read_without_a_warning(bundle: Writer) -> None:
    report = bundle.two()
    contest = contest_of(report)
    assert report.ok and not report.warnings and not report.questions
    assert (report.version, contest.layout, contest.title) == ("2", 2, "Iris")
    assert contest.terms is not None and contest.terms.text == "Be fair."
    assert [page.role for page in contest.pages] == ["overview"]
    phase = contest.phases[0]
    assert phase.starts_at.utc == dt.datetime(2026, 1, 1, 8, tzinfo=dt.UTC)
    assert phase.starts_at.zone == "+01:00"
    assert (phase.daily_quota, phase.total_quota, phase.wall_seconds) == (5, 100, 600.0)
    assert contest.approves_registration


def test_what_it_found_is_told_line_by_line(bundle: Writer) -> None:
    found = bundle.two().found
    assert found[0] == "Codabench bundle of version 2: Iris"
    assert "Leaderboard Results, rule Add: accuracy" in found


def test_a_folder_becomes_the_same_zip_each_time(bundle: Writer, tmp_path: Path) -> None:
    contest = contest_of(bundle.two())
    reference = contest.tasks[0].reference_data
    assert reference is not None and not reference.is_zip
    one, two = reference.as_zip(tmp_path), reference.as_zip(tmp_path)
    assert one != two and one.read_bytes() == two.read_bytes()
    assert zipfile.ZipFile(one).namelist() == ["labels.txt"]


def test_an_array_that_is_a_zip_inside_is_packed_as_the_file_it_is(bundle: Writer, tmp_path: Path) -> None:
    yaml = changed(TWO, ("reference_data: reference_data", "reference_data: labels.npz"))
    source = contest_of(bundle.two(yaml, {"labels.npz": {"arr_0.npy": "x"}})).tasks[0].reference_data
    assert source is not None
    assert zipfile.ZipFile(source.as_zip(tmp_path)).namelist() == ["labels.npz"]


def test_a_program_brings_its_command(bundle: Writer) -> None:
    program = contest_of(bundle.two()).tasks[0].scoring_program
    assert program.command == "python3 score.py $input $output"
    assert program.path is not None and zipfile.is_zipfile(program.path)


def test_several_tasks_run_in_a_phase_in_the_order_of_their_list(bundle: Writer) -> None:
    yaml = changed(
        TWO,
        ("  reference_data: reference_data\n", "- {index: 7, name: Other, scoring_program: scoring_program}\n"),
        ("tasks: [0]", "tasks: ['7', 0]"),
    )
    contest = contest_of(bundle.two(yaml))
    assert [task.name for task in contest.tasks] == ["Classify", "Other"]
    assert contest.phases[0].tasks == (1, 0)
    # One program that two tasks name is read once.
    assert contest.tasks[0].scoring_program is contest.tasks[1].scoring_program


def test_ingestion_and_its_overlap_are_kept(bundle: Writer) -> None:
    yaml = changed(
        TWO,
        (
            "  reference_data: reference_data\n",
            "  ingestion_program: ingest\n  input_data: input\n  ingestion_only_during_scoring: 'True'\n",
        ),
    )
    files = {**below("ingest", PROGRAM), "input/x.csv": "1"}
    task = contest_of(bundle.two(yaml, files)).tasks[0]
    assert task.overlaps and task.ingestion_program is not None and task.input_data is not None


def test_phases_follow_their_index_and_take_over(bundle: Writer) -> None:
    yaml = changed(
        TWO,
        (
            "- name: Development\n",
            "- index: 1\n  name: Final\n  start: 2026-02-02\n  tasks: [0]\n  auto_migrate_to_this_phase: true\n"
            "  hide_output: true\n  hide_prediction_output: true\n  hide_score_output: true\n"
            "  execution_time_limit: 3600\n- index: 0\n  name: Development\n",
        ),
    )
    first, final = contest_of(bundle.two(yaml)).phases
    assert (first.name, final.name, final.number) == ("Development", "Final", 1)
    assert final.takes_over and final.ends_at is None and final.wall_seconds == 3600
    assert final.hides_output and final.hides_prediction_output and final.hides_score_output


def test_nothing_comes_over_into_the_first_phase(bundle: Writer) -> None:
    report = bundle.two(changed(TWO, ("  tasks: [0]", "  tasks: [0]\n  auto_migrate_to_this_phase: true")))
    assert not contest_of(report).phases[0].takes_over
    assert warned(report, "first phase")


@pytest.mark.parametrize(
    ("daily", "total", "meant"),
    [("0", "100", (None, 100)), ("3", "0", (3, None)), ("null", "", (None, None)), ("2", "9", (2, 9))],
)
def test_one_quota_that_is_zero_or_empty_is_no_limit(
    bundle: Writer, daily: str, total: str, meant: tuple[int | None, int | None]
) -> None:
    lines = f"  tasks: [0]\n  max_submissions_per_day: {daily}\n  max_submissions: {total}"
    report = bundle.two(changed(TWO, ("  tasks: [0]", lines)))
    phase = contest_of(report).phases[0]
    assert (phase.daily_quota, phase.total_quota) == meant
    assert not report.questions


def test_two_quotas_that_are_zero_are_none_and_asked_for(bundle: Writer) -> None:
    yaml = changed(TWO, ("  tasks: [0]", "  tasks: [0]\n  max_submissions_per_day: 0\n  max_submissions: '0'"))
    report = bundle.two(yaml)
    phase = contest_of(report).phases[0]
    assert (phase.daily_quota, phase.total_quota) == (0, 0)
    assert report.questions[0].default == "none" and warned(report, "Both quotas")
    answered = bundle.two(yaml, answers={report.questions[0].key: "unlimited"})
    assert contest_of(answered).phases[0].daily_quota is None


def test_an_ambiguous_date_is_month_first_with_a_warning_and_a_question(bundle: Writer) -> None:
    yaml = changed(TWO, ("2026-01-01 09:00:00+01:00", "8-01-2025"))
    report = bundle.two(yaml)
    assert contest_of(report).phases[0].starts_at.utc == dt.datetime(2025, 8, 1, tzinfo=dt.UTC)
    assert warned(report, "1 August 2025") and report.questions[0].key == "date_order"
    for options in ({"date_order": "dmy"}, {"answers": {"date_order": "dmy"}}):
        phase = contest_of(bundle.two(yaml, **options)).phases[0]
        assert phase.starts_at.utc == dt.datetime(2025, 1, 8, tzinfo=dt.UTC)


def test_a_date_with_one_meaning_is_warned_of_and_not_asked_for(bundle: Writer) -> None:
    report = bundle.two(changed(TWO, ("2026-01-01 09:00:00+01:00", "13-12-2025")))
    assert contest_of(report).phases[0].starts_at.utc == dt.datetime(2025, 12, 13, tzinfo=dt.UTC)
    assert warned(report, "13 December 2025") and not report.questions


def test_a_phase_of_one_bare_day_lasts_that_day(bundle: Writer) -> None:
    yaml = changed(TWO, ("2026-01-01 09:00:00+01:00", "8-31-2026"), ("2026-02-01 09:00:00+01:00", "8-31-2026"))
    phase = contest_of(bundle.two(yaml)).phases[0]
    assert phase.ends_at is not None
    assert phase.ends_at.utc - phase.starts_at.utc == dt.timedelta(days=1)


def test_a_missing_end_is_the_start_of_the_next_phase(bundle: Writer) -> None:
    yaml = changed(
        TWO,
        (
            "  end: 2026-02-01 09:00:00+01:00\n  tasks: [0]\n",
            "  end:\n  tasks: [0]\n- {name: Final, start: 2026-03-01, tasks: [0]}\n",
        ),
    )
    first, final = contest_of(bundle.two(yaml)).phases
    assert first.ends_at == final.starts_at and final.ends_at is None


def test_columns_are_sorted_rounded_hidden_and_computed(bundle: Writer) -> None:
    yaml = changed(
        TWO,
        (
            "  columns:\n",
            "  submission_rule: Force_Best\n  primary_index: 9\n  hidden: 'true'\n  columns:\n"
            "  - {title: Mean, key: mean, index: 9, precision: 5,\n"
            "     computation: avg, computation_indexes: ['0', 4]}\n"
            "  - {title: Time, key: time, index: 4, sorting: asc, hidden: true}\n",
        ),
    )
    board = contest_of(bundle.two(yaml)).boards[0]
    assert [column.key for column in board.columns] == ["accuracy", "time", "mean"]
    accuracy, time, mean = board.columns
    assert (mean.computation, mean.fields, mean.precision) == (Computation.AVG, ("accuracy", "time"), 5)
    assert time.is_ascending and time.is_hidden and not accuracy.is_ascending
    assert (board.primary, board.rule, board.is_hidden) == ("mean", Rule.FORCE_BEST, True)


def test_a_column_may_be_the_mean_of_the_ranks_on_others(bundle: Writer) -> None:
    rank = "  - {title: R, key: r, index: 1, sorting: asc, computation: avg_rank, computation_indexes: [0]}\n"
    report = bundle.two(changed(TWO, ("  columns:\n", f"  columns:\n{rank}")))
    column = contest_of(report).boards[0].columns[1]
    assert (column.computation, column.fields) == (Computation.MEAN_RANK, ("accuracy",))
    assert not report.warnings


@pytest.mark.parametrize("rule", list(Rule))
def test_every_rule_is_known(bundle: Writer, rule: Rule) -> None:
    report = bundle.two(changed(TWO, ("  key: main\n", f'  key: main\n  submission_rule: "{rule}"\n')))
    assert contest_of(report).boards[0].rule is rule
    assert not report.warnings


def test_all_leaderboards_are_kept_with_a_warning(bundle: Writer) -> None:
    more = "- {title: Speed, key: main, columns: [{title: Time, key: time, index: 0}]}\n"
    report = bundle.two(added(TWO, more))
    assert [board.key for board in contest_of(report).boards] == ["main", "main-2"]
    assert warned(report, "Codabench shows the first")


def test_a_column_given_twice_counts_once(bundle: Writer) -> None:
    report = bundle.two(TWO + "  - {title: Again, key: accuracy, index: 0}\n")
    assert [column.title for column in contest_of(report).boards[0].columns] == ["Accuracy"]
    assert warned(report, "two columns")


def test_a_fact_sheet_becomes_questions(bundle: Writer) -> None:
    sheet = """
    fact_sheet:
      method: {key: method, type: text, title: Method, selection: "", is_required: "true",
               is_on_leaderboard: "true"}
      deep: {key: deep, type: checkbox, title: Deep, selection: [true, false], is_required: "false"}
      size: {key: size, type: select, title: Size, selection: [small, large]}
    """
    method, deep, size = contest_of(bundle.two(added(TWO, sheet))).questions
    assert (method.kind, method.is_required, method.is_on_board) == ("text", True, True)
    assert (deep.kind, deep.is_required) == ("yes_no", False)
    assert (size.kind, size.choices) == ("choice", ("small", "large"))


def test_solutions_starting_kits_and_public_data_are_found(bundle: Writer) -> None:
    yaml = added(
        changed(TWO, ("  tasks: [0]", "  tasks: [0]\n  starting_kit: kit\n  public_data: data.zip")),
        "solutions: [{index: 0, tasks: [0], path: solution, name: Baseline}]\n",
    )
    files = {"kit/README.md": "x", "data.zip": {"a": "1"}, "solution/model.py": "x"}
    contest = contest_of(bundle.two(yaml, files))
    assert contest.phases[0].starting_kit and contest.phases[0].public_data
    solution = contest.solutions[0]
    assert (solution.name, solution.tasks) == ("Baseline", (0,))


def test_settings_of_the_whole_contest_are_kept(bundle: Writer) -> None:
    lines = """
    description: Three kinds
      of flowers.
    registration_auto_approve: 'True'
    docker_image: codalab/codalab-legacy:py37
    enable_detailed_results: True
    show_detailed_results_in_leaderboard: false
    make_programs_available: true
    make_input_data_available: true
    can_participants_make_submissions_public: false
    reward: A cup
    contact_email: team@iris.example
    competition_type: benchmark
    """
    contest = contest_of(bundle.two(added(TWO, lines)))
    assert contest.summary == "Three kinds of flowers."
    assert not contest.approves_registration
    assert contest.image == "codalab/codalab-legacy:py37" and contest.images == (contest.image,)
    assert contest.shows_details and not contest.shows_details_on_board
    assert contest.programs_are_public and contest.input_is_public and not contest.entrants_may_publish
    assert (contest.reward, contest.contact_email) == ("A cup", "team@iris.example")
    assert any("benchmark" in sentence for sentence in contest.unsayable)


def test_an_unknown_queue_is_the_default_and_asked_for(bundle: Writer) -> None:
    yaml = added(TWO, "queue: 0b0b0b0b-1111-2222-3333-444444444444\n")
    report = bundle.two(yaml)
    assert contest_of(report).queue == "" and warned(report, "queue")
    answered = bundle.two(yaml, answers={report.questions[0].key: "gpu"})
    assert contest_of(answered).queue == "gpu"
    assert not bundle.two(added(TWO, "queue: null\n")).questions


KEY = "41aa1a59-6257-441f-a49d-9a682e128209"


def test_data_named_by_an_unknown_id_is_left_out_and_asked_for(bundle: Writer) -> None:
    yaml = changed(TWO, ("reference_data: reference_data", f"reference_data: {KEY}"))
    report = bundle.two(yaml)
    assert contest_of(report).tasks[0].reference_data is None
    assert warned(report, KEY) and report.questions[0].key == f"file:{KEY}"
    of_site = contest_of(bundle.two(yaml, answers={f"file:{KEY}": "dataset:12"})).tasks[0].reference_data
    assert of_site is not None and of_site.stored == "dataset:12"
    of_bundle = contest_of(bundle.two(yaml, answers={f"file:{KEY}": "bundle:reference_data"})).tasks[0]
    assert of_bundle.reference_data is not None and of_bundle.reference_data.path is not None


def test_a_program_named_by_an_unknown_id_stops_the_import_until_it_is_answered(bundle: Writer) -> None:
    yaml = changed(TWO, ("scoring_program: scoring_program", f"scoring_program: {KEY}"))
    report = bundle.two(yaml)
    assert report.contest is None and report.questions[0].kind == "program"
    stored = contest_of(bundle.two(yaml, answers={f"file:{KEY}": "program:3"})).tasks[0].scoring_program
    assert stored.stored == "program:3"
    of_bundle = contest_of(bundle.two(yaml, answers={f"file:{KEY}": "bundle:scoring_program"})).tasks[0]
    assert of_bundle.scoring_program.command


def test_a_task_with_an_unknown_id_is_read_from_its_other_lines(bundle: Writer) -> None:
    report = bundle.two(changed(TWO, ("  name: Classify", f"  name: Classify\n  key: {KEY}")))
    assert contest_of(report).tasks[0].name == "Classify"
    assert warned(report, "other lines")


def test_an_end_before_the_begin_is_left_out_with_a_warning(bundle: Writer) -> None:
    report = bundle.two(changed(TWO, ("end: 2026-02-01", "end: 2025-02-01")))
    assert contest_of(report).phases[0].ends_at is None
    assert warned(report, "would never be open") and report.warnings[0].place.endswith("phases[0].end")


def test_phases_that_overlap_are_warned_of(bundle: Writer) -> None:
    yaml = changed(
        TWO, ("leaderboards:", "- {index: 1, name: Final, start: 2026-01-20, tasks: [0]}\nleaderboards:")
    )
    report = bundle.two(yaml)
    assert len(contest_of(report).phases) == 2 and warned(report, "overlap")
