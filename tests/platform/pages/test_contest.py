"""Making a competition and everything about it that is set in its studio, over the pages alone."""

import datetime as dt
import io

import pytest
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from PIL import Image

from competitions.models import AuditEntry, Competition, Organizer, Page
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


def text(response):
    return " ".join(response.content.decode().split())


def client_of(person):
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def maker():
    olga = make.user("olga")
    olga.user_permissions.add(Permission.objects.get(codename="add_competition"))
    return client_of(olga)


@pytest.fixture
def contest():
    return make.competition("contest", title="The contest", overview="Welcome.", summary="A contest.")


@pytest.fixture
def olga(contest):
    return client_of(contest.created_by)


def url(ending=""):
    return f"/competitions/contest/manage/{ending}"


def png(size=(40, 30), mode="RGB"):
    buffer = io.BytesIO()
    Image.new(mode, size).save(buffer, "PNG")
    return buffer.getvalue()


# Making one.


def test_who_may_make_competitions_is_offered_it_and_others_are_not(maker):
    assert 'href="/competitions/new/"' in text(maker.get("/competitions/"))
    assert 'href="/competitions/new/"' in text(maker.get("/"))
    alice = client_of(make.user("alice"))
    assert "/competitions/new/" not in text(alice.get("/competitions/"))
    assert alice.get("/competitions/new/").status_code == 403
    assert alice.post("/competitions/new/", {"title": "x", "template": "blank"}).status_code == 403
    assert not Competition.objects.exists()


@pytest.mark.parametrize("template", ["automl-2015", "automl-2018", "single", "blank"])
def test_a_title_a_template_and_a_start_make_a_draft(maker, template):
    sent = {"title": "Learning to learn", "template": template, "starts_at": "2031-03-01T09:00"}
    answer = maker.post("/competitions/new/", sent, follow=True)
    made = Competition.objects.get()
    assert answer.redirect_chain[-1][0] == "/competitions/learning-to-learn/manage/"
    assert (made.state, made.slug) == ("draft", "learning-to-learn")
    assert made.organizers.get().user.username == "olga"
    assert bool(made.phases()) is (template != "blank")
    assert "A draft" in text(answer)


def test_the_start_is_typed_in_the_persons_own_time_zone(maker):
    olga = make.user("olga")
    olga.time_zone = "Asia/Tokyo"
    olga.save()
    assert "Asia/Tokyo, as you chose" in text(maker.get("/competitions/new/"))
    maker.post("/competitions/new/", {"title": "T", "template": "single", "starts_at": "2031-03-01T09:00"})
    assert Competition.objects.get().phases()[0].opens_at == dt.datetime(2031, 3, 1, 0, 0, tzinfo=dt.UTC)


def test_a_time_zone_that_is_chosen_with_the_start_is_kept_for_the_person(maker):
    sent = {"title": "T", "template": "single", "starts_at": "2031-03-01T09:00", "time_zone": "Asia/Tokyo"}
    maker.post("/competitions/new/", sent)
    assert Competition.objects.get().phases()[0].opens_at == dt.datetime(2031, 3, 1, 0, 0, tzinfo=dt.UTC)
    assert make.user("olga").time_zone == "Asia/Tokyo"
    answer = maker.post("/competitions/new/", {**sent, "title": "U", "time_zone": "Mars/Olympus"})
    assert answer.status_code == 400


def test_two_competitions_of_one_title_get_two_addresses(maker):
    for _ in range(2):
        maker.post("/competitions/new/", {"title": "New", "template": "blank"})
    slugs = set(Competition.objects.values_list("slug", flat=True))
    assert slugs == {"new-competition", "new-competition-2"}


def test_an_address_that_is_taken_is_said_beside_its_field(maker, contest):
    answer = maker.post("/competitions/new/", {"title": "T", "template": "blank", "slug": "contest"})
    assert answer.status_code == 400
    assert "This address is taken." in text(answer)


def test_a_template_without_a_start_is_asked_for_one(maker):
    answer = maker.post("/competitions/new/", {"title": "T", "template": "single", "starts_at": ""})
    assert answer.status_code == 400
    assert "follow from this moment" in text(answer)


# Lists.


def test_organizers_find_their_drafts_in_the_list_and_nobody_else_does(olga, contest):
    Competition.objects.update(state="draft")
    page = text(olga.get("/competitions/"))
    assert "You organize" in page
    assert f'href="{url()}"' in page
    for client in (Client(), client_of(make.user("charlie"))):
        assert "The contest" not in text(client.get("/competitions/"))


