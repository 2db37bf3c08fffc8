"""The pages of datasets: who finds which, what a card tells whom, what is changed by whom."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from competitions.models import Organizer
from datasets.actions import import_dataset
from datasets.models import Dataset, DatasetShare, DatasetVersion
from tests.platform import factories as make
from tests.platform.datasets.test_import import small

pytestmark = pytest.mark.django_db


@pytest.fixture
def tiny(tmp_path) -> Dataset:
    """A dataset of Olga's with a card."""
    make.competition("contest")
    return import_dataset(small(tmp_path), owner=make.user("olga")).dataset


def as_user(name: str) -> Client:
    client = Client()
    client.force_login(make.user(name))
    return client


def page(client: Client, name: str, *arguments, **query) -> str:
    response = client.get(reverse(name, args=arguments), query)
    assert response.status_code == 200
    return response.content.decode()


def publish(dataset: Dataset) -> None:
    Dataset.objects.filter(pk=dataset.pk).update(is_public=True, licence="CC0", source="https://example.org")


def test_the_library_shows_own_shared_and_public_datasets(tiny, tmp_path):
    DatasetShare.objects.create(dataset=tiny, user=make.user("eddy"), role="editor")
    assert "My library" in page(as_user("olga"), "library")
    assert "may change it" in page(as_user("eddy"), "library")
    assert "tiny" not in page(as_user("charlie"), "library")
    publish(tiny)
    assert "Public datasets" in (shown := page(Client(), "library"))
    assert "tiny" in shown
    assert "My library" not in shown


def test_the_number_of_queries_of_the_library_does_not_grow_with_it(tiny, tmp_path, django_assert_max_num_queries):
    for number in range(5):
        made = make.dataset(make.user("olga"), f"more{number}")
        publish(made)
        DatasetShare.objects.create(dataset=made, user=make.user("eddy"))
    for client in (as_user("olga"), as_user("eddy"), Client()):
        with django_assert_max_num_queries(14):
            page(client, "library")


def test_the_card_has_the_chapters_columns_the_classes_and_the_proposal(tiny):
    shown = page(as_user("olga"), "dataset", "tiny")
    for text in ("Cbal", "Ptr/N", "1.000", "Suits round 1", "Novice", "Classes of the training part"):
        assert text in shown
    assert "What the checks found" in shown
    assert "secret origin" in shown


def test_everybody_sees_of_a_public_card_only_what_the_public_files_tell(tiny):
    publish(tiny)
    card = DatasetVersion.objects.get().card
    DatasetVersion.objects.update(card={**card, "balance": 0.4321, "irrelevant": 0.25})
    own, others = page(as_user("olga"), "dataset", "tiny"), page(Client(), "dataset", "tiny")
    assert "0.432" in own
    assert "0.250" in own
    for secret in ("0.432", "0.250", "Suits round", "What the checks found", "secret origin"):
        assert secret not in others


def test_what_is_not_public_does_not_exist_for_others(tiny):
    version = DatasetVersion.objects.get()
    DatasetVersion.objects.update(recipe={"recipe": {"seed": 3}})
    for name, arguments in (
        ("dataset", []),
        ("dataset_versions", []),
        ("dataset_file", [version.number]),
        ("dataset_recipe", [version.number]),
        ("dataset_croissant", []),
        ("dataset_datasheet", []),
    ):
        for client in (Client(), as_user("charlie")):
            assert client.get(reverse(name, args=["tiny", *arguments])).status_code == 404, name


def test_a_public_one_gives_its_public_files_and_exports_but_no_recipe_and_no_list_of_versions(tiny):
    publish(tiny)
    DatasetVersion.objects.update(recipe={"recipe": {"seed": 3}})
    client = Client()
    answer = client.get(reverse("dataset_file", args=["tiny", 1]))
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/zip")
    found = json.loads(client.get(reverse("dataset_croissant", args=["tiny"])).content)
    assert found["@type"] == "sc:Dataset"
    assert "CC0" in client.get(reverse("dataset_datasheet", args=["tiny"])).content.decode()
    assert client.get(reverse("dataset_recipe", args=["tiny", 1])).status_code == 404
    assert client.get(reverse("dataset_versions", args=["tiny"])).status_code == 404


def test_a_blind_phase_hides_a_public_dataset_again(tiny):
    publish(tiny)
    phase = make.phase(make.competition("blind", make.user("felix")), kind="automl", tasks=0)
    phase.tasks.create(dataset=tiny, order=0)
    assert Client().get(reverse("dataset", args=["tiny"])).status_code == 404
    assert "tiny" not in page(Client(), "library")


