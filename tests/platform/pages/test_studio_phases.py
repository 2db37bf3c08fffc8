"""The Phases section of the studio: what it shows, how it is filled in, and what is shown before it is done."""

import datetime as dt

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from competitions.actions.phases import dates_seen
from competitions.actions.tasks import tasks_seen
from competitions.models import AuditEntry, Competition, Organizer, Phase, Task
from pages.zones import typed
from tests.platform import factories as make
from tests.platform.series import enter, finish, series

pytestmark = pytest.mark.django_db


def of(name):
    client = Client()
    client.force_login(make.user(name))
    return client


@pytest.fixture
def olga():
    return of("olga")


@pytest.fixture
def draft():
    """A draft of Olga's without phases."""
    return make.competition("draft", state=Competition.State.DRAFT)


@pytest.fixture
def contest(clock):
    """A published series of six phases."""
    return series(clock.now)


def url(contest, ending=""):
    return f"/competitions/{contest.slug}/manage/phases/{ending}"


def text(response):
    return " ".join(response.content.decode().split())


def fill(olga, contest, blueprint="three-phases", start="2031-03-01T00:00"):
    answer = olga.post(url(contest, "fill/"), {"blueprint": blueprint, "start": start})
    assert answer.status_code == 302, text(answer)
    return {phase.title: phase for phase in contest.phases()}


def as_shown(page):
    """What the form of a page sends where nobody touches it."""
    sent = {"seen": page.context.get("seen", "")}
    for bound in page.context["form"]:
        value = bound.value()
        if bound.field.disabled or value is None or value is False:
            continue
        shown = "on" if value is True else bound.field.widget.format_value(value)
        sent[bound.html_name] = (shown[0] if shown else "") if isinstance(shown, list) else shown
    return {name: "" if value is None else value for name, value in sent.items()}


def all_dates(contest, **changed):
    """What the timeline sends, in the active zone, with `phase-<id>-opens_at` and the like changed."""
    phases = list(contest.phases())
    sent = {"seen": dates_seen(phases)}
    for phase in phases:
        for name in ("opens_at", "closes_at"):
            sent[f"phase-{phase.pk}-{name}"] = typed(getattr(phase, name))
    return {**sent, **changed}


def test_an_empty_competition_is_filled_from_a_template_and_gets_datasets_in_two_posts(olga, draft):
    assert "Begin with a template" in text(olga.get(url(draft)))
    phases = fill(olga, draft)
    assert list(phases) == ["Tweakathon[0]", "Final[0]", "AutoML[1]"]
    one, two = (make.dataset(make.user("olga")) for _ in range(2))
    page = olga.get(url(draft, "datasets/"))
    assert page.content.decode().count("checked") == 2, "phases without datasets are ticked, but no blind one"
    wanted = {"datasets": [one.pk, two.pk], "phases": [phase.pk for phase in phases.values()]}
    assert olga.post(url(draft, "datasets/"), wanted).status_code == 302
    assert Task.objects.count() == 6
    assert "AutoML[1] is blind, but Tweakathon[0] shows 2 of its datasets before." in text(olga.get(url(draft)))
    assert [entry.action for entry in AuditEntry.objects.order_by("pk")] == ["fill_from_blueprint", "add_tasks"]


def test_a_blind_phase_is_proposed_when_it_alone_has_no_datasets(olga, draft):
    phases = fill(olga, draft)
    known = make.dataset(make.user("olga"))
    for title in ("Tweakathon[0]", "Final[0]"):
        Task.objects.create(phase=phases[title], dataset=known)
    page = olga.get(url(draft, "datasets/")).content.decode()
    assert f'name="phases" value="{phases["AutoML[1]"].pk}" checked' in page