def test_the_list_costs_as_many_queries_however_long_it_is(olga, contest):
    def asked():
        with CaptureQueriesContext(connection) as queries:
            assert olga.get("/competitions/").status_code == 200
        return len(queries)

    make.phase(contest)
    before = asked()
    for number in range(5):
        make.phase(make.competition(f"another-{number}", make.user("felix"), state="published"))
        make.phase(make.competition(f"own-{number}", contest.created_by, state="draft"))
    assert asked() == before


def test_a_private_competition_and_all_below_it_is_not_there_for_others(olga, contest):
    make.phase(contest)
    Page.objects.create(competition=contest, slug="prizes", title="Prizes", body="None.")
    Competition.objects.update(visibility="private")
    make.participant(contest, make.user("alice"))
    endings = (
        *("", "phases/", "datasets/", "evaluation/", "rules/", "leaderboard/", "leaderboard.csv"),
        *("leaderboard.json", "leaderboard/history/", "pages/prizes/"),
    )
    for ending in endings:
        address = f"/competitions/contest/{ending}"
        assert Client().get(address).status_code == 404, ending
        assert client_of(make.user("charlie")).get(address).status_code == 404, ending
        assert client_of(make.user("alice")).get(address).status_code == 200, ending
        assert olga.get(address).status_code == 200, ending
    assert client_of(make.user("charlie")).post("/competitions/contest/join/").status_code == 404
    assert client_of(make.user("charlie")).get("/competitions/contest/submissions/").status_code == 404


# Settings.

SETTINGS = {
    "title": "The contest",
    "slug": "contest",
    "summary": "A contest.",
    "visibility": "public",
    "registration": "open",
    "allowed_emails": "",
    "max_team_size": "1",
    "teams_close_at": "",
    "merges_close_at": "",
}


def test_what_means_nothing_for_people_is_saved_at_once(olga, contest):
    answer = olga.post(url("settings/"), {**SETTINGS, "title": "Another name"})
    assert answer.status_code == 302
    contest.refresh_from_db()
    assert contest.title == "Another name"
    entry = AuditEntry.objects.get()
    assert entry.data == {"changed": {"title": ["The contest", "Another name"]}}


def test_what_shuts_people_out_is_shown_before_it_happens(olga, contest):
    make.participant(contest, make.user("alice"))
    wanted = {**SETTINGS, "visibility": "private"}
    page = text(olga.post(url("settings/"), wanted))
    assert "Only 1 person who joined or asked to" in page
    assert "Nothing has changed yet" in page
    assert not AuditEntry.objects.exists()
    assert olga.post(url("settings/"), {**wanted, "confirm": "yes"}).status_code == 302
    contest.refresh_from_db()
    assert contest.visibility == "private"


def test_the_change_of_two_people_at_once_is_noticed(olga, contest):
    import re

    seen = re.search(r'name="seen" value="(\w+)"', text(olga.get(url("settings/"))))[1]
    Competition.objects.update(summary="Somebody else's.")
    answer = olga.post(url("settings/"), {**SETTINGS, "title": "Mine", "seen": seen})
    assert answer.status_code == 409
    assert "Somebody else has changed the settings" in text(answer)
    assert 'value="Mine"' in text(answer)


def test_the_address_changes_only_before_it_was_ever_published(olga, contest):
    Competition.objects.update(state="draft")
    page = text(olga.post(url("settings/"), {**SETTINGS, "slug": "other"}))
    assert "will lead nowhere" in page
    answer = olga.post(url("settings/"), {**SETTINGS, "slug": "other", "confirm": "yes"})
    assert answer["Location"] == "/competitions/other/manage/settings/"
    Competition.objects.update(published_at=contest.created_at)
    olga.post("/competitions/other/manage/settings/", {**SETTINGS, "slug": "third"})
    assert Competition.objects.get().slug == "other"


def test_the_email_list_is_not_shown_to_reviewers_nor_kept_in_the_log(olga, contest):
    sent = {**SETTINGS, "registration": "allow_list", "allowed_emails": "Ann@X.org, @y.org", "confirm": "yes"}
    assert olga.post(url("settings/"), sent).status_code == 302
    contest.refresh_from_db()
    assert contest.allowed_emails == "ann@x.org\n@y.org"
    assert "x.org" not in str(AuditEntry.objects.get().data)
    rita = make.user("rita")
    Organizer.objects.create(competition=contest, user=rita, role="reviewer", sees_hidden=True)
    page = text(client_of(rita).get(url("settings/")))
    assert "x.org" not in page
    assert client_of(rita).post(url("settings/"), SETTINGS).status_code == 403


