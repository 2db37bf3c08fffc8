"""Benchmarks in MementoML's format: what is read, what is refused, who may send and see one, what comes back."""

import io
import json
import zipfile

import altair as alt
import numpy as np
import pandas as pd
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.utils import timezone

from accounts.refusals import Refused
from analysis.benchmarks import actions, asking, policy, reading, work
from analysis.benchmarks.grid import opened
from analysis.benchmarks.reading import read
from analysis.benchmarks.views import BY_KEY as VIEWS
from analysis.models import Benchmark
from operations.organizers import allow
from tests.platform import factories as make
from tests.shared import shared_case

RESULTS = """dataset,model,param_index,row_index,acc,auc,time
31,xgboost,1001,1,0.7,0.75,0.5
31,xgboost,1001,2,0.7,0.77,0.5
31,xgboost,1002,1,0.8,0.85,1.5
31,xgboost,1002,2,0.8,NA,1.5
37,xgboost,1001,1,0.6,0.65,0.2
37,xgboost,1002,1,0.6,0.5,0.9
31,kknn,1001,1,0.7,0.71,0.1
"""
XGBOOST = "param_index,booster,eta\n1001,gbtree,0.3\n1002,gblinear,0.1\n1003,gbtree,0.2\n"


def organizer(name: str):
    person = make.user(name)
    allow(person, is_allowed=True)
    return type(person).objects.get(pk=person.pk)


def written(folder, **texts: str):
    paths = []
    for name, text in texts.items():
        path = folder / f"{name}.csv"
        path.write_text(text)
        paths.append(path)
    return paths


def grid_of(found):
    packed = io.BytesIO()
    np.savez_compressed(packed, **found.arrays)
    packed.seek(0)
    return opened(packed)


def test_records_become_arrays_of_datasets_configurations_and_splits(tmp_path):
    found = read(written(tmp_path, results=RESULTS, parameters_xgboost=XGBOOST))
    grid = grid_of(found)
    assert grid.datasets == ("31", "37") and grid.splits == ("1", "2") and grid.measures == ("auc", "acc", "time")
    assert [one.name for one in grid.algorithms] == ["kknn", "xgboost"]
    xgboost = grid.named("xgboost")
    assert xgboost.index.tolist() == [1001, 1002] and xgboost.default == 0
    assert grid.means(xgboost)[0] == pytest.approx([0.76, 0.85])
    assert np.isnan(grid.values(xgboost, "auc")[1, :, 1]).all()
    assert grid.parameter(xgboost, "booster").tolist() == ["gbtree", "gblinear"]
    assert grid.parameter(xgboost, "eta").tolist() == [0.3, 0.1]
    done, failed = grid.counts(xgboost)
    assert done.tolist() == [3, 2] and failed.tolist() == [1, 0]
    assert found.facts["records"] == 7 and found.facts["failed"] == 1


def test_it_tells_what_it_did_with_odd_records(tmp_path):
    text = RESULTS + "31,kknn,1001,1,0.7,0.72,0.1\n31,kknn,3,1,0.7,0.6,0.1\n"
    notes = " ".join(read(written(tmp_path, results=text)).facts["notes"])
    assert "1 records came twice" in notes
    assert "AUC of exactly 0.5" in notes
    assert "1 records of pilot runs" in notes


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ({"results": "a,b\n1,2\n"}, "neither results nor parameters"),
        ({"results": "dataset,param_index,auc\n1,x,0.5\n"}, "no whole number"),
        ({"results": "dataset,param_index,auc\n1,1,7\n"}, "outside 0 to 1"),
        ({"results": "dataset,param_index,auc\n"}, "no results"),
        ({"xgboost": XGBOOST}, "no results"),
        ({"results": RESULTS, "other": XGBOOST}, "to which algorithm"),
        ({"results": RESULTS, "xgboost": "param_index,a\n1,2\n1,3\n"}, "there twice"),
        ({"results": RESULTS, "xgboost": "param_index,a\n7,2\n"}, "is among the configurations"),
        ({"results": "dataset,param_index,auc\n" + "x" * (2**20 + 10)}, "longer than a mebibyte"),
        ({"results": "dataset,param_index,auc\n1,1,0.5\0\n"}, "no text"),
    ],
)
def test_what_is_no_benchmark_is_refused_with_the_reason(tmp_path, texts, says):
    with pytest.raises(Refused, match=says):
        read(written(tmp_path, **texts))


