"""Building images: what goes into the build, what stays out of the image, and what works in it."""

import json
import sys
import tarfile
from pathlib import Path

import pytest

from ingestion import images
from ingestion.image_names import AUTOSKLEARN_IMAGE, BUNDLES_IMAGE, PACKAGES_LABEL, RECIPES, SANDBOX_IMAGE
from ingestion.images import ImageError, bases, build, machine_python
from ingestion.images.build import build_context, extra_authority
from ingestion.sandbox.docker import DockerSandbox
from ingestion.sandbox.engine import EngineError, connect
from tests.ingestion.runs import Runner

CHECKOUT = build.CHECKOUT
BUILT = [SANDBOX_IMAGE, AUTOSKLEARN_IMAGE, BUNDLES_IMAGE]


@pytest.fixture(scope="module")
def engine():
    try:
        client = connect(timeout=60)
    except EngineError as error:
        pytest.skip(str(error))
    yield client
    client.close()


@pytest.fixture
def client(engine, request):
    for name in request.node.callspec.params.get("image", SANDBOX_IMAGE).split():
        if not engine.images.list(name=name):
            pytest.skip(f"{name} is not built")
    return engine


def test_the_build_sees_two_files_of_the_checkout_and_the_authority(tmp_path):
    authority = tmp_path / "ca.pem"
    authority.write_text("certificates")
    for recipe in RECIPES.values():
        own = [recipe.dockerfile, recipe.pins]
        with tarfile.open(fileobj=build_context(CHECKOUT, recipe, authority)) as archive:
            assert archive.getnames() == [*own, "extra-ca.crt"]
        with tarfile.open(fileobj=build_context(CHECKOUT, recipe, None)) as archive:
            assert archive.getnames() == own


def test_an_authority_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setenv("PODIUM_EXTRA_CA", "/nowhere/ca.pem")
    with pytest.raises(ImageError, match=r"PODIUM_EXTRA_CA names /nowhere/ca\.pem"):
        extra_authority()


def test_an_index_with_a_password_stays_out_of_the_build(monkeypatch):
    said = []
    monkeypatch.setenv("PIP_INDEX_URL", "https://alice:secret@index.example/simple")
    monkeypatch.delenv("PIP_TRUSTED_HOST", raising=False)
    assert build._index_arguments(said.append) == {}
    assert "secret" not in " ".join(said)
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    assert build._index_arguments(said.append) == {"PIP_INDEX_URL": "https://index.example/simple"}


def test_no_engine_is_said_with_what_helps(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(ImageError, match="No Docker engine answers") as error:
        images.build_image(progress=lambda line: None)
    assert "DOCKER_HOST" in error.value.mend


def test_a_missing_client_library_is_not_taken_for_the_folder_docker(monkeypatch):
    import types

    monkeypatch.setitem(__import__("sys").modules, "docker", types.ModuleType("docker"))
    with pytest.raises(EngineError, match="client library"):
        connect()


def test_every_version_is_pinned_and_the_shared_ones_are_those_of_the_site():
    def pins(path: str) -> dict[str, str]:
        lines = (line.partition(";")[0].strip() for line in (CHECKOUT / path).read_text().splitlines())
        return dict(line.split("==") for line in lines if line and not line.startswith("#"))

    site, sandbox = pins("requirements.txt"), pins("docker/sandbox.txt")
    assert {"numpy", "scipy", "pandas", "scikit-learn", "lightgbm", "xgboost-cpu", "catboost"} <= set(sandbox)
    assert all(site[name] == version for name, version in sandbox.items() if name in site)
    assert {"numpy", "scipy", "pandas", "scikit-learn", "matplotlib", "pyyaml"} <= set(pins("docker/bundles.txt"))
    assert pins("docker/sandbox-autosklearn.txt")["auto-sklearn"] == "0.15.0"


# Bases ------------------------------------------------------------------------------------------------------


class NoImages:
    """An engine without a single image and without a registry."""

    def __init__(self):
        self.images = self

    def get(self, name):
        import docker.errors

        raise docker.errors.ImageNotFound(name)


def test_without_debootstrap_and_registry_the_base_says_what_helps(monkeypatch):
    monkeypatch.delenv("PODIUM_BASE_IMAGE", raising=False)
    monkeypatch.setattr(bases, "_pull", lambda client, name, progress: (_ for _ in ()).throw(ImageError("No.")))
    monkeypatch.setattr(bases.shutil, "which", lambda name: None)
    monkeypatch.setattr(bases.os, "geteuid", lambda: 0)
    with pytest.raises(ImageError, match="needs debootstrap") as error:
        bases.prepare_base(NoImages(), RECIPES["sandbox"], progress=lambda line: None)
    assert "--base IMAGE" in error.value.mend


def test_a_python_that_nobody_has_is_told_before_anything_is_built(monkeypatch):
    monkeypatch.setattr(machine_python, "_candidates", lambda version: iter(()))
    with pytest.raises(ImageError, match=r"no Python 3\.9 is on this machine") as error:
        bases.prepare_base(NoImages(), RECIPES["autosklearn"], from_debian=True, progress=lambda line: None)
    assert "--python PATH" in error.value.mend


def test_an_interpreter_of_another_version_is_refused_by_name():
    with pytest.raises(ImageError, match=r"is not Python 2\.9"):
        machine_python.find_python("2.9", Path(sys.executable))


def test_the_running_python_is_found_by_its_own_word():
    version = "{}.{}".format(*sys.version_info)
    found = machine_python.find_python(version, Path(sys.executable))
    assert found.prefix == Path(sys.base_prefix)


def test_a_stand_in_that_refuses_leads_to_the_versions_beside_it(tmp_path, monkeypatch):
    stand_in = tmp_path / "shims" / "python3.9"
    real = tmp_path / "versions" / "3.9.18" / "bin" / "python3.9"
    for path, text in ((stand_in, "exit 127"), (real, f'echo \'["3.9", "{real.parents[1]}"]\'')):
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(stand_in.parent))
    assert machine_python.find_python("3.9").prefix == real.parents[1]