def test_three_phases_are_added_one_by_one_by_sending_the_forms_as_they_come(olga, draft):
    assert olga.post(url(draft, "add/"), as_shown(olga.get(url(draft, "add/")))).status_code == 302
    first = draft.phases().get()
    assert (first.title, first.round.number) == ("Tweakathon[0]", 0)
    Task.objects.create(phase=first, dataset=make.dataset(make.user("olga")))
    for kind in ("final", "automl"):
        page = olga.get(url(draft, f"add/?kind={kind}&after={first.pk}"))
        assert olga.post(url(draft, "add/"), as_shown(page)).status_code == 302
    assert [(phase.title, phase.parent_id, phase.tasks.count()) for phase in draft.phases()] == [
        ("Tweakathon[0]", None, 1),
        ("Final[0]", first.pk, 1),
        ("AutoML[1]", first.pk, 0),
    ]


def test_what_breaks_the_protocol_is_said_at_the_field_and_in_its_group(olga, draft):
    phases = fill(olga, draft)
    address = url(draft, f"{phases['Final[0]'].pk}/")
    sent = as_shown(olga.get(address)) | {"opens_at": "2031-03-10T00:00", "memory_bytes": "much"}
    answer = olga.post(address, sent)
    assert answer.status_code == 400
    errors = answer.context["form"].errors
    assert set(errors) == {"memory_bytes", "opens_at"}
    assert "overlaps its parent Tweakathon[0]" in errors["opens_at"][0]
    assert [is_open for _, _, is_open in answer.context["form"].groups()] == [True, True, False, False]
    assert draft.phases().get(title="Final[0]").opens_at == phases["Final[0]"].opens_at


def test_a_draft_is_saved_at_once_and_a_published_competition_shows_first_what_would_change(olga, draft):
    phases = fill(olga, draft)
    address = url(draft, f"{phases['Tweakathon[0]'].pk}/")
    sent = as_shown(olga.get(address)) | {"preset": "2018", "prizes": "100 €\n\n50 €"}
    assert olga.post(address, sent).status_code == 302
    phase = draft.phases().get(title="Tweakathon[0]")
    assert (phase.wall_seconds, phase.cores, phase.memory_bytes) == (1200, 2, 8 * 2**30)
    assert [prize.title for prize in phase.prizes.all()] == ["100 €", "50 €"]
    Competition.objects.filter(pk=draft.pk).update(state="published")
    sent = as_shown(olga.get(address)) | {"tie_rule": "shared"}
    page = text(olga.post(address, sent))
    assert "Nothing has changed yet" in page
    assert "the earlier submission wins</td><td>the place is shared" in page
    assert 'name="cores" value="2"' in page, "what was typed goes along"
    assert draft.phases().get(title="Tweakathon[0]").tie_rule == "earlier"
    assert olga.post(address, {**sent, "confirm": "yes"}).status_code == 302
    assert draft.phases().get(title="Tweakathon[0]").tie_rule == "shared"


def test_a_form_that_is_sent_as_it_was_shown_changes_nothing_not_even_seconds(olga, contest):
    User.objects.filter(username="olga").update(time_zone="Asia/Tokyo")
    phase = contest["Tweakathon[0]"]
    phase.opens_at += dt.timedelta(seconds=17)
    phase.memory_bytes = 5 * 2**30 + 1
    phase.save()
    address = url(contest.contest, f"{phase.pk}/")
    page = olga.get(address)
    with timezone.override("Asia/Tokyo"):
        sent = as_shown(page)
    answer = olga.post(address, sent)
    assert answer.status_code == 409
    assert "Nothing would change." in text(answer)


def test_what_runs_were_made_with_is_locked_and_leads_to_the_action_that_shows_the_cost(olga, contest):
    finish(enter(contest["Tweakathon[0]"], make.user("alice")))
    phase = contest["Tweakathon[0]"]
    page = olga.get(url(contest.contest, f"{phase.pk}/"))
    assert f"act/change-budget/?phase={phase.pk}" in text(page)
    locked = {name for name, field in page.context["form"].fields.items() if field.disabled}
    assert {"wall_seconds", "cores", "memory_bytes", "image", "kind", "round"} <= locked
    sent = as_shown(page) | {"wall_seconds": "7", "title": "Tweaking", "confirm": "yes"}
    assert olga.post(url(contest.contest, f"{phase.pk}/"), sent).status_code == 302
    phase.refresh_from_db()
    assert (phase.title, phase.wall_seconds) == ("Tweaking", None)