def test_a_line_that_is_no_address_is_said_beside_the_list(olga):
    answer = olga.post(url("settings/"), {**SETTINGS, "allowed_emails": "nobody"})
    assert answer.status_code == 400
    assert "either an address nor a domain: nobody" in text(answer)


# Pages.


def test_a_page_is_added_written_moved_and_removed(olga, contest):
    for title in ("Prizes", "Data"):
        olga.post(url("pages/add/"), {"title": title})
    prizes, data = Page.objects.order_by("order")
    assert olga.post(url(f"pages/{prizes.pk}/"), {"title": "The prizes", "text": "# Money"}).status_code == 302
    assert "<h2>Money</h2>" in text(Client().get("/competitions/contest/pages/prizes/"))
    olga.post(url(f"pages/{data.pk}/move/"), {"to": "forward"})
    assert list(Page.objects.values_list("title", flat=True)) == ["Data", "The prizes"]
    assert "Nothing has changed yet" in text(olga.post(url(f"pages/{data.pk}/remove/")))
    olga.post(url(f"pages/{data.pk}/remove/"), {"confirm": "yes"})
    assert list(Page.objects.values_list("title", flat=True)) == ["The prizes"]
    assert set(AuditEntry.objects.values_list("action", flat=True)) == {
        "add_page",
        "edit_page",
        "move_page",
        "remove_page",
    }
    assert AuditEntry.objects.count() == 5


@pytest.mark.parametrize("which", ["overview", "evaluation", "rules"])
def test_the_three_pages_of_every_competition_are_written(olga, contest, which):
    assert olga.post(url(f"pages/text/{which}/"), {"text": "Line *one*\r\nLine two"}).status_code == 302
    contest.refresh_from_db()
    assert getattr(contest, which) == "Line *one*\nLine two"
    ending = "" if which == "overview" else f"{which}/"
    assert "Line <em>one</em>" in text(Client().get(f"/competitions/contest/{ending}"))


def test_a_preview_is_shown_without_saving_with_and_without_script(olga, contest):
    fragment = text(olga.post(url("pages/preview/"), {"text": "**bold** <script>x</script>"}))
    assert "<strong>bold</strong>" in fragment
    assert "<script>" not in fragment
    assert "<html" not in fragment
    page = text(olga.post(url("pages/text/overview/"), {"text": "**bold**", "do": "preview"}))
    assert "<strong>bold</strong>" in page
    assert "**bold**</textarea>" in page
    contest.refresh_from_db()
    assert contest.overview == "Welcome."


def test_a_text_that_another_person_changed_meanwhile_is_not_overwritten(olga, contest):
    import re

    seen = re.search(r'name="seen" value="(\w+)"', text(olga.get(url("pages/text/overview/"))))[1]
    Competition.objects.update(overview="Somebody else's.")
    answer = olga.post(url("pages/text/overview/"), {"text": "Mine.", "seen": seen})
    assert answer.status_code == 409
    assert "Mine.</textarea>" in text(answer)
    assert Competition.objects.get().overview == "Somebody else's."


# Pictures.


def test_a_picture_is_kept_encoded_anew_and_shown_with_the_headers_of_strangers_files(olga, contest):
    sent = SimpleUploadedFile("My Plot.PNG", png() + b"<script>alert(1)</script>", "image/png")
    answer = olga.post(url("pages/text/overview/"), {"text": "Unsaved", "do": "upload", "picture": sent})
    assert "![what it shows](my-plot.png)" in text(answer)
    assert "Unsaved</textarea>" in text(answer)
    got = Client().get("/competitions/contest/images/my-plot.png")
    content = b"".join(got.streaming_content)
    assert got["Content-Type"] == "image/png"
    assert got["Content-Security-Policy"].startswith("sandbox")
    assert got["X-Content-Type-Options"] == "nosniff"
    assert b"script" not in content
    assert Image.open(io.BytesIO(content)).size == (40, 30)
    Competition.objects.update(overview="![A plot](my-plot.png)")
    assert 'src="/competitions/contest/images/my-plot.png"' in text(Client().get("/competitions/contest/"))