def test_parquet_is_read_like_csv(tmp_path):
    import pandas as pd

    pd.read_csv(io.StringIO(RESULTS)).to_parquet(tmp_path / "results.parquet")
    assert read([tmp_path / "results.parquet"]).facts["records"] == 7


def test_the_metamimic_copy_is_numbered_as_mementoml():
    folder = shared_case("analysis")
    found = read([folder / "metamimic_results.csv", folder / "metamimic_grid.csv"], algorithm="xgboost")
    grid = grid_of(found)
    xgboost = grid.named("xgboost")
    assert (found.facts["datasets"], len(xgboost.index)) == (22, 999)
    assert xgboost.index[[0, -1]].tolist() == [1002, 2000]
    diverged = (grid.means(xgboost) == 0.5).any(axis=0)
    assert set(grid.parameter(xgboost, "booster")[diverged]) == {"gblinear"}


@pytest.mark.django_db
def test_who_organizes_sends_a_benchmark_and_the_worker_reads_it():
    alice = organizer("alice")
    files = [("results.csv", io.BytesIO(RESULTS.encode())), ("xgboost.csv", io.BytesIO(XGBOOST.encode()))]
    benchmark = actions.send(owner=alice, title="Small", files=files)
    assert benchmark.is_busy
    work.process(benchmark.pk)
    benchmark.refresh_from_db()
    assert benchmark.state == "ready" and benchmark.facts["kept"] == 7 and not benchmark.upload
    with benchmark.content.open("rb") as content:
        assert opened(content).datasets == ("31", "37")


@pytest.mark.django_db
def test_a_zip_is_opened_safely_and_a_bad_one_says_why():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../results.csv", RESULTS)
    packed.seek(0)
    benchmark = actions.send(owner=organizer("alice"), title="Bad", files=[("all.zip", packed)])
    work.process(benchmark.pk)
    benchmark.refresh_from_db()
    assert benchmark.state == "failed" and "results.csv" in benchmark.sentence and not benchmark.upload


@pytest.mark.django_db
def test_a_benchmark_is_its_owners_until_it_is_public():
    alice, bob, charlie = organizer("alice"), make.user("bob"), make.user("charlie")
    benchmark = Benchmark.objects.create(owner=alice, title="Small", state="ready")
    assert list(policy.visible_benchmarks(alice)) == [benchmark]
    assert not policy.visible_benchmarks(bob).exists()
    with pytest.raises(Refused, match="Only its owner"):
        actions.publish(benchmark, user=bob, is_public=True)
    actions.publish(benchmark, user=alice, is_public=True)
    assert policy.visible_benchmarks(charlie).exists()
    with pytest.raises(Refused, match="Only organizers"):
        actions.send(owner=bob, title="x", files=[])
    with pytest.raises(Refused):
        actions.delete(benchmark, user=bob)
    actions.delete(benchmark, user=alice)
    assert not Benchmark.objects.exists()


@pytest.fixture
def benchmark(tmp_path):
    """A small public benchmark of alice's with two algorithms on two datasets."""
    paths = written(tmp_path, results=RESULTS, parameters_xgboost=XGBOOST)
    return actions.import_files(owner=organizer("alice"), title="Small", paths=paths, is_public=True)


@pytest.mark.django_db
@pytest.mark.parametrize("key", list(VIEWS))
def test_everybody_reads_every_page_of_a_public_benchmark(client, benchmark, key):
    page = client.get(f"/analysis/benchmarks/{benchmark.pk}/{key}/")
    assert page.status_code == 200
    assert VIEWS[key].question in page.content.decode()


@pytest.mark.django_db
def test_a_figure_comes_as_a_file(client, benchmark):
    answer = client.get(f"/analysis/benchmarks/{benchmark.pk}/coverage/coverage.csv")
    assert answer.content.decode().splitlines()[:2] == ["dataset,algorithm,done,failed,left", "31,kknn,1,0,1"]
    assert client.get(f"/analysis/benchmarks/{benchmark.pk}/coverage/nothing.csv").status_code == 404
    assert client.get(f"/analysis/benchmarks/{benchmark.pk}/nothing/").status_code == 404