def test_dates_are_previewed_in_ones_own_zone_and_kept_in_utc(olga, contest):
    olga.cookies["podium_zone"] = "Asia/Tokyo"
    phase = contest["AutoML[2]"]
    with timezone.override("Asia/Tokyo"):
        sent = all_dates(contest.contest)
    later = (phase.closes_at + dt.timedelta(hours=10)).replace(second=0)  # UTC + 9 h, and one hour more
    sent[f"phase-{phase.pk}-closes_at"] = f"{later:%Y-%m-%dT%H:%M}"
    page = text(olga.post(url(contest.contest, "dates/"), sent))
    assert f"{later:%H:%M} Asia/Tokyo" in page
    assert olga.post(url(contest.contest, "dates/"), {**sent, "confirm": "yes"}).status_code == 302
    moved = contest["AutoML[2]"].closes_at
    assert moved == later - dt.timedelta(hours=9)
    (change,) = AuditEntry.objects.get().data["changes"]
    assert change["new"].endswith(f"at {moved:%H:%M} UTC")


def test_dates_that_do_not_fit_are_said_in_their_row_and_while_one_drags(olga, draft):
    phases = fill(olga, draft)
    name = f"phase-{phases['Final[0]'].pk}-opens_at"
    sent = all_dates(draft, **{name: "2031-03-10T00:00"})
    answer = olga.post(url(draft, "dates/"), sent, headers={"HX-Request": "true"})
    assert "Final[0] overlaps its parent Tweakathon[0]" in text(answer)
    answer = olga.post(url(draft, "dates/"), sent)
    assert answer.status_code == 400
    (row,) = [row for row in answer.context["page"].rows if row.form.errors]
    assert (row.phase.title, list(row.form.errors)) == ("Final[0]", ["opens_at"])
    late = all_dates(draft, **{name: "2031-04-27T00:00"})
    Phase.objects.filter(title="AutoML[1]").update(closes_at=dt.datetime(2031, 6, 1, tzinfo=dt.UTC))
    answer = olga.post(url(draft, "dates/"), late)
    assert answer.status_code == 409
    assert "Somebody else has changed dates" in text(answer)


def test_a_time_that_clocks_jump_over_is_refused_at_its_field(olga, draft):
    olga.cookies["podium_zone"] = "Europe/Berlin"
    phases = fill(olga, draft)
    sent = all_dates(draft, **{f"phase-{phases['Tweakathon[0]'].pk}-opens_at": "2031-03-30T02:30"})
    answer = olga.post(url(draft, "dates/"), sent)
    assert answer.status_code == 400
    assert "The clocks in Europe/Berlin never show 02:30 on 30 March 2031" in text(answer)


def test_the_zone_one_chooses_is_kept_with_the_account(olga, draft):
    fill(olga, draft)
    assert "in <strong>UTC</strong>" in text(olga.get(url(draft)))
    assert olga.post(url(draft, "zone/"), {"time_zone": "America/Lima"}).status_code == 302
    page = text(olga.get(url(draft)))
    assert "in <strong>America/Lima</strong>, as you chose" in page
    assert 'value="2031-02-28T19:00"' in page
    assert olga.post(url(draft, "zone/"), {"time_zone": "Moon/Base"}).status_code == 400


def test_datasets_of_a_phase_are_edited_in_one_table_and_wrong_values_stand_at_their_field(olga, contest):
    phase = contest["AutoML[2]"]
    one, two = phase.tasks.all()
    sent = {"seen": tasks_seen([one, two])}
    for task, place in ((one, 2), (two, 1)):
        sent |= {f"task-{task.pk}-order": place, f"task-{task.pk}-metric": "BAC"}
    address = url(contest.contest, f"{phase.pk}/datasets/")
    answer = olga.post(address, {**sent, f"task-{one.pk}-metric": "R2"})
    assert answer.status_code == 400
    assert "R2 does not score binary classification" in text(answer)
    assert "Nothing has changed yet" in text(olga.post(address, sent))
    assert olga.post(address, {**sent, "confirm": "yes"}).status_code == 302
    assert [(task.pk, task.metric) for task in phase.tasks.all()] == [(two.pk, "BAC"), (one.pk, "BAC")]


