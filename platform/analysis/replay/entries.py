"""What was published of systems and basic methods in one round, as entries of its phase."""

import csv
import datetime as dt
import hashlib
import io
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.files.base import ContentFile
from django.db.models import Model

from analysis.measures.bootstrap import subsample_factor
from analysis.models import BasicEntry, OtherScore
from analysis.replay import facts
from analysis.replay.source import Cells, CurvePoint, Published
from competitions.models import Competition, Entrant, Phase, Task, Team
from datasets.models import Metric, TaskKind
from submissions.models import Prediction, PredictionScore, Run, RunState, Score, Submission

SNB = "marcboulle"  # his system is the selective naive Bayes, which the chapter takes for a basic method, too
Curves = Mapping[str, tuple[CurvePoint, ...]]


@dataclass(frozen=True)
class PublishedEntry:
    """One line of the tables: scores, spreads and scores under the common metric, by dataset."""

    name: str
    scores: dict[str, float]
    spreads: dict[str, float]
    same: dict[str, float] = field(default_factory=dict)
    curves: Curves = field(default_factory=dict)
    method: str = ""
    is_tuned: bool = False
    is_baseline: bool = False


def entries_of(published: Published, datasets: Iterable[str]) -> list[PublishedEntry]:
    """The entries of a round: systems, then basic methods; those without any score are left out."""
    names = list(datasets)
    found = [
        PublishedEntry(
            name=system,
            scores=_own(published.scores, system, names),
            spreads=_own(published.spreads, system, names),
            same=_own(published.same, system, names),
            curves={name: published.curves[system, name] for name in names if (system, name) in published.curves},
            method=BasicEntry.Method.SNB if system == SNB else "",
        )
        for system in published.systems
    ]
    for is_tuned, scores, spreads in (
        (False, published.default, published.default_spreads),
        (True, published.tuned, {}),
    ):
        for method in ("knn", "nb", "rf", "sgd"):
            label = BasicEntry.Method(method).label
            found.append(
                PublishedEntry(
                    name=f"{label}, {'tuned' if is_tuned else 'default'}",
                    scores=_own(scores, method, names),
                    spreads=_own(spreads, method, names),
                    method=method,
                    is_tuned=is_tuned,
                    is_baseline=True,
                )
            )
    return [entry for entry in found if entry.scores]


def _own(cells: Cells, name: str, datasets: Iterable[str]) -> dict[str, float]:
    return {dataset: cells[dataset, name] for dataset in datasets if (dataset, name) in cells}


def entrant_named(contest: Competition, name: str, *, is_baseline: bool) -> Entrant:
    """The entrant that stands for a published name: a team without members, because nobody here is them."""
    found = Entrant.objects.filter(competition=contest, name=name).first()
    if found is not None:
        return found
    team = Team.objects.create(competition=contest, name=name)
    return Entrant.objects.create(competition=contest, team=team, name=name, is_baseline=is_baseline)


def submission_of(entrant: Entrant, phase: Phase, files: Mapping[str, bytes], comment: str) -> Submission:
    """A finished submission with its archive stored and its row not yet."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    content = packed.getvalue()
    made = Submission(
        entrant=entrant,
        phase=phase,
        user=phase.competition.created_by,
        number=phase.number,
        received_at=phase.opens_at,
        filename="published.zip",
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        kind=Submission.Kind.RESULTS,
        comment=comment,
        state=Submission.State.FINISHED,
        ended_at=phase.closes_at,
        uses_quota=False,
    )
    made.archive.save("published.zip", ContentFile(content), save=False)
    return made


def run_of(submission: Submission, task: Task, ended_at: dt.datetime | None, sentence: str) -> Run:
    """A finished run without its row."""
    version = task.dataset.current
    assert version is not None, "a replayed dataset has a version"
    return Run(
        submission=submission,
        task=task,
        order=task.order,
        source=Run.Source.RESULTS,
        dataset_version=version,
        dataset_name=version.name,
        metric=version.metric,
        convention=Phase.Convention.LIBSCORES,
        budget_json=task.budget().to_json(),
        state=RunState.FINISHED,
        sentence=sentence,
        queued_at=submission.received_at,
        ended_at=ended_at,
    )


class Rows:
    """The rows of many entries, written a table at a time. `stored` are the files to remove if that fails."""

    def __init__(self) -> None:
        self.stored: list[Any] = []
        self._rows: dict[type[Model], list[Any]] = {
            kind: [] for kind in (Submission, Run, BasicEntry, Score, OtherScore, Prediction, PredictionScore)
        }

    def add(self, row: Any) -> Any:
        """Take a row in, to be written after those it points to."""
        self._rows[type(row)].append(row)
        return row

    def write(self) -> None:
        """Write all of them; call it in a transaction."""
        for kind, rows in self._rows.items():
            for row in rows:
                # Rows were pointed at before they had an id, which Django does not look at again by itself.
                for pointed in ("submission", "run", "prediction"):
                    if pointed in {one.name for one in kind._meta.fields}:
                        setattr(row, pointed, getattr(row, pointed))
            kind._default_manager.bulk_create(rows, batch_size=500)


def add_entry(rows: Rows, entry: PublishedEntry, phase: Phase, tasks: Mapping[str, Task]) -> None:
    """Take in one entry of the tables."""
    entrant = entrant_named(phase.competition, entry.name, is_baseline=entry.is_baseline)
    comment = "Published scores; neither its code nor its predictions are here."
    submission = rows.add(submission_of(entrant, phase, {"scores.csv": _table(entry, tasks)}, comment))
    rows.stored.append(submission.archive)
    if entry.method:
        rows.add(BasicEntry(submission=submission, method=entry.method, is_tuned=entry.is_tuned))
    for name, value in entry.scores.items():
        run = rows.add(run_of(submission, tasks[name], phase.closes_at, "Its score was published."))
        rows.add(_score(run, value, entry.spreads.get(name)))
        metric = Metric.R2 if run.dataset_version.task_kind == TaskKind.REGRESSION else Metric.BAC
        if name in entry.same or metric != run.metric:
            # Of the basic methods none was published, and without their predictions none can be computed.
            same = entry.same.get(name)
            rows.add(OtherScore(run=run, part=Phase.Part.TEST, metric=metric, value=same))
        for point in entry.curves.get(name, ()):
            prediction = Prediction(
                run=run,
                part=Phase.Part.TEST,
                number=point.number,
                name=f"{name}_test_{point.number:05d}.predict",
                seconds=point.seconds,
                size=0,
            )
            rows.add(PredictionScore(prediction=rows.add(prediction), value=point.score))


def _score(run: Run, value: float, spread: float | None) -> Score:
    version = run.dataset_version
    classes = max(version.label_num, version.target_num)
    return Score(
        run=run,
        part=Phase.Part.TEST,
        metric=run.metric,
        convention=run.convention,
        value=value,
        raw=facts.raw_value(value, run.metric, task=version.task_kind, classes=classes, name=version.name),
        stderr=None if spread is None else spread / subsample_factor(),
    )


def _table(entry: PublishedEntry, tasks: Mapping[str, Task]) -> bytes:
    """What was published of an entry in this round."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["dataset", "metric", "score", "spread_over_subsamples", "score_under_common_metric"])
    for name in tasks:
        version = tasks[name].dataset.current
        cells = (entry.scores.get(name, ""), entry.spreads.get(name, ""), entry.same.get(name, ""))
        writer.writerow([name, version.metric if version else "", *cells])
    return text.getvalue().encode()
