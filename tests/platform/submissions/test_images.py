"""Which image a run happens in: what the operator allows, what workers have, and what a run keeps of it."""

import importlib
import json

import pytest
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.test import Client

from accounts.refusals import Refused
from competitions.policy import usable_images
from ingestion.image_names import AUTOSKLEARN_IMAGE, SANDBOX_IMAGE
from submissions import actions, dispatch
from submissions.models import BuiltImage, Run, Worker
from tests.platform import factories

pytestmark = pytest.mark.django_db

OLD, NEW = ("sha256:" + digit * 64 for digit in "12")


def image(name: str = SANDBOX_IMAGE, digest: str = OLD, **fields) -> dict[str, object]:
    """An image as a worker announces it."""
    return {"name": name, "id": digest, "packages": ["numpy==2.4.6"], "problem": "", "runs_models": True, **fields}


@pytest.fixture
def asked(settings):
    """A queued run of a phase that asks for the auto-sklearn image, and its submission."""
    settings.SANDBOX_IMAGES = (SANDBOX_IMAGE, AUTOSKLEARN_IMAGE)
    contest = factories.competition()
    phase = factories.phase(contest, tasks=1, image=AUTOSKLEARN_IMAGE)
    submission = factories.submission(phase, factories.user("alice"))
    run = submission.runs.get()
    Run.objects.filter(pk=run.pk).update(image=AUTOSKLEARN_IMAGE)
    return Run.objects.get(pk=run.pk)


class AtWork:
    """A worker that speaks to the site."""

    def __init__(self, token: str) -> None:
        self.client, self.headers = Client(), {"authorization": f"Bearer {token}"}

    def call(self, path: str, **body):
        return self.client.post(
            f"/worker/{path}", json.dumps(body), content_type="application/json", headers=self.headers
        )

    def announce(self, *images, sandbox: str = "docker"):
        return self.call(
            "announce",
            sandbox=sandbox,
            cores=2,
            memory_bytes=8 * 2**30,
            default_image=SANDBOX_IMAGE if sandbox == "docker" else "",
            images=list(images),
        )


# What the operator allows -----------------------------------------------------------------------------------


def test_a_phase_chooses_among_the_images_that_the_operator_allows(settings):
    settings.SANDBOX_IMAGES = (SANDBOX_IMAGE, "rocker/r-ver:4")
    contest = factories.competition()
    phase = factories.phase(contest)
    for allowed in ("", SANDBOX_IMAGE, "rocker/r-ver:4"):
        phase.image = allowed
        phase.full_clean()
    phase.image = "evil/miner:latest"
    with pytest.raises(ValidationError) as error:
        phase.full_clean()
    assert error.value.message_dict["image"] == [
        "The operator of this site does not allow the image evil/miner:latest."
    ]


def test_organizers_are_offered_what_is_allowed_and_others_nothing(settings):
    contest = factories.competition()
    assert usable_images(contest.created_by, contest) == settings.SANDBOX_IMAGES
    assert usable_images(factories.user("charlie"), contest) == ()


def test_a_setting_that_names_no_image_keeps_the_site_from_starting(monkeypatch):
    import config.settings

    monkeypatch.setenv("PODIUM_IMAGES", "podium-sandbox, --privileged")
    with pytest.raises(ImproperlyConfigured, match="PODIUM_IMAGES: '--privileged' is not the name of an image"):
        importlib.reload(config.settings)


def test_code_for_an_image_that_was_withdrawn_is_refused_and_results_are_not(settings, tmp_path):
    contest = factories.competition()
    phase = factories.phase(contest, tasks=1, image=AUTOSKLEARN_IMAGE)
    alice = factories.user("alice")
    factories.participant(contest, alice)
    settings.SANDBOX_IMAGES = (SANDBOX_IMAGE,)
    with pytest.raises(Refused, match="does not allow any more"):
        actions.submit(user=alice, phase=phase, archive=factories.code_zip(tmp_path / "code"), filename="a.zip")
    results = factories.results_zip(tmp_path / "results", phase)
    assert actions.submit(user=alice, phase=phase, archive=results, filename="b.zip").pk


# What workers have ------------------------------------------------------------------------------------------


def test_a_run_goes_only_to_workers_that_have_its_image(asked):
    without, _ = factories.worker("without", images=[image()])
    having, _ = factories.worker("having", images=[image(), image(AUTOSKLEARN_IMAGE, NEW)])
    silent, _ = factories.worker("silent")
    needs = dispatch.needs_of(asked)
    assert dispatch.refusal(without, needs) == f"has no image {AUTOSKLEARN_IMAGE}"
    assert "has no images" in dispatch.refusal(silent, needs)
    assert dispatch.refusal(having, needs) == ""
    assert dispatch.next_for(without) is None and dispatch.next_for(having) == asked.pk


def test_a_run_without_an_image_of_its_own_happens_where_there_is_a_sandbox(asked):
    Run.objects.filter(pk=asked.pk).update(image="")
    needs = dispatch.needs_of(Run.objects.get(pk=asked.pk))
    confined, _ = factories.worker("confined", sandbox="bubblewrap", images=[])
    docker, _ = factories.worker("docker", default_image=SANDBOX_IMAGE, images=[image()])
    bare, _ = factories.worker("bare", default_image=SANDBOX_IMAGE, images=[])
    assert dispatch.refusal(confined, needs) == dispatch.refusal(docker, needs) == ""
    assert dispatch.refusal(bare, needs) == f"has no image {SANDBOX_IMAGE}"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"problem": "has no python3."}, f"Waits. The image {AUTOSKLEARN_IMAGE} has no python3."),
        (
            {"runs_models": False},
            f"Waits. The image {AUTOSKLEARN_IMAGE} has no Python 3.9 with numpy and scipy, which run a model.py.",
        ),
    ],
)
def test_an_image_that_cannot_run_it_is_told_while_it_waits(asked, fields, sentence):
    factories.worker("having", images=[image(AUTOSKLEARN_IMAGE, **fields)])
    dispatch.ring()
    asked.refresh_from_db()
    assert (asked.state, asked.sentence) == ("queued", sentence)