def test_a_picture_that_was_chosen_is_kept_when_the_text_is_saved_instead(olga, contest):
    sent = SimpleUploadedFile("plot.png", png(), "image/png")
    answer = olga.post(url("pages/text/overview/"), {"text": "Not yet.", "do": "save", "picture": sent})
    assert "The text is not saved yet" in text(answer)
    assert "Not yet.</textarea>" in text(answer)
    assert contest.images.get().name == "plot.png"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>x</script></svg>", "no picture"),
        (b"not a picture", "no picture"),
        (png()[:60], "damaged"),
        (png((6000, 6000), mode="1"), "more than 25,000,000"),
        (png((20_000, 20_000), mode="1"), "more than 25,000,000"),
    ],
)
def test_what_is_no_picture_or_unfolds_into_too_much_is_refused(olga, contest, content, says):
    answer = olga.post(url("pictures/add/"), {"picture": SimpleUploadedFile("a.png", content, "image/png")})
    assert answer.status_code == 400
    assert says in text(answer)
    assert not contest.images.exists()


def test_where_a_photograph_was_taken_is_not_kept(olga, contest):
    buffer = io.BytesIO()
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    Image.new("RGB", (50, 20)).save(buffer, "JPEG", exif=exif)
    olga.post(url("pictures/add/"), {"picture": SimpleUploadedFile("a.jpg", buffer.getvalue(), "image/jpeg")})
    assert b"taken at home" not in contest.images.get().file.read()


def test_large_pictures_are_made_smaller(olga, contest):
    olga.post(url("pictures/add/"), {"picture": SimpleUploadedFile("a.png", png((4000, 1000)), "image/png")})
    image = contest.images.get()
    assert (image.width, image.height) == (2000, 500)


def test_removing_a_picture_names_the_pages_that_show_it(olga, contest, django_capture_on_commit_callbacks):
    olga.post(url("pictures/add/"), {"picture": SimpleUploadedFile("a.png", png(), "image/png")})
    Competition.objects.update(overview="![x](a.png)")
    image = contest.images.get()
    where = url(f"pictures/{image.pk}/remove/")
    assert "Overview will show its description" in text(olga.post(where))
    with django_capture_on_commit_callbacks(execute=True):
        olga.post(where, {"confirm": "yes"})
    assert not contest.images.exists()
    assert not image.file.storage.exists(image.file.name)
    assert Client().get("/competitions/contest/images/a.png").status_code == 404


def test_a_picture_of_a_private_competition_is_private(olga, contest):
    olga.post(url("pictures/add/"), {"picture": SimpleUploadedFile("a.png", png(), "image/png")})
    Competition.objects.update(visibility="private")
    assert Client().get("/competitions/contest/images/a.png").status_code == 404


# The state.


@pytest.fixture
def draft(contest):
    make.phase(contest)
    Competition.objects.update(state="draft")
    contest.refresh_from_db()
    return contest


def test_a_draft_says_what_is_missing_with_a_link_to_where_it_is_mended(olga, contest):
    Competition.objects.update(state="draft", overview="")
    page = text(olga.get(url()))
    assert "It has no phases" in page
    assert "when everything in this list is done" in page
    assert f'href="{url("pages/")}"' in page
    answer = olga.get(url("step/publish/"))
    assert answer.status_code == 409
    assert "It has no phases" in text(answer)
    assert olga.post(url("step/publish/")).status_code == 409
    assert Competition.objects.get().state == "draft"


def test_a_competition_is_published_taken_back_and_published_again(olga, draft):
    assert "it can be published" in text(olga.get(url()))
    assert "Anybody who can read it may join at once" in text(olga.get(url("step/publish/")))
    olga.post(url("step/publish/"))
    draft.refresh_from_db()
    assert draft.state == "published"
    first = draft.published_at
    make.participant(draft, make.user("alice"))
    assert "Its participant is shut out" in text(olga.get(url("step/unpublish/")))
    assert olga.post(url("step/unpublish/"), {"typed": "contes"}).status_code == 400
    assert olga.post(url("step/unpublish/"), {"typed": "contest"}).status_code == 302
    assert client_of(make.user("alice")).get("/competitions/contest/").status_code == 404
    olga.post(url("step/publish/"))
    draft.refresh_from_db()
    assert (draft.state, draft.published_at) == ("published", first)


def test_an_archived_competition_is_read_and_takes_nothing(olga, contest):
    make.phase(contest)
    make.participant(contest, make.user("alice"))
    assert olga.post(url("step/archive/"), {"typed": "The contest"}).status_code == 302
    alice = client_of(make.user("alice"))
    assert "is open</span>" not in text(alice.get("/competitions/contest/"))
    assert "The competition was archived" in text(alice.get("/competitions/contest/submissions/"))
    assert "archived" in text(Client().get("/competitions/"))
    assert Client().post("/competitions/contest/join/").status_code == 302
    assert client_of(make.user("bob")).post("/competitions/contest/join/").status_code == 409
    assert olga.post(url("step/unarchive/")).status_code == 302
    assert client_of(make.user("bob")).post("/competitions/contest/join/").status_code == 302