@pytest.mark.django_db
def test_the_export_reads_back_as_the_same_benchmark(client, benchmark, tmp_path):
    answer = client.get(f"/analysis/benchmarks/{benchmark.pk}/export.zip")
    (tmp_path / "all.zip").write_bytes(answer.getvalue())
    again = read(work.tables_of(tmp_path / "all.zip", tmp_path))
    with benchmark.content.open("rb") as content:
        before = opened(content)
        after = grid_of(again)
        assert (after.datasets, after.splits, after.measures) == (before.datasets, before.splits, before.measures)
        for one in before.algorithms:
            for measure in before.measures:
                same = after.values(after.named(one.name), measure)
                np.testing.assert_allclose(same, before.values(one, measure), rtol=1e-6)
    assert again.facts["failed"] == 1


@pytest.mark.django_db
def test_the_form_takes_files_and_the_page_tells_how_far_the_reading_is(client):
    client.force_login(organizer("alice"))
    file = SimpleUploadedFile("results.csv", RESULTS.encode())
    page = client.post("/analysis/benchmarks/", {"title": "Small", "files": [file]}, follow=True)
    assert "Waits for the site" in page.content.decode()
    address = page.redirect_chain[-1][0]
    assert "HX-Refresh" not in client.get(address, headers={"HX-Request": "true"})
    work.process(Benchmark.objects.get().pk)
    assert "cells are there" in client.get(address).content.decode()
    assert (
        client.get(address, headers={"HX-Request": "true"})["HX-Refresh"] == "true"
    )  # the tabs are outside of it
    refused = client.post(
        "/analysis/benchmarks/", {"title": "Small", "files": [SimpleUploadedFile("a.txt", b"x")]}
    )
    assert refused.status_code == 400 and "neither CSV nor Parquet" in refused.content.decode()


@pytest.mark.django_db
def test_a_private_benchmark_is_unknown_to_others(client, benchmark):
    client.force_login(benchmark.owner)
    client.post(f"/analysis/benchmarks/{benchmark.pk}/publish/", {"public": "0"})
    client.force_login(make.user("bob"))
    for address in ("", "coverage/", "coverage/coverage.csv", "export.zip"):
        assert client.get(f"/analysis/benchmarks/{benchmark.pk}/{address}").status_code == 404
    assert client.post(f"/analysis/benchmarks/{benchmark.pk}/delete/").status_code == 404


def made_benchmark(folder):
    """Two algorithms with enough configurations for every view."""
    random = np.random.default_rng(0)
    lines = ["dataset,model,param_index,row_index,auc,time"]
    for model in ("glmnet", "kknn"):
        for index in range(1001, 1021):
            for dataset, split in ((31, 1), (31, 2), (37, 1), (37, 2), (44, 1), (44, 2)):
                values = f"{random.uniform(0.6, 0.9):.4f},{random.uniform(0.1, 9):.3f}"
                lines.append(f"{dataset},{model},{index},{split},{values}")
    text = "\n".join(f"{index},{random.uniform(0, 1):.3f},{'ab'[index % 2]}" for index in range(1001, 1021))
    return read(written(folder, results="\n".join(lines), glmnet=f"param_index,alpha,kind\n{text}"))


@pytest.mark.parametrize(
    ("key", "wish", "figure"),
    [
        ("coverage", {}, "coverage"),
        ("sensitivity", {"algorithm": "glmnet", "parameter": "alpha", "dataset": "all"}, "sensitivity"),
        ("sensitivity", {"algorithm": "glmnet", "parameter": "alpha", "dataset": "37"}, "sensitivity"),
        ("sensitivity", {"algorithm": "glmnet", "parameter": "kind", "dataset": "all"}, "sensitivity"),
        ("tunability", {"algorithm": "glmnet"}, "gains"),
        ("time", {"algorithm": "all", "dataset": "all"}, "time_and_auc"),
        ("portfolio", {"algorithm": "all", "rule": "a-smfo"}, "portfolio_regret"),
        ("epp", {"algorithm": "kknn", "dataset": "all"}, "epp"),
        ("epp", {"algorithm": "all", "dataset": "31"}, "epp"),
        ("edf", {"dataset": "all"}, "edf"),
    ],
)
def test_every_view_has_a_figure_with_its_numbers(tmp_path, key, wish, figure):
    found = VIEWS[key].build(grid_of(made_benchmark(tmp_path)), wish).named(figure)
    assert found.rows and found.sentence and found.n and found.method
    assert all(len(row) == len(found.columns) for row in found.rows)
    assert alt.Chart.from_dict(found.spec)  # raises where Vega-Lite does not know it