def test_of_a_machines_python_only_what_runs_need_is_laid_into_an_image(tmp_path):
    library = tmp_path / "lib" / "python3.9"
    for name in (
        "os.py",
        "test/test_os.py",
        "site-packages/secret.py",
        "json/__init__.py",
        "json/__pycache__/a.pyc",
    ):
        (library / name).parent.mkdir(parents=True, exist_ok=True)
        (library / name).write_text("")
    (library / "_sysconfigdata__linux_.py").write_text(f"prefix = '{tmp_path}'")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3.9").write_text("")
    with tarfile.open(tmp_path / "tree.tar", "w") as archive:
        machine_python._add_tree(archive, machine_python.MachinePython("3.9", tmp_path))
    with tarfile.open(tmp_path / "tree.tar") as archive:
        inside = "python/lib/python3.9"
        assert sorted(archive.getnames()) == [
            "python/bin/python3.9",
            f"{inside}/_sysconfigdata__linux_.py",
            f"{inside}/json/__init__.py",
            f"{inside}/os.py",
        ]
        assert {(entry.uid, entry.uname) for entry in archive if entry.name.endswith("os.py")} == {(0, "root")}
        text = archive.extractfile(f"{inside}/_sysconfigdata__linux_.py")
        assert text.read() == b"prefix = '/usr/local'"


# The images as they are built -------------------------------------------------------------------------------


@pytest.mark.docker
@pytest.mark.parametrize("image", BUILT)
def test_no_layer_of_an_image_tells_where_it_was_built(client, image):
    built = client.images.get(image)
    told = json.dumps(built.attrs["Config"]) + json.dumps(built.history())
    assert "extra-ca" not in told and "PIP_" not in told
    names = set()
    with tarfile.open(fileobj=_Stream(built.save()), mode="r|") as saved:
        for layer in saved:
            if layer.name.endswith("layer.tar") or layer.name.startswith("blobs/"):
                with tarfile.open(fileobj=saved.extractfile(layer), mode="r|") as files:
                    names |= {entry.name for entry in files}
    assert any(name.startswith("opt/podium/lib") for name in names), "the layers were looked at"
    unwanted = ("extra-ca", "pip.conf", ".solution", ".cache/pip", "build/sandbox", ".netrc", ".pypirc")
    assert [name for name in names if any(word in name for word in unwanted)] == []


class _Stream:
    """A stream of chunks as a file that is read forwards."""

    def __init__(self, chunks):
        self.chunks, self.rest = iter(chunks), b""

    def read(self, size):
        parts, length = [self.rest], len(self.rest)
        while length < size and (chunk := next(self.chunks, None)) is not None:
            parts.append(chunk)
            length += len(chunk)
        data = b"".join(parts)
        self.rest = data[size:]
        return data[:size]


LIST = (
    "import json; from importlib.metadata import distributions as d; "
    "print(json.dumps(sorted({f'{one.metadata[\"Name\"]}=={one.version}' for one in d()})))"
)


@pytest.mark.docker
@pytest.mark.parametrize("image", BUILT)
def test_the_label_lists_what_is_installed(client, image):
    label = client.images.get(image).labels[PACKAGES_LABEL].split()
    inside = client.containers.run(image, ["python3", "-I", "-c", LIST], remove=True, network_mode="none")
    assert label == json.loads(inside) and len(label) > 10
    recipe = next(recipe for recipe in RECIPES.values() if recipe.image == image)
    pinned = {line for line in (CHECKOUT / recipe.pins).read_text().lower().splitlines() if "==" in line}
    assert {one.lower().replace("_", "-") for one in label} <= {line.partition(" ;")[0] for line in pinned}


BOOSTED = """
import numpy as np
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from xgboost import XGBClassifier

class Model:
    def fit(self, X, y):
        rng = np.random.default_rng(0)
        self.columns = X.shape[1]
        X = rng.normal(size=(50, self.columns))
        y = (X[:, 0] > 0).astype(int)
        self.models = [
            CatBoostClassifier(iterations=5, verbose=0, allow_writing_files=False, thread_count=1),
            LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1),
            XGBClassifier(n_estimators=5, n_jobs=1),
        ]
        for model in self.models:
            assert model.fit(X, y).score(X, y) > 0.8
            print("fitted", type(model).__name__)

    def predict(self, X):
        return np.mean([model.predict_proba(X)[:, 1] for model in self.models], axis=0)
"""


@pytest.mark.docker
@pytest.mark.parametrize("image", [SANDBOX_IMAGE])
def test_boosted_trees_of_three_kinds_learn_in_a_hardened_run(client, image, tmp_path):
    result = Runner(DockerSandbox(image), tmp_path).model(BOOSTED, seconds=120, memory=2**30, processes=256)
    assert result.status == "ok", result.sentence + result.log_tail
    for name in ("CatBoostClassifier", "LGBMClassifier", "XGBClassifier"):
        assert f"fitted {name}" in result.log_tail
