"""A bundle for each trait that organizers rely on: all of it is found, and what is worth knowing is said."""

import datetime as dt

import pytest

from bundles.reading import BundleReport
from bundles.reading.contest import Accepts, BundleContest, Computation, Rule
from tests.bundles import packing
from tests.bundles.conftest import Read

ALL = sorted(path.name for path in packing.TRAITS.iterdir())
# Everything else says nothing that an organizer should look at.
WARNED = {
    "dates",
    "old_programs",
    "rough",
    "foreign_ids",
    "series",
    "six_rules",
    "parallel",
    "two_boards",
    "two_commands",
}


def contest(report: BundleReport) -> BundleContest:
    """The contest of a report without errors."""
    assert report.ok, report.errors
    assert report.contest is not None
    return report.contest


def warned(report: BundleReport) -> str:
    """All warnings as one text, a line each."""
    return "\n".join(f"{one.place}: {one.message} {one.mend}" for one in report.warnings)


def utc(*parts: int) -> dt.datetime:
    """A time in UTC."""
    return dt.datetime(*parts, tzinfo=dt.UTC)


@pytest.mark.parametrize("name", ALL)
def test_every_bundle_can_be_imported(read: Read, name: str) -> None:
    report = read(name)
    found = contest(report)
    assert found.tasks and found.phases and found.boards
    assert report.found
    if name not in WARNED:
        assert report.warnings == []


def test_a_contest_of_results_alone(read: Read) -> None:
    found = contest(read("results_only"))
    assert (found.version, found.layout) == ("2", 2)
    assert not found.approves_registration and found.shows_details
    assert found.programs_are_public and found.input_is_public
    assert (found.reward, found.contact_email) == ("A cup", "ask@example.org")
    task, phase = found.tasks[0], found.phases[0]
    assert task.scoring_program.command == "python $program/score.py $input $output"
    assert task.ingestion_program is None and task.input_data and task.reference_data
    assert (phase.starts_at.utc, phase.starts_at.zone, phase.ends_at) == (utc(2026, 1, 1, 7, 30), "+02:00", None)
    assert (phase.daily_quota, phase.total_quota, phase.wall_seconds) == (20, 200, 60)
    assert phase.public_data and phase.starting_kit
    assert [(column.key, column.precision, column.is_hidden) for column in found.boards[0].columns] == [
        ("accuracy", 3, False),
        ("answers", 2, True),
    ]
    assert found.boards[0].rule == Rule.FORCE_BEST
    assert [solution.tasks for solution in found.solutions] == [(0,)]


def test_an_ingestion_program_with_four_datasets_and_an_average(read: Read) -> None:
    found = contest(read("four_datasets"))
    assert found.tasks[0].ingestion_program is not None and not found.tasks[0].overlaps
    board = found.boards[0]
    assert board.primary == "average"
    average = next(column for column in board.columns if column.key == "average")
    assert average.computation == Computation.AVG
    assert average.fields == ("set1_score", "set2_score", "set3_score", "set4_score")
    assert next(column for column in board.columns if column.key == "duration").is_ascending


def test_an_optimisation_where_less_is_better(read: Read) -> None:
    found = contest(read("shortest_tour"))
    assert all(column.is_ascending for column in found.boards[0].columns)
    assert found.boards[0].primary == "length"
    phase = found.phases[0]
    assert (phase.daily_quota, phase.total_quota, phase.ends_at) == (None, 50, None)
    assert found.tasks[0].input_data is not None and found.tasks[0].reference_data is not None


def test_scoring_beside_ingestion(read: Read) -> None:
    assert contest(read("overlapping")).tasks[0].overlaps


def test_several_tasks_phases_out_of_order_and_submissions_that_come_over(read: Read) -> None:
    report = read("series")
    found = contest(report)
    assert [task.name for task in found.tasks] == ["North", "South"]
    first, second = found.phases
    assert (first.name, first.tasks, first.daily_quota, first.total_quota) == ("Development", (0, 1), None, 100)
    assert (second.name, second.tasks, second.daily_quota, second.total_quota) == ("Final", (1, 0), 0, 0)
    assert second.takes_over and not first.takes_over
    assert second.hides_output and second.hides_prediction_output and second.hides_score_output
    assert second.starts_at.utc == utc(2026, 3, 1, 0, 0, 1)
    assert "Both quotas of the phase Final are 0" in warned(report)
    assert [question.default for question in report.questions] == ["none"]


