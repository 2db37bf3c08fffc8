"""The pages that compare sets of models: private files, entrants of a competition, the nine spaces."""

import csv
import datetime as dt
import io
import json

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from analysis.benchmarks import actions
from analysis.drawing.pictures import NOT_DRAWN
from analysis.drawing.pictures import svg as drawn
from analysis.models import Population
from analysis.spaces import keeping, reading
from analysis.spaces.reading import UnreadableSetError, read_sets
from leaderboards.board import refresh_now
from pages.views import analysis_spaces
from tests.platform import factories as make

pytestmark = pytest.mark.django_db
ADDRESS = "/analysis/spaces/"


def table(seed: int = 0, models: int = 40, shift: float = 0.0) -> bytes:
    random = np.random.default_rng(seed)
    lines = ["error,params,depth,note"]
    for _ in range(models):
        params = random.uniform(1, 9)
        lines.append(f"{10 - params / 2 + shift + random.normal():.4f},{params:.4f},{random.integers(1, 9)},text")
    return "\n".join(lines).encode()


def logged_in(name: str = "alice") -> Client:
    client = Client()
    client.force_login(make.user(name))
    return client


def send(client: Client, content: bytes, filename: str = "small.csv", **more):
    return client.post(f"{ADDRESS}send/", {"file": SimpleUploadedFile(filename, content), **more})


def test_two_files_are_sent_and_compared():
    client = logged_in()
    first = send(client, table(), "small.csv")
    send(client, table(1, shift=3), "large.csv", name="Larger")
    one, other = Population.objects.order_by("pk")
    assert first.url == f"{ADDRESS}?set=own-{one.pk}"
    assert (one.name, other.name, one.size) == ("small", "Larger", 40)
    query = f"set=own-{one.pk}&set=own-{other.pk}&error=error&by=params&bins=4"
    text = client.get(f"{ADDRESS}?{query}").content.decode()
    assert "differ, D =" in text and "after normalising by parameters the gap is" in text
    answer = client.get(f"{ADDRESS}tests_by_params.csv?{query}")
    rows = list(csv.reader(io.StringIO(answer.content.decode())))
    assert rows[1][:2] == ["small", "Larger"]
    answer = client.get(f"{ADDRESS}distributions_by_params.json?{query}")
    assert "models of 2 sets" in str(json.loads(answer.content))


def test_a_file_is_taken_from_the_form_of_this_site_alone():
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.user("alice"))
    assert send(client, table()).status_code == 403
    assert send(Client(), table()).url.startswith("/accounts/login/")
    assert not Population.objects.exists()


def test_a_person_has_one_comparison_at_a_time(monkeypatch):
    alice, bob = logged_in(), logged_in("bob")
    address, other = send(alice, table()).url, send(bob, table(1)).url
    answers = []
    usual = analysis_spaces.compare

    def meanwhile(*args):
        monkeypatch.setattr(analysis_spaces, "compare", usual)
        answers.extend([alice.get(f"{address}&error=error"), bob.get(other)])
        return usual(*args)

    monkeypatch.setattr(analysis_spaces, "compare", meanwhile)
    assert alice.get(address).status_code == 200
    assert [answer.status_code for answer in answers] == [429, 200]
    assert alice.get(f"{address}&error=error").status_code == 200


