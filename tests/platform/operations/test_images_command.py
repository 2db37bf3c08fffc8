"""`./podium images` and what the doctor says about images."""

import pytest

import ingestion.images
from ingestion.image_names import AUTOSKLEARN_IMAGE, SANDBOX_IMAGE
from ingestion.images import ImageError
from ingestion.sandbox import SandboxError, engine
from ingestion.sandbox.base import KnownImage
from ingestion.sandbox.docker import DockerSandbox
from operations import __main__ as launcher
from operations import doctor


@pytest.fixture
def built(monkeypatch):
    """What would be built, in order, each with its options."""
    calls = []
    monkeypatch.setattr(ingestion.images, "build_image", lambda name, **options: calls.append((name, options)))
    return calls


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ([], ["sandbox", "bundles"]),
        (["--name", "autosklearn"], ["autosklearn"]),
        (["--name", "bundles"], ["bundles"]),
        (["--all"], ["sandbox", "autosklearn", "bundles"]),
        (["--all", "--from-debian"], ["sandbox", "autosklearn", "bundles"]),
        (["--base", "podium-base"], ["sandbox", "bundles"]),
    ],
)
def test_it_builds_the_usual_images_another_one_or_all(built, arguments, names):
    assert launcher.main(["images", *arguments]) == 0
    assert [name for name, _ in built] == names
    assert all(options["from_debian"] == ("--from-debian" in arguments) for _, options in built)


@pytest.mark.parametrize(
    "arguments", [["--all", "--base", "x"], ["--all", "--python", "/x"], ["--python", "/x"], ["--name", "absent"]]
)
def test_options_that_fit_no_image_are_a_mistake_of_usage(built, arguments):
    try:
        code = launcher.main(["images", *arguments])
    except SystemExit as end:
        code = end.code
    assert code == 2 and built == []


def test_a_build_that_fails_says_why_and_what_helps(monkeypatch, capsys):
    def fail(name, **options):
        raise ImageError("No.", "Do this.")

    monkeypatch.setattr(ingestion.images, "build_image", fail)
    assert launcher.main(["images"]) == 1
    told = "".join(capsys.readouterr())
    assert "podium: No." in told and "Do this." in told


class Engine:
    def close(self):
        pass


def images_of(monkeypatch, *images):
    monkeypatch.setattr(engine, "connect", lambda timeout: Engine())
    monkeypatch.setattr(DockerSandbox, "images", lambda self, names: images)
    return {finding.name.removeprefix("image "): finding for finding in doctor.check_images()}


def test_the_doctor_lists_every_allowed_image_and_the_line_that_brings_a_missing_one(monkeypatch, settings):
    settings.SANDBOX_IMAGES = (SANDBOX_IMAGE, AUTOSKLEARN_IMAGE, "rocker/r-ver:4")
    here = KnownImage(SANDBOX_IMAGE, "sha256:" + "1" * 64, ("numpy==2.4.6", "scipy==1.17.1"))
    broken = KnownImage("rocker/r-ver:4", "sha256:" + "2" * 64, problem="has no python3.")
    found = images_of(monkeypatch, here, broken)
    assert list(found) == [SANDBOX_IMAGE, AUTOSKLEARN_IMAGE, "rocker/r-ver:4"]
    assert (found[SANDBOX_IMAGE].verdict, found[SANDBOX_IMAGE].sentence) == ("ok", "111111111111, 2 packages.")
    assert found[AUTOSKLEARN_IMAGE].mend == "./podium images --name autosklearn"
    assert found["rocker/r-ver:4"].sentence == "It has no python3."
    assert not any(finding.needed for finding in found.values()), "bubblewrap does without them"


def test_the_image_of_the_installation_is_looked_for_though_phases_may_not_choose_it(monkeypatch, settings):
    settings.SANDBOX_IMAGE, settings.SANDBOX_IMAGES = "own:1", (SANDBOX_IMAGE,)
    assert list(images_of(monkeypatch)) == ["own:1", SANDBOX_IMAGE]


def test_an_engine_that_cannot_list_images_is_a_note(monkeypatch):
    def fail(self, names):
        raise SandboxError("the Docker engine does not answer")

    monkeypatch.setattr(engine, "connect", lambda timeout: Engine())
    monkeypatch.setattr(DockerSandbox, "images", fail)
    (finding,) = doctor.check_images()
    assert (finding.verdict, finding.sentence) == (
        "note",
        "They cannot be looked at: the Docker engine does not answer.",
    )