def test_an_image_that_no_worker_has_is_told_with_the_line_that_brings_it(asked):
    factories.worker("without", images=[image()])
    dispatch.ring()
    asked.refresh_from_db()
    assert asked.sentence == (
        f"Waits. No connected worker has the image {AUTOSKLEARN_IMAGE}. "
        "A worker's operator gets it with: ./podium images --name autosklearn"
    )


def test_an_image_that_was_withdrawn_is_told_while_a_run_waits_for_it(asked, settings):
    factories.worker("having", images=[image(AUTOSKLEARN_IMAGE)])
    settings.SANDBOX_IMAGES = (SANDBOX_IMAGE,)
    dispatch.ring()
    asked.refresh_from_db()
    assert (
        asked.sentence
        == f"Waits. The operator of this site does not allow the image {AUTOSKLEARN_IMAGE} any more."
    )


def test_organizers_read_before_any_submission_which_image_is_missing(client, asked):
    contest = asked.submission.phase.competition
    factories.worker("without", images=[image()])
    client.force_login(contest.created_by)
    page = client.get(f"/competitions/{contest.slug}/manage/queue/").content.decode()
    assert f"No connected worker has the image {AUTOSKLEARN_IMAGE}." in page


# The protocol -----------------------------------------------------------------------------------------------


def test_a_worker_announces_its_images_and_learns_which_are_allowed(settings):
    worker, token = factories.worker()
    answer = AtWork(token).announce(image(), image(AUTOSKLEARN_IMAGE, NEW))
    assert answer.status_code == 200 and answer.json()["images"] == list(settings.SANDBOX_IMAGES)
    worker = Worker.objects.get(pk=worker.pk)
    assert [found["name"] for found in worker.images] == [SANDBOX_IMAGE, AUTOSKLEARN_IMAGE]
    assert worker.default_image == SANDBOX_IMAGE


@pytest.mark.parametrize("fields", [{"id": "latest"}, {"name": "n" * 201}, {"packages": ["p" * 201]}])
def test_an_announcement_that_makes_no_sense_is_refused(fields):
    _, token = factories.worker()
    assert AtWork(token).announce(image() | fields).status_code == 422


def test_a_claim_pins_the_run_to_the_build_that_its_worker_has(asked):
    _, token = factories.worker("having")
    worker = AtWork(token)
    worker.announce(image(), image(AUTOSKLEARN_IMAGE, NEW, packages=["auto-sklearn==0.15.0"]))
    claimed = worker.call(f"runs/{asked.pk}/claim")
    assert claimed.status_code == 200 and claimed.json()["image"] == NEW
    asked.refresh_from_db()
    assert asked.image == AUTOSKLEARN_IMAGE
    assert (asked.built_image.digest, asked.built_image.packages) == (NEW, ["auto-sklearn==0.15.0"])
    assert str(asked.built_image) == f"{AUTOSKLEARN_IMAGE} (222222222222)"


def test_two_runs_in_the_same_build_share_it_and_the_next_build_is_another(asked):
    contest = asked.submission.phase.competition
    others = [
        factories.submission(factories.phase(contest, tasks=1), factories.user(name)).runs.get()
        for name in ("bob", "carol")
    ]
    for number, (run, digest) in enumerate(zip(others, (OLD, OLD), strict=True)):
        _, token = factories.worker(f"worker-{number}")
        worker = AtWork(token)
        worker.announce(image(digest=digest))
        assert worker.call(f"runs/{run.pk}/claim").json()["image"] == OLD
    assert BuiltImage.objects.count() == 1
    _, token = factories.worker("later")
    later = AtWork(token)
    later.announce(image(digest=NEW), image(AUTOSKLEARN_IMAGE, NEW))
    later.call(f"runs/{asked.pk}/claim")
    assert BuiltImage.objects.count() == 2


def test_a_worker_without_images_is_given_the_name_alone(asked):
    Run.objects.filter(pk=asked.pk).update(image="")
    _, token = factories.worker("confined", sandbox="bubblewrap")
    worker = AtWork(token)
    worker.announce(sandbox="bubblewrap")
    assert worker.call(f"runs/{asked.pk}/claim").json()["image"] == ""
    asked.refresh_from_db()
    assert asked.built_image is None


def test_the_run_page_shows_the_image_and_its_packages(client, asked):
    _, token = factories.worker("having")
    worker = AtWork(token)
    worker.announce(image(AUTOSKLEARN_IMAGE, NEW, packages=["auto-sklearn==0.15.0"]))
    worker.call(f"runs/{asked.pk}/claim")
    client.force_login(asked.submission.user)
    factories.participant(asked.submission.phase.competition, asked.submission.user)
    page = client.get(asked.submission.get_absolute_url()).content.decode()
    assert f"Image {AUTOSKLEARN_IMAGE}, 222222222222" in page and "auto-sklearn==0.15.0" in page
    phases = client.get(f"/competitions/{asked.submission.phase.competition.slug}/phases/").content.decode()
    assert f"<code>{AUTOSKLEARN_IMAGE}</code>" in phases