def test_sets_are_private():
    alice, bob = logged_in(), logged_in("bob")
    send(alice, table())
    kept = Population.objects.get()
    page = bob.get(f"{ADDRESS}?set=own-{kept.pk}").content.decode()
    assert "small" not in page.replace("small-text", "").replace("quiet small", "")
    assert bob.get(f"{ADDRESS}distributions.csv?set=own-{kept.pk}").status_code == 404
    bob.post(f"{ADDRESS}own/{kept.pk}/delete/")
    assert Population.objects.exists()
    alice.post(f"{ADDRESS}own/{kept.pk}/delete/")
    assert not Population.objects.exists()
    assert Client().get(ADDRESS).status_code == 302


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "holds no models"),
        (b"\xff\xfe\x00", "not text in UTF-8"),
        (b"error,params\n1,2,3\n", "Row 2 has 3 cells"),
        (b"error,error\n1,2\n", "same name"),
        (b"name\nresnet\n", "No column of the table has numbers. Its columns are name"),
        (b"name;error\nresnet;1.5\n", "columns are separated by commas"),
        (b"error,params\n", "one row only"),
        (b"error,params\n1.5,10\nfailed,20\n", "Row 3 has no number in the column error: failed"),
        (b"[1, 2]", "something that is no model"),
        (b"[{", "begins like JSON"),
        (b'[{"params": 3}]', "have no error"),
    ],
)
def test_files_that_cannot_be_read_are_refused_with_the_reason(content, told):
    answer = send(logged_in(), content)
    assert answer.status_code == 400
    assert told in answer.content.decode()
    assert not Population.objects.exists()


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"error,params\n" + b"\n".join(b"%d,1e-320" % (one % 3) for one in range(20)), id="tiny"),
        pytest.param(
            b"error,params\n" + b"\n".join(b".%d,-%de307" % (one, one) for one in range(10, 30)), id="huge"
        ),
        pytest.param(
            b"error,params\n" + b"\n".join([b".1,1", b".2,1.0000000000000002"] * 10), id="nearly the same"
        ),
        pytest.param(b"[%s]" % b",".join([b'{"error": 1%s}' % (b"0" * 400), b'{"error": 1}'] * 20), id="long"),
        pytest.param(b'{"a\\u0000b": [{"error": 1, "net": {"\\ud800": 2}}]}', id="names no database keeps"),
    ],
)
def test_numbers_and_names_out_of_all_bounds_are_compared_and_drawn_or_refused(content):
    alice = logged_in()
    answer = send(alice, content)
    assert answer.status_code == 302
    query = answer.url.partition("?")[2]
    page = alice.get(f"/analysis/spaces/?{query}&error=error&by=params")
    assert page.status_code == 200
    for picture in page.context["result"].figures() if page.context["result"] else ():
        assert drawn(picture.spec) != NOT_DRAWN


def test_a_file_that_unpacks_to_far_more_than_its_text_is_refused(monkeypatch):
    monkeypatch.setattr(reading, "MOST_VALUES", 100)
    with pytest.raises(UnreadableSetError, match="more than 100 values"):
        read_sets(b"[" + b"{}," * 200 + b"{}]", "many.json")


def test_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(keeping, "MOST_NUMBERS", 200)
    client = logged_in()
    assert send(client, table()).status_code == 302
    assert send(client, table()).status_code == 409
    monkeypatch.setattr(keeping, "MOST_BYTES", 100)
    assert send(client, table()).status_code == 413


def test_a_published_sweep_has_the_error_of_the_last_epoch_and_its_settings():
    models = [
        {
            "test_ep_top1": [50.0, 8.0 + i, 9.0 + i],
            "params": 1000 * i,
            "flops": 10,
            "net": {"ds": [1, 2, i], "type": "resnet"},
        }
        for i in range(12)
    ]
    client = logged_in()
    send(client, json.dumps({"top": models[:6], "bot": models[6:]}).encode(), "ResNet.json")
    kept = Population.objects.get()
    assert kept.size == 12
    assert kept.columns["final_top1"][:2] == [9.0, 10.0] and kept.columns["min_test_top1"][0] == 8.0
    assert kept.columns["ds_3"][5] == 5.0
    page = client.get(f"{ADDRESS}?set=own-{kept.pk}").content.decode()
    assert "error of the last epoch" in page and "chosen on the test set" not in page
    page = client.get(f"{ADDRESS}?set=own-{kept.pk}&error=min_test_top1&bins=3").content.decode()
    assert "chosen on the test set" in page


