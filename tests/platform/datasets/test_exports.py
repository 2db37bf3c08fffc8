"""Croissant metadata and datasheets tell what is public, and of that all that was written down."""

import json

import pytest

from datasets import croissant, datasheet
from datasets.actions import import_dataset
from datasets.card import Card
from tests.platform import factories as make
from tests.platform.datasets.materials import MULTICLASS, noise, written

pytestmark = pytest.mark.django_db

SECRET = ("test.solution", "valid.solution", "private", "probes")


@pytest.fixture
def kept(tmp_path):
    """A dataset of three classes with its newest version and card."""
    X, y = noise(90)
    y[::3] = 2
    y[-10:] = 2
    folder = written(
        tmp_path, X, y, task=MULTICLASS, metric="bac", rows=(40, 20), label_names=["low", "mid", "high"],
        private_info={"title": "where probes come from"},
    )  # fmt: skip
    report = import_dataset(folder, owner=make.user("olga"), irrelevant=0.4375, recipe={"probes": 0.4375})
    version = report.dataset.current
    return report.dataset, version, Card.from_json(version.card)


def test_croissant_describes_the_zip_and_each_public_file_in_it(kept):
    dataset, version, card = kept
    found = croissant.metadata(dataset, version, card, url="/datasets/small/", download_url="/datasets/small/zip/")
    archive, *files = found["distribution"]
    assert (archive["sha256"], archive["contentSize"]) == (version.public_sha256, f"{version.public_bytes} B")
    assert archive["contentUrl"].startswith("http") and archive["contentUrl"].endswith("/datasets/small/zip/")
    assert {file["containedIn"]["@id"] for file in files} == {archive["@id"]}
    names = {file["name"] for file in files}
    assert {"small_train.data", "small_train.solution", "small_test.data", "small_public.info"} <= names
    assert all(file["sha256"] == version.checksums[file["name"]]["sha256"] for file in files)


def test_croissant_names_what_the_format_asks_for(kept):
    dataset, version, card = kept
    dataset.licence, dataset.citation, dataset.source = "CC-BY-4.0", "Olga, 2026", "measured by hand"
    found = croissant.metadata(dataset, version, card)
    assert found["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    assert (found["license"], found["citeAs"], found["version"]) == ("CC-BY-4.0", "Olga, 2026", "1.0.0")
    assert "40 training, 20 validation and 30 test rows" in found["description"]
    records = {table["@id"]: table["data"] for table in found["recordSet"]}
    assert [record["classes/label"] for record in records["classes"]] == ["low", "mid", "high"]
    assert [record["parts/targets"] for record in records["parts"]] == ["given", "hidden", "hidden"]


def test_what_nobody_said_is_left_out_of_croissant_and_named_in_the_datasheet(kept):
    found = croissant.metadata(*kept)
    assert not {"license", "citeAs", "isBasedOn", "url"} & set(found)
    assert datasheet.markdown(*kept).count(datasheet.UNSAID) == 3


def test_the_exports_tell_nothing_of_hidden_targets_or_of_the_recipe(kept):
    for text in (json.dumps(croissant.metadata(*kept)), datasheet.markdown(*kept)):
        assert not [word for word in SECRET if word in text]
        assert "0.4375" not in text
        assert f"{kept[2].balance:.3f}" not in text


def test_the_datasheet_has_its_sections_and_numbers(kept):
    dataset, version, card = kept
    dataset.description = "Noise, to try the checks.\n# A heading of its own"
    text = datasheet.markdown(dataset, version, card)
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert [line[3:] for line in headings] == [
        "Motivation", "Composition", "Collection", "Preparation", "Uses", "Distribution", "Maintenance",
    ]  # fmt: skip
    assert "\n\\# A heading of its own" in text
    assert "| samples for training | 40 |" in text
    assert f"| `small_train.data` | {version.checksums['small_train.data']['bytes']:,} |" in text


def test_a_cell_of_a_table_cannot_be_broken_by_a_name(kept):
    dataset, version, card = kept
    dataset.title = "a | b\nc"
    assert datasheet.markdown(dataset, version, card).startswith("# a \\| b c\n")