def test_all_six_rules(read: Read) -> None:
    report = read("six_rules")
    assert [board.rule for board in contest(report).boards] == list(Rule)
    assert "Codabench shows the first of the 6 leaderboards alone" in warned(report)


def test_columns_computed_of_others(read: Read) -> None:
    board = contest(read("computed_columns")).boards[0]
    computed = {column.key: (column.computation, column.fields) for column in board.columns[3:]}
    assert computed == {
        "mean": (Computation.AVG, ("one", "two", "three")),
        "sum": (Computation.SUM, ("one", "three")),
        "least": (Computation.MIN, ("one", "two", "three")),
        "most": (Computation.MAX, ("one", "two", "three")),
    }
    assert board.primary == "mean"


def test_a_fact_sheet(read: Read) -> None:
    questions = contest(read("fact_sheet")).questions
    assert [(one.key, one.kind, one.is_required, one.is_on_board) for one in questions] == [
        ("team", "text", True, True),
        ("pretrained", "yes_no", False, False),
        ("method", "choice", False, True),
    ]
    assert questions[2].choices == ("trees", "networks", "other")


def test_a_bundle_as_it_comes(read: Read) -> None:
    report = read("rough")
    found = contest(report)
    assert found.title == "Second title"
    assert not found.approves_registration and not found.shows_details and found.programs_are_public
    assert found.tasks[0].name == "Lines"
    assert found.tasks[0].input_data is None and found.tasks[0].reference_data is not None
    assert found.phases[0].starts_at.utc == utc(2026, 1, 1, 17)
    assert found.phases[0].daily_quota == 5
    assert found.logo is not None and found.logo.suffix == ".svg"
    assert found.images == ("example.org/somebody/everything:latest",)
    text = warned(report)
    for part in (
        "is in the folder my_bundle",
        "title is there twice",
        "scoring.zip is not in the bundle; scoring was taken",
        "reference/ is not in the bundle; reference.zip was taken",
        "collaborators is not part of a bundle's import",
        "Did you mean max_submissions_per_day?",
        "The queue 4dfcd1a2-1111-2222-3333-444455556666 is unknown here",
        "The input data is named by the id 0a0a0a0a-1111-2222-3333-444455556666",
    ):
        assert part in text
    assert {question.kind for question in report.questions} == {"queue", "file"}
    assert all(one.place.startswith(("competition.yml, line ", "the archive")) for one in report.warnings)


def test_dates_that_can_be_read_in_two_ways_are_asked_for(read: Read) -> None:
    report = read("dates")
    found = contest(report)
    assert [phase.starts_at.utc for phase in found.phases] == [
        utc(2026, 1, 31),
        utc(2026, 8, 5),
        utc(2026, 12, 1, 4, 50, 30),
    ]
    assert [phase.ends_at and phase.ends_at.utc for phase in found.phases] == [
        utc(2026, 8, 5),
        utc(2026, 12, 1, 4, 50, 30),
        None,
    ]
    assert found.ends_at is not None and found.ends_at.utc == utc(2026, 6, 13)
    assert (found.phases[1].daily_quota, found.phases[2].total_quota, found.phases[2].takes_over) == (0, 0, True)
    assert "The date 8-05-2026 was read as 5 August 2026." in warned(report)
    assert [question.key for question in report.questions] == ["date_order"]


@pytest.mark.parametrize("options", [{"date_order": "dmy"}, {"answers": {"date_order": "dmy"}}])
def test_the_order_of_dates_can_be_said(read: Read, options: dict[str, object]) -> None:
    assert contest(read("dates", **options)).phases[1].starts_at.utc == utc(2026, 5, 8)