def test_a_step_that_does_not_fit_the_state_is_refused_and_not_offered(olga, contest):
    page = text(olga.get(url()))
    assert "step/archive/" in page
    assert "step/publish/" not in page
    assert olga.post(url("step/publish/")).status_code == 409
    assert olga.get(url("step/nothing/")).status_code == 404


def test_a_competition_is_deleted_by_an_owner_who_types_its_name(olga, contest):
    eddy = make.user("eddy")
    Organizer.objects.create(competition=contest, user=eddy, role="editor")
    assert "step/delete/" not in text(client_of(eddy).get(url()))
    assert client_of(eddy).post(url("step/delete/"), {"typed": "contest"}).status_code == 403
    assert olga.post(url("step/delete/"), {"typed": ""}).status_code == 400
    assert Client().get("/competitions/contest/").status_code == 200
    answer = olga.post(url("step/delete/"), {"typed": "contest"})
    assert answer["Location"] == "/competitions/"
    assert Client().get("/competitions/contest/").status_code == 404
    assert "The contest" not in text(olga.get("/competitions/")).replace("The contest was deleted", "")


def test_reviewers_see_the_overview_and_no_buttons(contest):
    rita = make.user("rita")
    Organizer.objects.create(competition=contest, user=rita, role="reviewer")
    page = text(client_of(rita).get(url()))
    assert "manage/step/" not in page
    assert client_of(rita).post(url("step/archive/"), {"typed": "contest"}).status_code == 403


# Clones.


def test_a_clone_is_a_draft_with_moved_dates_and_nobody_in_it(maker, contest):
    phase = make.phase(contest)
    make.participant(contest, make.user("alice"))
    Page.objects.create(competition=contest, slug="prizes", title="Prizes", body="None.")
    sent = {"title": "The contest again", "slug": "", "start": "2031-01-01T00:00"}
    answer = maker.post(url("clone/"), sent)
    made = Competition.objects.exclude(pk=contest.pk).get()
    assert answer["Location"] == f"/competitions/{made.slug}/manage/"
    assert (made.state, made.title) == ("draft", "The contest again")
    copy = made.phases().get()
    assert copy.opens_at == dt.datetime(2031, 1, 1, tzinfo=dt.UTC)
    assert copy.closes_at - copy.opens_at == phase.closes_at - phase.opens_at
    assert [task.dataset_id for task in copy.tasks.all()] == [task.dataset_id for task in phase.tasks.all()]
    assert made.pages.get().title == "Prizes"
    assert not made.participants.exists()
    assert [entry.action for entry in made.audit.all()] == ["create"]
    assert [entry.action for entry in contest.audit.all()] == ["clone"]


def test_a_clone_is_asked_when_it_begins_where_phases_have_dates(maker, contest):
    assert 'name="start"' not in text(maker.get(url("clone/")))
    make.phase(contest)
    page = maker.get(url("clone/"))
    assert page.context["form"].initial["start"] > timezone.now()
    answer = maker.post(url("clone/"), {"title": "The contest again", "slug": "", "start": ""})
    assert (answer.status_code, list(answer.context["form"].errors)) == (400, ["start"])
    assert Competition.objects.get() == contest


def test_a_draft_without_datasets_offers_no_starting_kit(olga, contest):
    contest.state = Competition.State.DRAFT
    contest.save()
    about = contest.get_absolute_url()
    assert "starting-kit" not in text(olga.get(about))
    make.phase(contest)
    assert "starting-kit" in text(olga.get(about))


def test_a_clone_whose_dates_leave_the_calendar_is_refused_where_it_is_asked_for(maker, contest):
    far = dt.datetime(2170, 1, 1, tzinfo=dt.UTC)
    make.phase(contest, opens_at=far, closes_at=far + dt.timedelta(days=20 * 365))
    answer = maker.post(url("clone/"), {"title": "Again", "slug": "", "start": "2199-01-01T00:00"})
    assert answer.status_code == 400
    assert "outside of the calendar" in text(answer)
    assert Competition.objects.get() == contest


def test_only_who_may_make_competitions_clones(olga, contest):
    assert "manage/clone/" not in text(olga.get(url()))
    assert olga.post(url("clone/"), {"title": "x"}).status_code == 403
