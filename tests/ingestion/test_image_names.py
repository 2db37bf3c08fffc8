"""Names of images: how they are read, and which ones phases may choose."""

import pytest

from ingestion.image_names import (
    AUTOSKLEARN_IMAGE,
    BUNDLES_IMAGE,
    SANDBOX_IMAGE,
    BadImageName,
    allowed_images,
    full_name,
    how_to_get,
    short_id,
)

ID = "sha256:" + "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("podium-sandbox", "podium-sandbox:latest"),
        (" python:3.11-slim ", "python:3.11-slim"),
        ("registry.example:5000/team/image", "registry.example:5000/team/image:latest"),
        ("registry.example:5000/team/image:2", "registry.example:5000/team/image:2"),
        (f"team/image@{ID}", f"team/image@{ID}"),
        (ID, ID),
    ],
)
def test_a_name_without_a_tag_means_the_latest(text, name):
    assert full_name(text) == name


@pytest.mark.parametrize("text", ["", "Upper/Case", "--privileged", "a b", "sha256:short", "image:tag;rm"])
def test_what_names_no_image_is_refused(text):
    with pytest.raises(BadImageName, match="is not the name of an image"):
        full_name(text)


def test_phases_choose_among_our_own_unless_the_operator_says_otherwise(monkeypatch):
    monkeypatch.delenv("PODIUM_IMAGES", raising=False)
    assert allowed_images() == (SANDBOX_IMAGE, AUTOSKLEARN_IMAGE, BUNDLES_IMAGE)
    monkeypatch.setenv("PODIUM_IMAGES", f"podium-sandbox, rocker/r-ver:4\n{ID},podium-sandbox:latest")
    assert allowed_images() == (SANDBOX_IMAGE, "rocker/r-ver:4", ID)


def test_every_image_has_a_line_that_brings_it():
    assert how_to_get(SANDBOX_IMAGE) == "./podium images"
    assert how_to_get(AUTOSKLEARN_IMAGE) == "./podium images --name autosklearn"
    assert how_to_get("rocker/r-ver:4") == "docker pull rocker/r-ver:4"
    assert "docker load" in how_to_get(ID)


def test_a_short_id_is_what_docker_shows():
    assert short_id(ID) == "0123456789ab"
