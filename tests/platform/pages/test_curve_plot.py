"""The drawing of a learning curve: steps at the right places, every number beside it, and when it is there."""

import datetime as dt

from django.core.files.base import ContentFile
from django.utils import timezone

from competitions.models import Phase
from pages.curve_plot import draw
from submissions import curves
from submissions.curves import Curve, Point
from submissions.models import Prediction
from submissions.public import PublicScore
from tests.platform import factories as make


def curve(part, *points):
    return Curve(
        part,
        [
            Point(number, seconds, PublicScore(part, "AUC", value, stderr, f"{value:.4f}"))
            for number, (seconds, value, stderr) in enumerate(points, start=1)
        ],
    )


def test_time_goes_right_and_scores_go_up():
    plot = draw([curve("valid", (1.0, 0.2, 0.1), (10.0, 0.5, 0.1), (100.0, 0.9, 0.1))])
    first, middle, last = plot.lines[0].marks
    assert first.x == plot.left
    assert last.x == plot.right
    assert middle.x - first.x == last.x - middle.x  # equal steps of the logarithm
    assert first.y > middle.y > last.y
    assert (first.low, last.high) == (plot.bottom, plot.top)
    assert plot.lines[0].path == f"M{first.x} {first.y}H{middle.x}V{middle.y}H{last.x}V{last.y}"


def test_the_numbers_stand_beside_the_drawing():
    plot = draw(
        [curve("valid", (1.0, 0.2, 0.1), (9.0, 0.5, None)), curve("test", (1.0, 0.1, 0.1), (9.0, 0.4, 0.1))]
    )
    assert [line.title for line in plot.lines] == ["validation", "test"]
    assert plot.rows == [(1.0, ["0.2000 ± 0.1", "0.1000 ± 0.1"]), (9.0, ["0.5000", "0.4000 ± 0.1"])]


def test_points_of_one_time_and_one_value_are_drawn_too():
    plot = draw([curve("valid", (0.0, 0.5, None), (0.0, 0.5, None))])
    assert plot.top < plot.lines[0].marks[0].y < plot.bottom


def test_without_curves_there_is_no_drawing():
    assert draw([]) is None


def test_the_page_shows_the_curve_when_the_phase_is_over_and_not_before(world):
    run = world.finished.runs.first()
    for number, value in ((1, 0.2), (2, 0.4)):
        for part, rows in (("valid", 4), ("test", 6)):
            prediction = Prediction(
                run=run, part=part, number=number, name=f"{part}{number}", seconds=number, size=1
            )
            prediction.file.save("p", ContentFile(make.column([value] * rows)), save=False)
            prediction.save()
    address = world.finished.get_absolute_url()
    ended = timezone.now() - dt.timedelta(seconds=1)
    assert "Learning curve" not in world.client("other").get(address).content.decode()
    Phase.objects.filter(pk=world.phase.pk).update(closes_at=ended)
    assert curves.score_due(timezone.now()) == 4
    own = world.client("other").get(address).content.decode()
    assert own.count("Learning curve") == 1
    assert "curve-valid" in own
    assert "curve-test" not in own
    assert "curve-test" in world.client("organizer").get(address).content.decode()
    assert "curve-test" not in world.client("reviewer").get(address).content.decode()
