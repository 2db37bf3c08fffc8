"""From a file to a dataset that is kept with its recipe: the action and the command."""

import hashlib
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings
from django.core.management import call_command

from datasets.models import Dataset, DatasetVersion
from datasets.prepare import Recipe, prepare_dataset
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def olga():
    return make.user("olga")


def table(folder: Path) -> Path:
    """A CSV file of 300 rows with two features that tell something, a category, gaps and an identifier."""
    draw = np.random.default_rng(0)
    lines = ["id,a,b,job,class"]
    for row in range(300):
        a, b = draw.normal(size=2)
        label = "yes" if a + b + draw.normal() > 0 else "no"
        gap = "" if row % 9 == 0 else f"{b:.3f}"
        lines.append(f"u{row},{a:.3f},{gap},{'cook' if row % 3 else 'smith'},{label}")
    path = folder / "customers.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def recipe(**changed) -> Recipe:
    given = {"name": "secret", "task": "binary", "metric": "auc", "target": ["class"], "probes": 0.5, "seed": 3}
    return Recipe.from_json({**given, **changed})


def test_a_table_becomes_a_dataset_that_can_be_made_again_from_what_its_version_keeps(olga, tmp_path):
    path, told = table(tmp_path), []
    report = prepare_dataset(path, recipe(), owner=olga, progress=lambda fraction, sentence: told.append(fraction))
    assert report.ok, report.errors
    version = report.dataset.current
    assert (version.name, version.feat_num, version.facts["has_missing"]) == ("secret", 6, True)
    assert version.recipe["source"] == {
        "name": "customers.csv",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }
    assert any("left out: id" in finding["sentence"] for finding in version.findings)
    assert told == sorted(told) and told[-1] == 1.0
    again = prepare_dataset(path, Recipe.from_json(version.recipe["recipe"]), owner=olga).dataset.current
    assert (again.number, again.public_sha256) == (2, version.public_sha256)
    assert again.test_solution.read() == version.test_solution.read()


def test_nothing_of_the_source_is_public(olga, tmp_path):
    version = prepare_dataset(table(tmp_path), recipe(), owner=olga).dataset.current
    with zipfile.ZipFile(io.BytesIO(version.public_zip.read())) as archive:
        text = b"".join(archive.read(name) for name in archive.namelist()).decode()
    assert not [word for word in ("customers", "class'", "job", "cook", "seed", "probe") if word in text]


@pytest.mark.parametrize(
    ("text", "changed", "place"),
    [
        ("a,class\n1\n", {}, "customers.csv line 2"),
        (None, {"target": ["nobody"]}, "target"),
        (None, {"test_rows": 300}, "test_rows"),
    ],
    ids=["a ragged table", "a column that is not there", "no row to learn from"],
)
def test_what_cannot_be_prepared_is_refused_and_nothing_is_kept(olga, tmp_path, text, changed, place):
    path = table(tmp_path)
    if text:
        path.write_text(text)
    report = prepare_dataset(path, recipe(**changed), owner=olga)
    assert (report.ok, [problem.place for problem in report.errors]) == (False, [place])
    assert Dataset.objects.count() == 0
    assert list(Path(settings.FILE_UPLOAD_TEMP_DIR).iterdir()) == []


def run(capsys, *arguments: str) -> tuple[dict, int]:
    code = 0
    try:
        call_command("prepare_dataset", *arguments, "--json")
    except SystemExit as end:
        code = int(end.code)
    return json.loads(capsys.readouterr().out.splitlines()[-1]), code


def test_the_command_imports_what_its_options_make_of_a_table(capsys, olga, tmp_path):
    arguments = ["--owner", "olga", "--target", "class", "--drop", "id", "--seed", "5", "--name", "hidden"]
    answer, code = run(capsys, str(table(tmp_path)), *arguments, "--missing", "mark", "--title", "Hidden")
    assert (code, answer["ok"], answer["slug"], answer["version"]) == (0, True, "hidden", 1)
    assert (answer["recipe"]["seed"], answer["recipe"]["drop"]) == (5, ["id"])
    version = DatasetVersion.objects.get()
    assert (version.dataset.title, version.feat_num) == ("Hidden", 4)
    assert version.recipe["recipe"] == answer["recipe"]


def test_the_command_writes_a_folder_by_a_recipe_in_a_file(capsys, tmp_path):
    kept = {"recipe": recipe().to_json(), "source": {"sha256": "0" * 64}}
    (tmp_path / "recipe.json").write_text(json.dumps(kept))
    arguments = ["--recipe", str(tmp_path / "recipe.json"), "--output", str(tmp_path / "out"), "--keep-names"]
    answer, code = run(capsys, str(table(tmp_path)), *arguments)
    assert answer["recipe"]["seed"] == 3
    assert (code, answer["folder"]) == (0, str(tmp_path / "out"))
    names = (tmp_path / "out" / "secret_feat.name").read_text().split()
    assert {"a", "b", "job", "probe_1"} <= set(names)
    assert "another file" in answer["warnings"][0]["message"]
    assert Dataset.objects.count() == 0


def test_the_command_draws_a_seed_where_none_is_given_and_fits_metric_and_split_to_the_task(capsys, tmp_path):
    arguments = ["--target", "a", "--task", "regression", "--output", str(tmp_path / "out")]
    seeds = set()
    for _ in range(2):
        answer, code = run(capsys, str(table(tmp_path)), *arguments)
        assert (code, answer["recipe"]["metric"], answer["recipe"]["split"]) == (0, "R2", "random")
        seeds.add(answer["recipe"]["seed"])
    assert len(seeds) == 2


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--target", "nobody"], "no column 'nobody'"),
        (["--target", "class", "--probes", "2"], "from 0 to 0.9"),
        (["--target", "class", "--kind", "a"], "not COLUMN=KIND"),
        (["--recipe", "nothing.json"], "cannot be read as JSON"),
    ],
    ids=["unknown target", "probes", "kind", "no recipe"],
)
def test_the_command_says_what_is_wrong_with_its_options(capsys, olga, tmp_path, arguments, word):
    answer, code = run(capsys, str(table(tmp_path)), "--owner", "olga", *arguments)
    assert code == 1
    assert word in " ".join(f"{problem['place']} {problem['message']}" for problem in answer["errors"])


def test_the_command_asks_who_shall_own_the_dataset(capsys, tmp_path):
    answer, code = run(capsys, str(table(tmp_path)))
    assert (code, answer["errors"][0]["mend"]) == (1, "Add --owner USER, or --output DIR.")