def test_a_phase_is_removed_only_after_a_page_that_says_so(olga, contest):
    address = url(contest.contest, f"{contest['Final[1]'].pk}/remove/")
    page = text(olga.post(address))
    assert "Final[1] is removed from the competition. Its 2 datasets stay in the library." in page
    assert contest.contest.phases().count() == 6
    assert olga.post(address, {"confirm": "yes"}).status_code == 302
    assert contest.contest.phases().count() == 5


def test_rounds_are_added_and_named_and_numbers_are_not_given_twice(olga, draft):
    assert olga.post(url(draft, "rounds/add/"), {"number": 0, "name": "Preparation"}).status_code == 302
    assert "round 0 already" in text(olga.post(url(draft, "rounds/add/"), {"number": 0, "name": ""}))
    made = draft.rounds.get()
    assert olga.post(url(draft, f"rounds/{made.pk}/"), {"number": 1, "name": "Novice"}).status_code == 302
    assert olga.post(url(draft, f"rounds/{made.pk}/remove/")).status_code == 302
    assert not draft.rounds.exists()


def test_ids_of_another_competition_and_datasets_of_others_lead_nowhere(olga, contest, draft):
    foreign = make.dataset(make.user("felix"))
    phase, group = contest["Final[1]"], contest["Final[1]"].round
    for ending in (f"{phase.pk}/", f"rounds/{group.pk}/", f"add/?kind=final&after={phase.pk}"):
        assert olga.get(url(draft, ending)).status_code == 404
    own = fill(olga, draft)["AutoML[1]"]
    assert foreign.title not in text(olga.get(url(draft, "datasets/")))
    answer = olga.post(url(draft, "datasets/"), {"datasets": [foreign.pk], "phases": [own.pk]})
    assert answer.status_code == 400
    answer = olga.post(
        url(draft, "datasets/"), {"datasets": [make.dataset(make.user("olga")).pk], "phases": [phase.pk]}
    )
    assert answer.status_code == 400
    sent = as_shown(olga.get(url(draft, f"{own.pk}/"))) | {"parent": phase.pk}
    assert "parent" in olga.post(url(draft, f"{own.pk}/"), sent).context["form"].errors


def test_a_reviewer_reads_the_phases_without_hidden_names_and_without_buttons(contest):
    Organizer.objects.create(competition=contest.contest, user=make.user("rita"), role="reviewer")
    page = text(of("rita").get(url(contest.contest)))
    hidden = contest["AutoML[2]"].tasks.first().dataset.title.lower()
    assert "AutoML[2]" in page
    assert hidden not in page.lower()
    for word in ("Save the dates", "Remove", "Add a phase", "Use it"):
        assert word not in page


def test_a_secret_name_does_not_come_out_by_what_is_wrong_with_it(contest):
    Organizer.objects.create(competition=contest.contest, user=make.user("rita"), role="reviewer")
    phase = contest["Tweakathon[1]"]  # it has yet to open, on datasets of a blind phase
    for task in phase.tasks.select_related("dataset"):
        task.dataset.versions.update(name="secret")
    assert "go by the name secret" in text(of("olga").get(url(contest.contest)))
    for ending in ("manage/", "manage/phases/"):
        page = text(of("rita").get(f"/competitions/{contest.contest.slug}/{ending}"))
        assert "secret" not in page


def queries(client, address):
    with CaptureQueriesContext(
        connection,
    ) as caught:
        assert client.get(address).status_code == 200
    return len(caught)


def test_the_number_of_queries_does_not_grow_with_phases_and_datasets(olga, contest):
    before = queries(olga, url(contest.contest))
    for number in range(7, 13):
        phase = make.phase(contest.contest, kind="open", number=number, title=f"Open {number}", tasks=3)
        enter(phase, make.user("alice"))
    assert queries(olga, url(contest.contest)) == before
    assert before <= 20
