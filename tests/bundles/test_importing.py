"""The bundles of this folder as competitions: what they say is in the rows, and a refused one leaves nothing."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.storage import Storage, storages
from django.core.management import call_command
from pytest_django.asserts import assertContains, assertNotContains

from accounts.models import User
from bundles.exporting import write_bundle
from bundles.importing import ImportReport, import_bundle
from competitions.actions.publishing import Publish
from competitions.models import Competition, Phase, PhaseFile, Task
from datasets.models import Dataset
from tests.bundles import packing
from tests.platform import factories
from tests.platform.bundles.importing.test_round_trip import told

pytestmark = pytest.mark.django_db

Import = Callable[..., ImportReport]
ALL = sorted(path.name for path in packing.TRAITS.iterdir())
# What bundles of version 2 have no words for.
SAYINGS = {
    "six_rules": {"More than one leaderboard, for Codabench: it shows the first alone."},
    "rough": {"That it has no logo: version 2 wants one, and an empty picture stands in."},
}
CANNOT_BE_SAID = {
    "dates": ("Of the phase Late: one quota of 0", "places of CodaLab 1.5"),
    "parallel": ("The phase Everything, which has no tasks", "gets the submissions of another phase"),
    "two_boards": ("its group North", "its weights", "hidden columns", "More than one leaderboard"),
    "two_commands": ("places of CodaLab 1.5",),
}
OF_CODALAB = sorted(CANNOT_BE_SAID)


@pytest.fixture
def olga() -> User:
    return factories.user("olga")


@pytest.fixture
def imported(tmp_path: Path, olga: User) -> Import:
    """Imports a bundle by its name for Olga."""

    def importing(name: str, folder: Path = packing.TRAITS, **options: object) -> ImportReport:
        return import_bundle(packing.bundle(folder / name, tmp_path / f"{name}.zip"), organizer=olga, **options)

    return importing


def made(report: ImportReport) -> Competition:
    """The competition of a report without errors."""
    assert report.ok, report.errors
    return Competition.objects.get(slug=report.slug)


def phases(competition: Competition) -> list[Phase]:
    """The phases in their order."""
    return list(competition.phases().order_by("number"))


def kept(storage: Storage, folder: str = "") -> set[str]:
    """All files below a folder of a storage."""
    if not storage.exists(folder or "."):
        return set()
    folders, files = storage.listdir(folder)
    names = {f"{folder}/{name}".lstrip("/") for name in files}
    return names.union(*(kept(storage, f"{folder}/{one}".lstrip("/")) for one in folders))


@pytest.mark.parametrize("name", ALL)
def test_every_bundle_becomes_a_draft_that_can_be_published(
    imported: Import, olga: User, client, name: str
) -> None:
    competition = made(imported(name))
    assert competition.state == Competition.State.DRAFT
    assert competition.organizers.get().user == olga
    assert competition.column_boards.exists()
    tasks = Task.objects.filter(phase__round__competition=competition)
    assert tasks.exists() and all(task.scoring_program is not None for task in tasks)
    Publish(None, competition).execute()
    client.force_login(olga)
    assertContains(client.get(f"/competitions/{competition.slug}/"), competition.title)
    for page in ("leaderboard/", "manage/phases/"):
        assert client.get(f"/competitions/{competition.slug}/{page}").status_code == 200


@pytest.mark.parametrize("name", ["series", "parallel", "two_boards"])
def test_every_page_of_such_a_competition_opens(imported: Import, olga: User, client, name: str) -> None:
    competition = made(imported(name))
    client.force_login(olga)
    pages = ["phases/", "evaluation/", "submissions/", "manage/", "manage/settings/", "manage/queue/"]
    pages += [f"manage/phases/{phase.pk}/" for phase in phases(competition)]
    pages += [f"leaderboard/?phase={phase.number}" for phase in phases(competition)]
    for page in pages:
        assert client.get(f"/competitions/{competition.slug}/{page}").status_code == 200, page


def test_the_files_of_a_contest_of_results(imported: Import) -> None:
    competition = made(imported("results_only"))
    phase = phases(competition)[0]
    assert set(phase.files.values_list("kind", flat=True)) == {
        PhaseFile.Kind.PUBLIC_DATA,
        PhaseFile.Kind.STARTING_KIT,
    }
    assert competition.programs_are_public and competition.logo is not None
    task = phase.tasks.get()
    assert task.shows_input
    assert phase.shows_details
    assert (phase.daily_quota, phase.total_quota, phase.wall_seconds) == (20, 200, 60)


def test_the_same_program_of_several_phases_is_kept_once(imported: Import) -> None:
    competition = made(imported("two_boards"))
    assert competition.programs.count() == 1
    assert [phase.hidden_columns for phase in phases(competition)] == [[], ["size"]]


def test_submissions_come_over_into_a_phase_that_takes_none_itself(imported: Import) -> None:
    first, second = phases(made(imported("series")))
    assert second.parent == first and second.carry_over and second.hides_output
    assert second.daily_quota == second.total_quota == 0
    names = [[task.dataset.title for task in phase.tasks.order_by("order")] for phase in (first, second)]
    assert names == [["North", "South"], ["South", "North"]]


def test_parallel_phases_name_their_parent(imported: Import) -> None:
    parent, north, south = phases(made(imported("parallel")))
    assert parent.tasks.count() == 0
    assert north.fans_out_from == south.fans_out_from == parent
    assert south.board == Phase.Board.HIDDEN


def test_pages_are_made_harmless_and_show_their_pictures(imported: Import, olga: User, client) -> None:
    competition = made(imported("two_boards"))
    assert "<script" not in competition.evaluation and "onclick" not in competition.evaluation
    assert "ASSET_BASE_URL" not in competition.evaluation and "bundle:" not in competition.evaluation
    client.force_login(olga)
    page = client.get(f"/competitions/{competition.slug}/")
    assertNotContains(page, "alert(")
    assertNotContains(page, "bundle:assets")


def test_labels_in_reach_are_admitted_on_the_front_page(imported: Import, olga: User, client) -> None:
    refused = imported("labels_in_reach", packing.BROKEN)
    assert not refused.ok and not Competition.objects.exists()
    competition = made(imported("labels_in_reach", packing.BROKEN, answers={"labels_are_readable": "yes"}))
    client.force_login(olga)
    page = client.get(f"/competitions/{competition.slug}/")
    assertContains(page, "the code of participants can read the labels")


def test_an_id_of_another_server_can_be_one_of_ours(imported: Import) -> None:
    first = made(imported("series"))
    ours = Task.objects.filter(phase__round__competition=first, dataset__title="North").first()
    assert ours is not None
    answers = {"file:0a0a0a0a-1111-2222-3333-444455556666": f"dataset:{ours.dataset.pk}"}
    competition = made(imported("foreign_ids", answers=answers))
    task = Task.objects.get(phase__round__competition=competition)
    assert task.dataset.current.reference_sha256 == ours.dataset.current.reference_sha256


def test_a_dataset_of_somebody_else_cannot_be_named(imported: Import, tmp_path: Path) -> None:
    bob = factories.user("bob")
    path = packing.bundle(packing.TRAITS / "series", tmp_path / "bob.zip")
    import_bundle(path, organizer=bob)
    theirs = Dataset.objects.filter(owner=bob).first()
    assert theirs is not None
    before = kept(storages["solutions"])
    answers = {"file:0a0a0a0a-1111-2222-3333-444455556666": f"dataset:{theirs.pk}"}
    assert imported("foreign_ids", answers=answers).errors
    assert kept(storages["solutions"]) == before


def test_whoever_may_use_a_dataset_does_not_get_its_labels_by_a_program_of_their_own(
    imported: Import, olga: User, tmp_path: Path
) -> None:
    bob = factories.user("bob")
    import_bundle(packing.bundle(packing.TRAITS / "series", tmp_path / "bob.zip"), organizer=bob)
    theirs = Dataset.objects.filter(owner=bob).first()
    assert theirs is not None
    theirs.shares.create(user=olga, role="user")
    report = imported("foreign_ids", answers={"file:0a0a0a0a-1111-2222-3333-444455556666": f"dataset:{theirs.pk}"})
    assert "its owner's alone" in report.errors[0].message
    assert not Dataset.objects.filter(owner=olga).exists()


@pytest.mark.parametrize("name", [name for name in ALL if name not in OF_CODALAB])
def test_an_export_is_imported_to_the_same_competition(
    imported: Import, olga: User, tmp_path: Path, name: str
) -> None:
    first = made(imported(name))
    assert set(write_bundle(first, tmp_path / "exported.zip", with_solutions=True)) <= SAYINGS.get(name, set())
    again = import_bundle(tmp_path / "exported.zip", organizer=olga)
    assert told(made(again)) == told(first)


@pytest.mark.parametrize("name", OF_CODALAB)
def test_what_an_export_cannot_say_of_codalab_is_listed(
    imported: Import, olga: User, tmp_path: Path, name: str
) -> None:
    first = made(imported(name))
    unsayable = " ".join(write_bundle(first, tmp_path / "exported.zip", with_solutions=True))
    again = made(import_bundle(tmp_path / "exported.zip", organizer=olga))
    for part in CANNOT_BE_SAID[name]:
        assert part in unsayable
    kept = [phase.title for phase in phases(first) if phase.tasks.exists()]
    assert [phase.title for phase in phases(again)] == kept


@pytest.mark.parametrize("name", ["many", "missing_files", "labels_in_reach"])
def test_a_refused_bundle_leaves_nothing(imported: Import, name: str) -> None:
    before = {alias: kept(storages[alias]) for alias in ("default", "solutions")}
    report = imported(name, packing.BROKEN)
    assert not report.ok and report.slug is None
    assert not Competition.objects.exists() and not Dataset.objects.exists()
    assert {alias: kept(storages[alias]) for alias in before} == before


def test_the_command_reports_as_the_page_does(tmp_path: Path, olga: User, capsys) -> None:
    path = packing.bundle(packing.BROKEN / "wrong_indexes", tmp_path / "bundle.zip")
    with pytest.raises(SystemExit) as ended:
        call_command("import_bundle", str(path), organizer="olga", json=True)
    assert ended.value.code == 1
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert not result["ok"] and len(result["errors"]) == 3
    assert all(set(problem) == {"place", "message", "mend"} for problem in result["errors"])
