"""Learning curves of a board: areas, places by both rules, what came after the budget, and who may see them."""

import datetime as dt

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from analysis.inputs.audience import Audience
from analysis.sections.base import nothing, quiet
from analysis.sections.curves import SECTION
from competitions import clock
from competitions.models import Phase
from submissions import curves
from submissions.models import Prediction, Run, RunState
from submissions.scoring import score_run
from tests.platform import factories as make

pytestmark = pytest.mark.django_db

WORST, MIDDLE, BEST = [0.9, 0.1, 0.8, 0.2], [0.5, 0.4, 0.2, 0.8], [0.1, 0.9, 0.2, 0.8]
FAST = {0.5: MIDDLE, 9.0: MIDDLE}
SLOW = {2.0: WORST, 9.5: BEST}


def left(run: Run, steps: dict[float, list[float]]) -> Run:
    """The run has left these predictions for the validation part at these seconds, and is scored."""
    Run.objects.filter(pk=run.pk).update(state=RunState.COLLECTED)
    for number, (seconds, values) in enumerate(steps.items()):
        for part, rows in (("valid", values), ("test", [*values, 0.5, 0.5])):
            prediction = Prediction(
                run=run, part=part, number=number, name=f"{part}_{number}", seconds=seconds, size=1
            )
            prediction.file.save("p", ContentFile(make.column(rows)), save=False)
            prediction.save()
    score_run(run.pk)
    return run


@pytest.fixture
def phase(db):
    """A phase with a budget of 10 s that is over: Alice is fast, Bob is better in the end."""
    made = make.phase(make.competition(), tasks=1)
    for name, steps in (("alice", FAST), ("bob", SLOW)):
        left(make.submission(made, make.user(name)).runs.get(), steps)
    Phase.objects.filter(pk=made.pk).update(closes_at=timezone.now() - dt.timedelta(minutes=1))
    made.refresh_from_db()
    return made


def loaded(phase, part="valid", **audience):
    asked = Audience(phase=phase.pk, part=part, **audience)
    return SECTION.load(phase.competition, asked, clock.now(phase.competition))


def result(phase, **audience):
    curves.score_due(timezone.now())
    return SECTION.build(loaded(phase, **audience), quiet)


def test_the_fast_one_leads_by_area_and_the_better_one_in_the_end(phase):
    found = result(phase)
    assert found.headline.startswith("alice leads by the area") and "bob leads at the end" in found.headline
    rows = {row[1]: row for row in found.named("areas").rows}
    assert (rows["alice"][0], rows["alice"][3]) == (1, 2)
    assert (rows["bob"][0], rows["bob"][3]) == (2, 1)
    assert {"mean_log", "mean_linear", "ranks", "curves_1_log"} <= {figure.key for figure in found.figures()}
    assert found.named("beyond") is None


def test_a_form_draws_any_dataset_with_either_axis(phase):
    found = result(phase)
    (tool,) = SECTION.tools
    assert [choice.name for choice in tool.choices(found)] == ["dataset", "axis"]
    (figure,) = tool.answer(found, {"dataset": "1", "axis": "linear"})
    assert figure.key == "curves_1_linear"
    assert tool.answer(found, {"dataset": "<script>"}) == ()


def test_new_scores_of_predictions_ask_for_a_new_result(phase):
    before = loaded(phase).fingerprint()
    assert loaded(phase).fingerprint() == before
    curves.score_due(timezone.now())
    assert loaded(phase).fingerprint() != before


def test_what_waits_for_its_score_is_told(phase):
    found = SECTION.build(loaded(phase), quiet)
    assert found.headline == "There are no learning curves."
    assert any("4 predictions still wait" in block.text for block in found.blocks)


def test_late_predictions_are_the_gain_after_the_budget(phase):
    left(make.submission(phase, make.user("carol")).runs.get(), {3.0: MIDDLE, 25.0: BEST})
    (row,) = result(phase).named("beyond").rows
    assert row[1] == "carol" and row[5] == 2.5


def test_the_test_part_waits_for_its_release_and_organizers_need_not(phase):
    assert nothing(loaded(phase, part="test"))
    assert not nothing(loaded(phase, part="test", sees_hidden=True))


def test_runs_without_numbered_predictions_have_one_point(phase):
    run = make.submission(phase, make.user("carol")).runs.get()
    left(run, {4.0: BEST})
    Prediction.objects.filter(run=run).update(number=None)
    rows = {row[1]: row for row in result(phase).named("areas").rows}
    assert rows["carol"][5] == pytest.approx(1.0)


def test_where_names_are_concealed_there_are_no_moments_that_would_tell_them(phase):
    Phase.objects.filter(pk=phase.pk).update(is_anonymous=True, release=Phase.When.BY_HAND, released_at=None)
    found = result(phase)
    assert not list(found.figures()) and "Names are not shown" in found.blocks[-1].text
    assert list(result(phase, sees_hidden=True).figures())