def test_programs_of_another_age(read: Read) -> None:
    report = read("old_programs")
    task = contest(report).tasks[0]
    assert task.scoring_program.is_python2
    text = warned(report)
    assert "tasks[0].scoring_program" in text and "Python 2" in text
    assert "pip install lightgbm" in text and "apt-get install" in text
    assert text.count("it has no network here") == 2


def test_ids_of_another_server_are_asked_for(read: Read) -> None:
    report = read("foreign_ids")
    assert contest(report).tasks[0].reference_data is None
    question = report.questions[0]
    assert question.key == "file:0a0a0a0a-1111-2222-3333-444455556666"
    answered = read("foreign_ids", answers={question.key: "dataset:12"})
    stored = contest(answered).tasks[0].reference_data
    assert stored is not None and stored.stored == "dataset:12"
    assert answered.warnings == []


def test_two_boards_with_groups_and_a_weighted_average_of_ranks(read: Read) -> None:
    report = read("two_boards")
    found = contest(report)
    assert (found.version, found.layout) == ("1.5", 1)
    quality, speed = found.boards
    assert [board.title for board in found.boards] == ["Quality", "Speed"]
    assert quality.rule == speed.rule == Rule.FORCE_LAST
    assert [(column.key, column.group) for column in quality.columns] == [
        ("together", ""),
        ("north_acc", "North"),
        ("south_acc", "South"),
        ("south_error", "South"),
    ]
    together = quality.columns[0]
    assert together.computation == Computation.MEAN_RANK
    assert (together.fields, together.weights) == (("north_acc", "south_acc", "south_error"), (2, 1, 1))
    assert quality.primary == "together" and together.is_ascending
    assert (quality.columns[1].precision, quality.columns[3].precision) == (3, 2)
    first, second = found.phases
    assert first.ends_at == second.starts_at and second.ends_at is None
    assert (first.daily_quota, second.daily_quota) == (0, 999)
    assert first.accepts == second.accepts == Accepts.RESULTS
    assert second.hidden_columns == ("size",)
    assert [link.url for link in first.links] == ["https://example.org/data.zip"]
    assert [sentence.partition(":")[0] for sentence in found.unsayable] == ["color", "admin_names"]
    assert "Mona, Otto" in found.unsayable[1]


def test_pages_keep_their_pictures(read: Read) -> None:
    found = contest(read("two_boards"))
    assert found.terms is not None and found.terms.role == "terms"
    assert [page.title for page in found.pages] == ["Overview", "Evaluation", "Prizes"]
    page = found.pages[1]
    assert page.is_html and sorted(page.assets) == ["assets/curve.png", "assets/rules.txt"]
    assert 'src="bundle:assets/curve.png"' in page.text and 'href="bundle:assets/rules.txt"' in page.text


def test_parallel_phases(read: Read) -> None:
    found = contest(read("parallel"))
    assert [phase.fans_out_from for phase in found.phases] == [None, 0, 0]
    assert [phase.tasks for phase in found.phases] == [(), (0,), (1,)]
    assert [phase.hides_board for phase in found.phases] == [False, False, True]
    assert len({phase.starts_at for phase in found.phases}) == 1
    assert [phase.ends_at for phase in found.phases] == [None] * 3
    assert found.phases[0].total_quota == 30


def test_a_program_with_two_commands_and_texts_with_tags(read: Read) -> None:
    found = contest(read("two_commands"))
    task = found.tasks[0]
    assert found.title == "Two commands"
    assert task.scoring_program.command.splitlines() == [
        "python3 $program/first.py $shared $predictions",
        "python3 $program/second.py $input $output $tmp",
    ]
    assert task.overlaps and found.labels_in_reach == ()
    assert found.boards[0].rule == Rule.FORCE_BEST


def test_labels_in_reach_of_participants_code_only_where_the_owner_allows_it(read: Read) -> None:
    stopped = read("labels_in_reach", packing.BROKEN)
    assert not stopped.ok
    assert [question.kind for question in stopped.questions] == ["labels"]
    allowed = read("labels_in_reach", packing.BROKEN, answers={"labels_are_readable": "yes"})
    assert len(contest(allowed).labels_in_reach) == 1
    assert "Labels are readable by participants' code" in warned(allowed)