@pytest.mark.django_db
def test_what_a_worker_lost_is_read_again_once_and_then_given_up():
    benchmark = Benchmark.objects.create(
        owner=organizer("alice"), title="Lost", state="reading", tries=1, deadline=timezone.now()
    )
    work.reconcile()
    benchmark.refresh_from_db()
    assert benchmark.state == "waiting"
    Benchmark.objects.filter(pk=benchmark.pk).update(state="reading", tries=2, deadline=timezone.now())
    work.reconcile()
    benchmark.refresh_from_db()
    assert benchmark.state == "failed" and "lost the reading twice" in benchmark.sentence


@pytest.mark.django_db
def test_a_benchmark_that_is_removed_or_hidden_while_it_is_read_stays_so(monkeypatch):
    owner = organizer("alice")
    kept, gone = (
        actions.send(owner=owner, title=title, files=[("r.csv", io.BytesIO(RESULTS.encode()))], is_public=True)
        for title in ("kept", "gone")
    )
    usual = work.read

    def read_slowly(*args, **more):
        Benchmark.objects.filter(pk=gone.pk).delete()
        Benchmark.objects.filter(pk=kept.pk).update(is_public=False)
        return usual(*args, **more)

    monkeypatch.setattr(work, "read", read_slowly)
    for one in (kept, gone):
        work.process(one.pk)
    left = Benchmark.objects.get()
    assert (left.title, left.state, left.is_public, left.upload.name) == ("kept", "ready", False, "")


@pytest.mark.django_db
def test_words_that_are_no_options_are_not_kept_apart(benchmark):
    first = asking.ask(benchmark, VIEWS["coverage"], {"algorithm": "xgboost", "dataset": "one"})
    again = asking.ask(benchmark, VIEWS["coverage"], {"algorithm": "xgboost", "dataset": "another", "rule": "x"})
    assert again.result is first.result


def test_a_parquet_file_of_few_bytes_does_not_become_a_large_table(tmp_path, monkeypatch):
    path = tmp_path / "results.parquet"
    table = {"dataset": ["x" * 150] * 50_000, "param_index": range(50_000), "auc": [0.5] * 50_000}
    pd.DataFrame(table).to_parquet(path)
    assert read([path]).facts["datasets"] == 1  # the text is read once, not 50,000 times
    pd.DataFrame(table | {"dataset": "x" * 201}).to_parquet(path)
    with pytest.raises(Refused, match="more than 200 letters"):
        read([path])
    monkeypatch.setattr(reading, "LARGEST_GROUP", 10)
    with pytest.raises(Refused, match="row group"):
        read([path])


@pytest.mark.parametrize("column", ["dataset", "model", "row_index"])
def test_a_record_that_does_not_say_what_it_is_of_is_refused(tmp_path, column):
    table = pd.read_csv(io.StringIO(RESULTS)).astype(str)
    table.loc[2, column] = ""
    table.to_csv(tmp_path / "results.csv", index=False)
    with pytest.raises(Refused, match="records without a"):
        read([tmp_path / "results.csv"])


@pytest.mark.django_db
def test_the_command_imports_a_benchmark_and_says_what_it_read(tmp_path, capsys):
    alice = organizer("alice")
    written(tmp_path, results=RESULTS, xgboost=XGBOOST)
    call_command("import_benchmark", tmp_path, owner=alice.username, title="Small", json=True)
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert said["ok"] and said["kept"] == 7 and said["algorithms"]["xgboost"]["parameters"] == ["booster", "eta"]
    assert Benchmark.objects.get().get_absolute_url() == said["place"]
    with pytest.raises(SystemExit):
        call_command("import_benchmark", tmp_path / "nothing", owner=alice.username, json=True)
    assert "There is no file or folder" in json.loads(capsys.readouterr().out.splitlines()[-1])["message"]
