"""The pages of a competition that everybody reads, joining, downloads, what organizers see."""

import datetime as dt
import io
import zipfile

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from competitions.models import Participant, Task
from pages import kit
from submissions.models import Submission
from tests.platform import factories as make


def text(world, ending="", role="anonymous"):
    return world.client(role).get(world.url(ending)).content.decode()


def test_the_front_page_lists_what_is_open(world):
    make.competition("over", title="An old one")
    html = world.client("anonymous").get("/").content.decode()
    assert "The contest" in html
    assert "An old one" not in html


def test_the_list_groups_competitions_and_hides_drafts(world):
    make.competition("secret", title="A draft", state="draft")
    now = timezone.now()
    old = make.competition("old", title="An old one")
    make.phase(old, opens_at=now - dt.timedelta(days=9), closes_at=now - dt.timedelta(days=2))
    html = world.client("anonymous").get("/competitions/").content.decode()
    assert "A draft" not in html
    assert html.index("Open now") < html.index("The contest") < html.index("Ended") < html.index("An old one")
    assert "A draft" in world.client("organizer").get("/competitions/").content.decode()


def test_an_installation_without_competitions_says_so(client, db):
    assert b"no public competition at the moment" in client.get("/competitions/").content
    assert b"No competition is open" in client.get("/").content


def test_who_can_make_the_first_competition_gets_the_way_there(client, db):
    client.force_login(make.user("root", is_superuser=True, is_staff=True))
    assert 'href="/competitions/new/">New competition</a>' in client.get("/competitions/").content.decode()


def test_the_list_of_competitions_is_a_bounded_number_of_queries(world, django_assert_max_num_queries):
    for _ in range(10):
        make.phase(make.competition())
    client = world.client("anonymous")
    with django_assert_max_num_queries(6):
        client.get("/competitions/")


def test_the_timeline_has_every_phase_and_a_mark_for_now(world):
    html = text(world, "phases/")
    assert 'aria-label="Tweakathon[0], open"' in html
    assert 'aria-label="AutoML[1], upcoming"' in html
    assert 'class="now-text"' in html
    assert " UTC)" in html
    assert "<time datetime=" in html


def test_the_datasets_table_has_the_facts_of_an_open_phase_and_hides_a_blind_one(world):
    html = text(world, "datasets/")
    first = world.phase.tasks.first()
    assert first.name in html
    assert "2 datasets, unseen until this phase closes." in html
    for task in world.blind.tasks.all():
        assert task.dataset_name not in html
        assert task.dataset_name in text(world, "datasets/", "organizer")
        assert task.dataset_name not in text(world, "datasets/", "reviewer")
    assert "for participants" in html
    assert f"datasets/{first.pk}/download/" in text(world, "datasets/", "participant")


def test_a_dataset_download_is_the_public_zip_and_nothing_else(world):
    task = world.phase.tasks.first()
    response = world.client("participant").get(world.url(f"datasets/{task.pk}/download/"))
    content = b"".join(response.streaming_content)
    assert content == task.dataset.current.public_zip.read()
    assert response.headers["Content-Disposition"] == f'attachment; filename="{task.name}.zip"'


def test_a_dataset_under_an_alias_is_downloaded_under_it_and_tells_no_more(world):
    # A dataset of its own: versions that runs have used cannot be changed.
    dataset = make.dataset(world.contest.created_by)
    task = world.phase.tasks.create(dataset=dataset, alias="evita")
    version = dataset.current
    real = version.name
    archive = make.zip_bytes(
        {
            f"{real}/{real}_train.data": "1 2 3\n",
            f"{real}/{real}_feat.name": "blood pressure\n",
            f"{real}/{real}_public.info": f"name = '{real}'\ntask = 'binary.classification'\nusage = '{real}'\n",
        }
    )
    version.public_zip.save("x.zip", ContentFile(archive))
    for _ in range(2):  # made, then kept
        response = world.client("participant").get(world.url(f"datasets/{task.pk}/download/"))
        assert response.headers["Content-Disposition"] == 'attachment; filename="evita.zip"'
        with zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))) as got:
            assert got.namelist() == ["evita/evita_train.data", "evita/evita_public.info"]
            assert got.read("evita/evita_train.data") == b"1 2 3\n"
            info = got.read("evita/evita_public.info").decode()
    assert "evita" in info
    assert "binary.classification" in info
    assert real not in info


def test_a_dataset_is_unseen_until_it_is_revealed_whatever_the_dates_say(world):
    """A Tweakathon on the datasets of a blind phase opened, and nobody has revealed them yet."""
    secret = world.blind.tasks.first()
    now = timezone.now()
    type(world.blind).objects.filter(pk=world.blind.pk).update(
        opens_at=now - dt.timedelta(days=2), closes_at=now - dt.timedelta(hours=2)
    )
    tweak = make.phase(world.contest, tasks=0, opens_at=now - dt.timedelta(hours=1))
    open_task = Task.objects.create(phase=tweak, dataset=secret.dataset)
    url = world.url(f"datasets/{open_task.pk}/download/")
    assert world.client("participant").get(url).status_code == 404
    assert secret.dataset_name not in text(world, "datasets/", "participant")
    assert world.client("organizer").get(url).status_code == 200
    Task.objects.filter(pk=secret.pk).update(revealed_at=now)
    assert world.client("participant").get(url).status_code == 200
    assert secret.dataset_name in text(world, "datasets/", "participant")