def test_organizers_who_see_hidden_names_see_the_card_but_change_nothing(tiny):
    contest = make.competition("other", make.user("felix"))
    phase = make.phase(contest, tasks=0)
    phase.tasks.create(dataset=tiny, order=0)
    for name, sees in (("vera", True), ("rita", False)):
        Organizer.objects.create(competition=contest, user=make.user(name), role="reviewer", sees_hidden=sees)
    assert "Suits round" in page(as_user("vera"), "dataset", "tiny")
    assert as_user("rita").get(reverse("dataset", args=["tiny"])).status_code == 404
    assert as_user("vera").get(reverse("edit_dataset", args=["tiny"])).status_code == 404


def test_texts_are_kept(tiny):
    texts = {"title": "Tiny", "description": "Six *rows*.", "licence": "CC BY 4.0", "citation": "Me", "source": ""}
    as_user("olga").post(reverse("edit_dataset", args=["tiny"]), texts)
    tiny.refresh_from_db()
    assert (tiny.title, tiny.licence) == ("Tiny", "CC BY 4.0")
    assert "<em>rows</em>" in page(as_user("olga"), "dataset", "tiny")
    empty = as_user("olga").post(reverse("edit_dataset", args=["tiny"]), {"title": ""})
    assert empty.status_code == 400


def test_sharing_and_ending_it(tiny):
    olga, eddy = as_user("olga"), as_user("eddy")
    unknown = olga.post(reverse("share_dataset", args=["tiny"]), {"person": "nobody", "role": "user"})
    assert unknown.status_code == 400
    told = unknown.content.decode()
    assert "Nobody here has the user name nobody." in told
    assert 'name="licence"' in told  # beside the form, which can be sent again
    olga.post(reverse("share_dataset", args=["tiny"]), {"person": "eddy", "role": "editor"})
    assert "Send a new version" in page(eddy, "dataset", "tiny")
    assert eddy.post(reverse("publish_dataset", args=["tiny"]), {"public": "1"}).status_code == 403
    make.user("alice")
    by_an_editor = eddy.post(reverse("share_dataset", args=["tiny"]), {"person": "alice", "role": "user"})
    assert by_an_editor.status_code == 403
    eddy.post(reverse("unshare_dataset", args=["tiny"]), {"person": "eddy"})
    assert eddy.get(reverse("dataset", args=["tiny"])).status_code == 404


def test_publishing_wants_a_licence(tiny):
    olga = as_user("olga")
    refused = olga.post(reverse("publish_dataset", args=["tiny"]), {"public": "1"})
    assert refused.status_code == 400
    assert "licence" in refused.content.decode()
    Dataset.objects.update(licence="CC0")
    olga.post(reverse("publish_dataset", args=["tiny"]), {"public": "1"})
    assert Client().get(reverse("dataset", args=["tiny"])).status_code == 200


def second_version(tiny, tmp_path) -> DatasetVersion:
    """A new version while a run stands on the board of the first."""
    phase = make.phase(make.competition("other"), tasks=0)
    phase.tasks.create(dataset=tiny, order=0)
    make.participant(phase.competition, make.user("alice"))
    made = make.submission(phase, make.user("alice"), state="finished")
    make.score(made.runs.get(), 0.5)
    changed = {"test.solution": "0\n1\n0\n1\n"}
    return import_dataset(small(tmp_path / "second", **changed), owner=make.user("olga")).version


def test_a_version_is_swapped_in_after_a_look_at_what_would_happen(tiny, tmp_path):
    version = second_version(tiny, tmp_path)
    olga = as_user("olga")
    assert "held back" in page(olga, "dataset_versions", "tiny")
    address = reverse("use_dataset_version", args=["tiny", version.number])
    assert "1 run on an older version" in olga.get(address).content.decode()
    assert olga.post(address).status_code == 400
    preview = olga.post(address, {"runs": "keep"})
    assert "Nothing has changed yet" in preview.content.decode()
    assert tiny.current.number == 1
    assert olga.post(address, {"runs": "keep", "confirm": "yes"}).status_code == 302
    assert tiny.current.number == 2


def test_a_version_that_runs_used_is_not_removed_and_another_is(tiny, tmp_path):
    version = second_version(tiny, tmp_path)
    olga = as_user("olga")
    assert olga.post(reverse("remove_dataset_version", args=["tiny", 1])).status_code == 409
    assert olga.post(reverse("remove_dataset_version", args=["tiny", version.number])).status_code == 302
    assert list(tiny.versions.values_list("number", flat=True)) == [1]


def test_no_page_of_a_dataset_gives_a_hidden_solution(tiny, tmp_path):
    hidden = DatasetVersion.objects.get().test_solution.open("rb").read()
    olga = as_user("olga")
    for name, arguments in (
        ("dataset", []),
        ("dataset_versions", []),
        ("edit_dataset", []),
        ("dataset_file", [1]),
    ):
        answer = olga.get(reverse(name, args=["tiny", *arguments]))
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        assert hidden not in body
