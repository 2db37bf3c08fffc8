"""Sending a dataset by the pages: the form without JavaScript, pieces with it, the wizard, the report."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from datasets.models import Dataset, DatasetShare, DatasetVersion
from datasets.uploads import bell, receiving, work
from datasets.uploads.models import Upload
from pages.dataset_wizard import likely_target, likely_task, usable_name
from pages.views.upload import FORM_BYTES
from tests.platform import factories as make
from tests.platform.datasets.uploads.conftest import sent, zipped

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def without_broker(monkeypatch):
    monkeypatch.setattr(bell, "ring", lambda upload_id: None)


@pytest.fixture
def olga():
    make.competition("contest")
    return make.user("olga")


@pytest.fixture
def client(olga) -> Client:
    made = Client()
    made.force_login(olga)
    return made


def worked(upload: Upload) -> Upload:
    work.process(upload.pk)
    upload.refresh_from_db()
    return upload


def post_form(client: Client, content: bytes, name: str = "tiny.zip", **more):
    return client.post(reverse("dataset_uploads"), {"file": SimpleUploadedFile(name, content), **more})


def begin(client: Client, **given):
    given = {"filename": "a.csv", "size": 10, **given}
    return client.post(reverse("begin_dataset_upload"), json.dumps(given), content_type="application/json")


def put(client: Client, upload_id: int, offset: object, content: bytes):
    address = reverse("dataset_upload_content", args=[upload_id])
    headers = {"Upload-Offset": str(offset)}
    return client.put(address, content, content_type="application/octet-stream", headers=headers)


def test_a_small_file_goes_by_a_plain_form_and_its_page_leads_to_the_dataset(client, tmp_path):
    answer = post_form(client, zipped(tmp_path), title="Tiny set")
    upload = Upload.objects.get()
    assert answer.url == upload.get_absolute_url()
    waiting = client.get(answer.url).content.decode()
    assert "hx-get" in waiting
    worked(upload)
    shown = client.get(answer.url).content.decode()
    assert reverse("dataset", args=["tiny"]) in shown
    assert "hx-get" not in shown
    assert "<html" not in client.get(answer.url, headers={"HX-Request": "true"}).content.decode()
    assert Dataset.objects.get().title == "Tiny set"


def test_a_form_without_a_file_and_an_empty_file_are_refused_on_the_page(client):
    for answer in (client.post(reverse("dataset_uploads")), post_form(client, b"")):
        assert answer.status_code == 400
        assert "Choose the file that holds the data" in answer.content.decode()


def test_a_form_that_is_too_large_is_refused_before_it_is_read(client, monkeypatch):
    monkeypatch.setattr("pages.views.dataset_uploads.WHOLE_BYTES", -FORM_BYTES)
    answer = post_form(client, b"more than nothing")
    assert answer.status_code == 413
    assert not Upload.objects.exists()


def test_a_form_without_the_token_is_refused(olga, tmp_path):
    client = Client(enforce_csrf_checks=True)
    client.force_login(olga)
    assert post_form(client, zipped(tmp_path)).status_code == 403
    assert begin(client).status_code == 403
    upload = receiving.begin(olga, filename="a.csv", size=10)
    assert put(client, upload.pk, 0, b"0123").status_code == 403
    assert not Upload.objects.exclude(pk=upload.pk).exists()


def test_a_file_in_pieces_goes_on_after_a_lost_connection(client):
    begun = begin(client, fingerprint="a.csv:10:1").json()
    upload_id = begun["upload"]
    assert put(client, upload_id, 0, b"01234").json()["received"] == 5
    late = put(client, upload_id, 0, b"01234")
    assert late.status_code == 409
    assert begin(client, fingerprint="a.csv:10:1").json()["received"] == 5
    assert client.get(reverse("dataset_upload_content", args=[upload_id])).json()["received"] == 5
    page = client.get(begun["url"]).content.decode()
    assert "Choose the same file again" in page
    assert put(client, upload_id, 5, b"56789").json()["state"] == "waiting"


@pytest.mark.parametrize("offset", ["", "-1", "x", "99999999999999999999"])
def test_a_piece_without_a_sound_offset_is_refused(client, offset):
    upload_id = begin(client).json()["upload"]
    assert put(client, upload_id, offset, b"0123").status_code in (400, 409)


@pytest.mark.parametrize(
    "body", ["", "[]", "{}", '{"size": true}', '{"size": "10"}', '{"size": -1, "filename": "a"}']
)
def test_a_beginning_that_is_no_sound_description_is_refused(client, body):
    answer = client.post(
        reverse("begin_dataset_upload"),
        body,
        content_type="application/json",
        headers={"Accept": "application/json"},
    )
    assert answer.status_code == 400
    assert answer.json()["message"]


def test_the_report_names_every_problem_with_its_place(client, olga, tmp_path):
    upload = worked(sent(olga, zipped(tmp_path, **{"valid.data": "0.5 x 2\n" * 4})))
    shown = client.get(upload.get_absolute_url()).content.decode()
    assert "tiny_valid.data" in shown
    assert "1 error" in shown
    assert "This dataset was not imported." in shown


def test_names_of_strangers_files_are_escaped(client, olga):
    upload = worked(sent(olga, b"\0", "<script>alert(1)<script>.bin"))
    for address in (upload.get_absolute_url(), reverse("dataset_uploads")):
        assert "<script>alert" not in client.get(address).content.decode()


def test_an_upload_is_removed_with_its_report(client, olga):
    upload = sent(olga, b"x")
    assert client.post(reverse("remove_dataset_upload", args=[upload.pk])).status_code == 302
    assert not Upload.objects.exists()


def test_an_editor_sends_a_new_version_for_the_owner_under_its_name_alone(client, olga, tmp_path):
    worked(sent(olga, zipped(tmp_path / "first")))
    dataset, eddy = Dataset.objects.get(), make.user("eddy")
    make.competition("other", eddy)
    DatasetShare.objects.create(dataset=dataset, user=eddy, role="editor")
    browser = Client()
    browser.force_login(eddy)
    assert "Send a new version of" in browser.get(reverse("dataset_uploads"), {"dataset": "tiny"}).content.decode()
    post_form(browser, zipped(tmp_path / "second"), dataset="tiny")
    assert worked(Upload.objects.get(owner=eddy)).state == "imported"
    assert list(dataset.versions.values_list("number", flat=True)) == [1, 2]
    other = make.zip_bytes({"x/x_public.info": "name = 'x'\n", "x/x_train.data": "1\n"})
    post_form(browser, other, "x.zip", dataset="tiny")
    refused = worked(Upload.objects.filter(owner=eddy).first())
    assert "is to be a new version of tiny" in refused.report["errors"][0]["message"]
    DatasetShare.objects.all().delete()
    assert browser.get(reverse("dataset_uploads"), {"dataset": "tiny"}).status_code == 404


TABLE = "\n".join(
    ["age,town,income,class"]
    + [
        f"{20 + n % 50},{('Bonn', 'Oslo', 'Rome')[n % 3]},{(n * 37) % 101},{'yn'[(n * n) % 7 < 3]}"
        for n in range(300)
    ]
).encode()


@pytest.fixture
def table(olga) -> Upload:
    return worked(sent(olga, TABLE, "people data.csv"))


CHOICES = {
    "target": "class",
    "name": "people",
    "task": "binary.classification",
    "metric": "AUC",
    "time_budget": "60",
    "split": "stratified",
    "expected_error": "0.1",
    "drop_rare": "0",
    "categories": "codes",
    "missing": "keep",
    "probes": "0.25",
    "shuffle_features": "on",
    "rename": "on",
    "seed": "7",
}


def test_a_table_waits_for_choices_and_the_first_is_the_target(client, table):
    assert table.state == "table"
    address = reverse("prepare_dataset", args=[table.pk])
    assert address in client.get(table.get_absolute_url()).content.decode()
    first = client.get(address).content.decode()
    assert 'value="class" aria-label="Predict class" checked' in first
    second = client.get(address, {"target": "class"}).content.decode()
    assert 'value="people_data"' in second
    assert '<option value="binary.classification" selected>' in second
    assert "Use of town" in second
    assert "n or y; empty for the later one in order." in second


def test_the_library_says_that_a_table_waits_for_a_choice_until_it_is_made(client, table):
    assert "A file that you sent waits for your choice" in client.get(reverse("library")).content.decode()
    Upload.objects.update(state=Upload.State.IMPORTED)
    assert "waits for your choice" not in client.get(reverse("library")).content.decode()


def test_the_wizard_makes_a_dataset_with_its_recipe(client, table):
    address = reverse("prepare_dataset", args=[table.pk])
    answer = client.post(address, {**CHOICES, "role-2": "drop", "make": "1"})
    assert answer.url == table.get_absolute_url()
    upload = worked(Upload.objects.get())
    assert upload.state == "imported", upload.report
    version = DatasetVersion.objects.get()
    assert (version.name, version.metric, version.time_budget) == ("people", "AUC", 60)
    kept = version.recipe["recipe"]
    assert (kept["seed"], kept["probes"], kept["drop"]) == (7, 0.25, ["income"])
    assert not upload.parts.exists()
    assert "bit by bit" in client.get(reverse("dataset", args=["people"])).content.decode()


def test_a_try_keeps_nothing_and_can_be_kept_or_changed_afterwards(client, table):
    address = reverse("prepare_dataset", args=[table.pk])
    client.post(address, {**CHOICES, "try": "1"})
    upload = worked(Upload.objects.get())
    assert (upload.state, DatasetVersion.objects.count()) == ("checked", 0)
    shown = client.get(upload.get_absolute_url()).content.decode()
    for text in ("Cbal", "It suits round", "Keep it", "Change the choices", "The test part has"):
        assert text in shown
    again = client.get(address, {"target": "class"}).content.decode()
    assert 'name="seed" value="7"' in again
    client.post(reverse("import_dataset_upload", args=[upload.pk]))
    assert worked(upload).state == "imported"


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"metric": "R2"}, "R2 does not fit"),
        ({"name": "a b"}, "cannot be the name"),
        ({"split": "group"}, "Name the column that holds the groups"),
        ({"is_chronological": "on"}, "cannot have a stratified split"),
        ({"target": "nothing"}, "No column is chosen"),
        ({"probes": "2"}, "less than or equal to 0.9"),
        ({"split_by": "nothing", "split": "group"}, "Select a valid choice"),
    ],
)
def test_choices_that_do_not_go_together_are_said_beside_their_field(client, table, changed, sentence):
    answer = client.post(reverse("prepare_dataset", args=[table.pk]), {**CHOICES, **changed})
    assert answer.status_code == 400
    assert sentence in answer.content.decode()
    assert Upload.objects.get().state == "table"


def test_what_only_the_data_can_tell_is_in_the_report_and_the_choices_can_be_changed(client, table):
    address = reverse("prepare_dataset", args=[table.pk])
    client.post(address, {**CHOICES, "test_rows": "5000"})
    upload = worked(Upload.objects.get())
    assert upload.state == "refused"
    assert "leave" in upload.report["errors"][0]["message"]
    assert address in client.get(upload.get_absolute_url()).content.decode()
    assert client.post(address, CHOICES).status_code == 302


def test_a_dataset_is_no_table_and_a_table_of_another_person_is_unknown(client, olga, tmp_path):
    upload = worked(sent(olga, zipped(tmp_path), check_only=True))
    assert client.get(reverse("prepare_dataset", args=[upload.pk])).status_code == 409
    other = sent(make.user("sam", is_superuser=True), TABLE, "a.csv")
    assert client.get(reverse("prepare_dataset", args=[other.pk])).status_code == 404


def test_of_a_wide_table_the_target_is_chosen_by_its_name(client, olga):
    names = [f"c{number}" for number in range(310)]
    rows = [",".join(str((row * column) % 7) for column in range(309)) + f",{row % 2}" for row in range(60)]
    upload = worked(sent(olga, "\n".join([",".join(names), *rows]).encode(), "wide.csv"))
    address = reverse("prepare_dataset", args=[upload.pk])
    assert "10 more columns are not shown" in client.get(address).content.decode()
    assert "<strong>c309</strong>" in client.get(address, {"target": ["", "c309"]}).content.decode()
    client.post(address, {**CHOICES, "target": "c309", "test_rows": "20", "valid_rows": "0", "try": "1"})
    assert worked(upload).state == "checked", upload.report


def test_a_file_with_its_own_targets_asks_for_none(client, olga):
    lines = "".join(f"{row % 2} 1:{row % 5 + 1} 3:{row % 3 + 1}\n" for row in range(80))
    upload = worked(sent(olga, lines.encode(), "sparse.svm"))
    shown = client.get(reverse("prepare_dataset", args=[upload.pk])).content.decode()
    assert "keeps its targets apart" in shown


def column(name: str, kind: str = "numerical", distinct: int = 100, examples=("1", "2")) -> dict:
    return {"name": name, "kind": kind, "distinct": distinct, "missing": 0, "examples": list(examples)}


@pytest.mark.parametrize(
    ("columns", "target", "task"),
    [
        ([column("a"), column("y", "categorical", 2)], "y", "binary.classification"),
        ([column("a"), column("b", "categorical", 5)], "b", "multiclass.classification"),
        ([column("Class", distinct=7), column("b")], "Class", "multiclass.classification"),
        ([column("target", distinct=7, examples=["0.5"]), column("b")], "target", "regression"),
        ([column("price", distinct=4000)], "price", "regression"),
    ],
)
def test_what_is_proposed_fits_the_column(columns, target, task):
    table = {"columns": columns}
    assert likely_target(table) == target
    assert likely_task(table, [target]) == task


def test_several_binary_targets_are_labels_and_several_numbers_a_regression():
    columns = [column("a", "binary", 2), column("b", "binary", 2), column("c")]
    assert likely_task({"columns": columns}, ["a", "b"]) == "multilabel.classification"
    assert likely_task({"columns": columns}, ["a", "c"]) == "regression"
    assert likely_task({"columns": columns, "task": "regression"}, ["a"]) == "regression"


@pytest.mark.parametrize(("text", "name"), [("my data.csv", "my_data"), ("ü.csv", "dataset"), ("a.b.arff", "a.b")])
def test_a_name_is_made_of_the_files(text, name):
    assert usable_name(text) == name