def test_datasets_of_a_blind_phase_and_of_other_competitions_are_not_found(world):
    blind = world.blind.tasks.first()
    assert world.client("participant").get(world.url(f"datasets/{blind.pk}/download/")).status_code == 404
    foreign = make.phase(make.competition()).tasks.first()
    assert world.client("organizer").get(world.url(f"datasets/{foreign.pk}/download/")).status_code == 404


def test_the_evaluation_page_explains_the_metrics_in_use_and_no_others(world):
    task = world.phase.tasks.first()
    task.metric = "F1"
    task.save()
    html = text(world, "evaluation/")
    assert "AUC: area under" in html
    assert "−0.43" in html
    assert "PAC: probabilistic" not in html
    assert "10 s" in html


def test_the_rules_state_what_the_platform_keeps(world):
    html = text(world, "rules/")
    for fact in ("Only the latest submission counts", "run of its own", "cores × wall", "UTC calendar day"):
        assert fact in html
    assert "Tweakathon[0] does. Of numbered" in html


def test_organizers_markdown_is_shown_without_script_or_foreign_pictures(world):
    world.contest.overview = (
        "# Top\n\nA <script>alert(1)</script> **bold** [x](javascript:alert(1)) ![y](https://example.org/y.png)\n"
    )
    world.contest.save()
    html = text(world)
    assert "<h2>Top</h2>" in html
    assert "<strong>bold</strong>" in html
    assert "<script>alert" not in html
    assert 'href="javascript' not in html
    assert "<img" not in html


def test_joining_makes_a_participant_at_once_where_registration_is_open(world):
    response = world.client("stranger").post(world.url("join/"))
    assert response.url == world.url("submissions/")
    assert world.contest.participants.get(user__username="charlie").state == Participant.State.APPROVED


def test_joining_waits_where_organizers_approve(world):
    world.contest.registration = "approval"
    world.contest.save()
    html = world.client("stranger").post(world.url("join/"), follow=True).content.decode()
    assert "waits for the organizers" in html
    assert 'name="archive"' not in html


def test_joining_is_refused_where_registration_is_closed(world):
    world.contest.registration = "closed"
    world.contest.save()
    response = world.client("stranger").post(world.url("join/"))
    assert response.status_code == 409
    assert b"takes no new participants" in response.content


def test_a_rejected_person_is_told_so(world):
    make.participant(world.contest, world.people["stranger"], Participant.State.REJECTED)
    assert world.client("stranger").post(world.url("join/")).status_code == 403


def test_whoever_does_not_take_part_sees_no_form(world):
    html = text(world, "submissions/", "stranger")
    assert "Join it to submit" in html
    assert 'name="archive"' not in html


def test_organizers_see_all_submissions_by_state_and_the_health_of_workers(world):
    make.worker("quick")
    make.worker("gone", seen_at=timezone.now() - dt.timedelta(hours=1))
    html = text(world, "manage/submissions/", "organizer")
    assert "alice" in html
    assert "bob" in html
    health = text(world, "manage/queue/", "organizer")
    assert "alive" in health
    assert "silent" in health
    only = text(world, "manage/submissions/?state=finished", "organizer")
    assert world.finished.get_absolute_url() in only
    assert f'{world.submission.get_absolute_url()}" aria-label' not in only
    assert Submission.objects.count() == 2
    assert world.client("organizer").get(world.url("manage/submissions/?state=nonsense&page=x")).status_code == 200


def test_a_red_banner_stands_on_every_page_while_code_runs_unconfined(world):
    assert "Code runs unconfined" not in text(world)
    make.worker("bare", sandbox="unconfined")
    assert "Code runs unconfined" in text(world)
    assert "Registration is closed" in world.client("anonymous").get("/accounts/signup/").content.decode()


def test_the_starting_kit_is_built_once_for_each_state_of_its_sources(settings, tmp_path, monkeypatch):
    built = []

    def build_kit(destination):
        built.append(destination)
        with zipfile.ZipFile(destination, "w") as archive:
            archive.writestr("README.md", "hello")

    monkeypatch.setattr(kit, "build_kit", build_kit)
    settings.PODIUM_HOME = tmp_path
    first = kit.kit_archive()
    assert kit.kit_archive() == first
    assert len(built) == 1
    assert zipfile.ZipFile(first).namelist() == ["README.md"]
    monkeypatch.setattr(kit, "_fingerprint", lambda: "other")
    assert kit.kit_archive() != first
    assert len(built) == 2


@pytest.mark.parametrize("ending", ["", "phases/", "datasets/", "evaluation/", "rules/", "leaderboard/"])
def test_competition_pages_ask_a_bounded_number_of_queries(world, ending, django_assert_max_num_queries):
    for _ in range(3):
        make.phase(world.contest, tasks=4)
    client = world.client("participant")
    with django_assert_max_num_queries(14):
        client.get(world.url(ending))