def test_a_table_may_hold_several_sets():
    rows = "\n".join(f"{name},{error}" for name in "ab" for error in range(12))
    client = logged_in()
    answer = send(client, f"population,error\n{rows}".encode())
    assert list(Population.objects.order_by("pk").values_list("name", flat=True)) == ["a", "b"]
    assert "That a and b differ is not certain, D = 0.000" in client.get(answer.url).content.decode()


def test_wrong_options_are_told_and_nothing_is_compared():
    client = logged_in()
    address = send(client, table()).url
    page = client.get(f"{address}&error=error&by=params&bins=0&low=5&high=1").content.decode()
    assert "lower one first" in page and "The sets are not compared" in page


def test_entrants_of_a_phase_that_is_over_can_be_compared():
    phase = make.phase(make.competition(), tasks=1, closes_at=timezone.now() - dt.timedelta(minutes=1))
    person = make.user("bob")
    for index in range(10):
        make.score(make.submission(phase, person, size=100 + index).runs.get(), 0.05 * index)
    refresh_now(phase)
    client = logged_in()
    address = f"{ADDRESS}?contest={phase.competition.slug}"
    key = f"entrant-{phase.pk}-valid-{phase.submissions.first().entrant_id}"
    assert key in client.get(address).content.decode()
    assert "of the 10 models of bob" in client.get(f"{address}&set={key}").content.decode()
    phase.closes_at = timezone.now() + dt.timedelta(hours=1)
    phase.save()
    assert key not in client.get(f"{address}&set={key}").content.decode().replace(f'value="{key}"', "")
    assert "of the 10 models" not in client.get(f"{address}&set={key}").content.decode()


def test_algorithms_of_a_benchmark_that_one_may_see_can_be_compared(tmp_path):
    lines = [
        f"{dataset},{model},{index},1,{0.5 + 0.01 * index + 0.1 * (model == 'gbm') + 0.01 * dataset},{index}"
        for model in ("gbm", "kknn")
        for dataset in (1, 2)
        for index in range(1, 13)
    ]
    path = tmp_path / "results.csv"
    path.write_text("\n".join(["dataset,model,param_index,row_index,auc,time", *lines]))
    owner = make.user("olga", is_superuser=True)
    benchmark = actions.import_files(owner=owner, title="Small", paths=[path], is_public=False)
    client = logged_in()
    address = f"{ADDRESS}?benchmark={benchmark.pk}&set=benchmark-{benchmark.pk}-0&set=benchmark-{benchmark.pk}-1"
    assert "gbm" not in client.get(address).content.decode()
    actions.publish(benchmark, user=owner, is_public=True)
    page = client.get(f"{address}&dataset=2").content.decode()
    assert "gbm and kknn differ, D = 0.833" in page and "Small: 2" in page


def test_the_definitions_show_the_printed_counts_to_everybody():
    page = Client().get(f"{ADDRESS}definitions/").content.decode()
    for printed in ("71,465,842", "556,628", "5,063", "242", "1 259 712", "52 734 375", "855 770", "125 747 850"):
        assert printed in page
    answer = Client().get(f"{ADDRESS}definitions/below_limits.csv")
    assert "7597699" in answer.content.decode()
    smaller = Client().get(f"{ADDRESS}definitions/below_limits.csv?params=100000&flops=1000000000000&bins=4")
    assert "7597699" not in smaller.content.decode()
    assert Client().get("/analysis/").status_code == 200


def test_models_are_drawn_for_everybody():
    answer = Client().get(f"{ADDRESS}definitions/sample/?space=resnext-a&count=20&seed=3&is_limited=on")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert len(rows) == 20 and all(int(row["params"]) < 856_000 for row in rows)
    assert Client().get(f"{ADDRESS}definitions/sample/?space=darts&count=2&seed=1").status_code == 200
    assert Client().get(f"{ADDRESS}definitions/sample/?space=none&count=2&seed=1").status_code == 404
