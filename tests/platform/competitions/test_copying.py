"""A copy has what organizers wrote and set, and nothing of what happened."""

import datetime as dt

import pytest
from django.core.files.base import ContentFile
from django.db.models import Field, Model

from accounts.refusals import Refused
from competitions.actions.copying import NOT_COPIED, copied, free_slug
from competitions.models import (
    Competition,
    Organizer,
    Page,
    PageImage,
    Phase,
    PhaseFile,
    Prize,
    Question,
    Round,
    Task,
)
from tests.platform import factories as make
from tests.platform import mid_series
from tests.platform.series import series
from tests.platform.submissions.programs import contest as programmed

pytestmark = pytest.mark.django_db
# What a copy leaves behind, whole: who takes part and what happened.
LEFT = {
    "announcements",
    "audit",
    "bundle_import",
    "deletion",
    "entrants",
    "exports",
    "held_roles",
    "organizers",
    "participants",
    "rehearsal",
    "rounds",
    "teams",
    "worker",
}
COPIED = {"column_boards", "images", "pages", "programs", "questions", "rounds"}


@pytest.fixture
def contest(clock):
    return series(clock.now, datasets=1).contest


def fields(model: type[Model]) -> list[Field]:
    return [field for field in model._meta.concrete_fields if field.name not in NOT_COPIED[model]]


def test_everything_that_belongs_to_a_competition_is_copied_or_left_on_purpose():
    related = {field.name for field in Competition._meta.related_objects}
    known = COPIED | LEFT
    assert {name for name in related if name not in known and not name.endswith("+")} <= {
        "bulk_works",
        "computed",
        "replay",
    }
    for model, names in NOT_COPIED.items():
        assert names <= {field.name for field in model._meta.concrete_fields}, model


def test_texts_settings_phases_tasks_prizes_and_questions_come_along(contest, clock):
    Competition.objects.filter(pk=contest.pk).update(
        summary="A summary.", rules="Rules.", max_team_size=4, visibility="private", teams_close_at=clock.now
    )
    contest.refresh_from_db()
    Page.objects.create(competition=contest, slug="faq", title="FAQ", body="See /competitions/x/")
    Question.objects.create(competition=contest, text="Which library?", kind="text", is_required=True)
    Prize.objects.create(phase=contest.phases().first(), place=1, title="First")
    later = dt.timedelta(days=100)
    made = copied(contest, slug="again", title="Again", owner=make.user("eva"), shift=later)
    made.refresh_from_db()
    for field in fields(Competition):
        old, new = getattr(contest, field.name), getattr(made, field.name)
        assert new == (old + later if isinstance(old, dt.datetime) else old), field.name
    assert [str(one) for one in made.organizers.all()] == ["eva (owner)"]
    for old, new in zip(contest.phases(), made.phases(), strict=True):
        for field in fields(Phase):
            value = getattr(old, field.name)
            assert getattr(new, field.name) == (value + later if isinstance(value, dt.datetime) else value)
        assert (new.parent.title if new.parent else None) == (old.parent.title if old.parent else None)
        assert new.parent is None or new.parent.competition == made
        assert [task.dataset for task in new.tasks.all()] == [task.dataset for task in old.tasks.all()]
    assert made.pages.get().body == "See /competitions/x/"
    assert made.questions.get().is_required
    assert made.phases().first().prizes.get().title == "First"
    assert set(Round.objects.filter(competition=made).values_list("number", flat=True)) == {0, 1, 2}


def test_nothing_of_what_happened_comes_along(clock):
    world = mid_series.build()
    Competition.objects.filter(pk=world.contest.pk).update(
        allowed_emails="ann@example.org", registration="allow_list"
    )
    Phase.objects.filter(round__competition=world.contest).update(board="frozen", released_at=clock.now)
    Task.objects.filter(phase__round__competition=world.contest).update(
        revealed_at=clock.now, quarantined_at=clock.now, quarantine_reason="It fails."
    )
    world.contest.refresh_from_db()
    made = copied(world.contest, slug="again", title="Again", owner=world.people["owner"])
    assert made.state == Competition.State.DRAFT
    assert (made.allowed_emails, made.registration) == ("", "allow_list")
    for name in ("entrants", "participants", "teams", "announcements"):
        assert not getattr(made, name).exists(), name
    assert not made.phases().exclude(board="shown", released_at=None).exists()
    tasks = Task.objects.filter(phase__round__competition=made)
    assert tasks.count() == Task.objects.filter(phase__round__competition=world.contest).count()
    assert not tasks.exclude(revealed_at=None, quarantined_at=None, quarantine_reason="").exists()


def test_pictures_are_copied_and_the_texts_show_the_copies(contest):
    picture = PageImage(competition=contest, name="plot", size=3, width=1, height=1)
    picture.file.save("plot.png", ContentFile(b"abc"))
    address = f"{contest.get_absolute_url()}images/plot"
    Competition.objects.filter(pk=contest.pk).update(
        overview=f"![]({address}) and [rules]({contest.get_absolute_url()}rules/)"
    )
    contest.refresh_from_db()
    made = copied(contest, slug="again", title="Again", owner=make.user("olga"))
    own = made.images.get()
    assert own.file.name != picture.file.name
    assert own.file.read() == b"abc"
    assert made.overview == "![](/competitions/again/images/plot) and [rules](/competitions/again/rules/)"


def test_other_datasets_can_stand_for_those_of_the_tasks(contest):
    other = make.dataset(make.user("olga"))
    first = contest.phases().first().tasks.first().dataset
    made = copied(
        contest,
        slug="again",
        title="Again",
        owner=make.user("olga"),
        dataset_of=lambda task: other if task.dataset == first else None,
    )
    assert set(Task.objects.filter(phase__round__competition=made).values_list("dataset", flat=True)) == {other.pk}


def test_programs_boards_and_files_of_phases_are_copied_and_the_copy_refers_to_its_own(clock):
    source = programmed.phase(ingestion=True)
    programmed.phase(source.competition, fans_out_from=source)
    kit = PhaseFile(phase=source, kind="starting_kit", name="kit", sha256="0" * 64, size=2)
    kit.file.save("kit.zip", ContentFile(b"PK"))
    programmed.board(source.competition, "accuracy")
    made = copied(source.competition, slug="again", title="Again", owner=make.user("olga"))
    first, second = made.phases()
    task, old = first.tasks.get(), source.tasks.get()
    assert second.fans_out_from == first
    for name in ("scoring_program", "ingestion_program"):
        twin, program = getattr(task, name), getattr(old, name)
        assert (twin.competition, twin.command, twin.sha256) == (made, program.command, program.sha256)
        assert twin.file.name != program.file.name
        assert twin.file.read() == program.file.read()
    assert made.programs.count() == 2
    assert first.files.get().file.read() == b"PK"
    assert [column.key for column in made.column_boards.get().columns.all()] == ["accuracy"]


def test_a_slug_that_is_taken_is_refused_and_a_free_one_is_found(contest):
    assert free_slug("unused") == "unused"
    assert free_slug(contest.slug) == f"{contest.slug}-2"
    with pytest.raises(Refused, match="already exists"):
        copied(contest, slug=contest.slug, title="Again", owner=make.user("olga"))
    assert Organizer.objects.filter(user__username="olga").count() == 1
    long = "a" * 80
    make.competition(long)
    assert len(free_slug(long)) == 80
