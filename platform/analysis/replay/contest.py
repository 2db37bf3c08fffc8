"""The replayed competition itself: its rounds, phases and datasets, each made once."""

import datetime as dt
import hashlib
import io
import lzma
import math
import zipfile

from django.core.files.base import ContentFile
from django.db import transaction

from accounts.models import User
from analysis.models import MetaFeatures, Replay
from analysis.replay import facts
from analysis.replay.source import ROUNDS, DatasetFacts, Published
from competitions import clock
from competitions.actions.base import record
from competitions.actions.copying import free_slug
from competitions.models import Competition, Organizer, Phase, Round, Task
from datasets.models import Dataset, DatasetVersion
from scoring import names

# When the learning curves were recorded; of the other runs no day is known.
OPENS, CLOSES = dt.datetime(2017, 5, 9, tzinfo=dt.UTC), dt.datetime(2017, 5, 12, tzinfo=dt.UTC)


def found_or_made(owner: User, published: Published) -> Competition:
    """The owner's replay, as a draft while it is not loaded as a whole."""
    found = Replay.objects.filter(source=facts.SOURCE, competition__created_by=owner, competition__deletion=None)
    replay = found.select_related("competition").first()
    if replay is not None:
        return replay.competition
    with transaction.atomic():
        made = Competition.objects.create(
            slug=free_slug(facts.SLUG),
            title=facts.TITLE,
            summary=facts.SUMMARY,
            overview=facts.OVERVIEW,
            registration=Competition.Registration.CLOSED,
            created_by=owner,
        )
        Organizer.objects.create(competition=made, user=owner, role=Organizer.Role.OWNER)
        Replay.objects.create(competition=made, source=facts.SOURCE, facts=_facts(published))
        for number in sorted({dataset.round for dataset in published.datasets}):
            _phase(made, number, sum(dataset.round == number for dataset in published.datasets))
        text = "The competition was made from published scores."
        record(made, by=None, action="create", text=text, at=clock.now(made))
    return made


def _facts(published: Published) -> dict[str, object]:
    return {
        "key": "automl2016",
        "loaded": [],
        "error_bars": {},
        "unstamped": published.unstamped,
        "systems": list(published.systems),
        "ratios": {one.name: one.train_num / one.feat_num for one in published.datasets},
        "curves": sorted({system for system, _ in published.curves}),
    }


def _phase(contest: Competition, number: int, count: int) -> Phase:
    name = ROUNDS[number]
    group = Round.objects.create(competition=contest, number=number, name=name)
    return Phase.objects.create(
        round=group,
        number=number + 1,
        kind=Phase.Kind.OPEN,
        title=facts.TITLES.format(number=number),
        description=facts.DESCRIPTION.format(count=count, number=number, name=name),
        opens_at=OPENS,
        closes_at=CLOSES,
        feedback_part=Phase.Part.TEST,
        tie_rule=Phase.TieRule.SHARED,
        convention=Phase.Convention.LIBSCORES,
    )


def with_dataset(phase: Phase, published: Published, one: DatasetFacts, order: int) -> Task:
    """The task of a dataset in its phase; the dataset is made where it is missing."""
    found = Task.objects.filter(phase=phase, dataset__versions__name=one.name).first()
    if found is not None:
        return found
    version = _version(published, one)
    try:
        with transaction.atomic():
            version.dataset = Dataset.objects.create(
                owner=phase.competition.created_by,
                slug=_slug(f"automl-2016-{one.name}"),
                title=one.name.capitalize(),
                description="Of the AutoML challenge of 2015/16. Its features and training labels are not here.",
                source=facts.SOURCE,
                is_public=True,
            )
            version.save()
            MetaFeatures.objects.create(
                version=version, origin=MetaFeatures.Origin.PUBLISHED, values=one.meta_features
            )
            # The learning curves of round 0 were recorded with three quarters of the budget of its info files.
            return Task.objects.create(
                phase=phase, dataset=version.dataset, order=order, wall_seconds=one.run_budget
            )
    except BaseException:
        for file in (version.public_zip, version.test_solution):
            if file:
                file.storage.delete(str(file.name))
        raise


def _slug(wanted: str) -> str:
    taken = set(Dataset.objects.filter(slug__startswith=wanted).values_list("slug", flat=True))
    number, slug = 1, wanted
    while slug in taken:
        number, slug = number + 1, f"{wanted}-{number + 1}"
    return slug


def _version(published: Published, one: DatasetFacts) -> DatasetVersion:
    """A version with its files stored and its row not yet."""
    metric = names.canonical_metric(one.metric)
    features = one.meta_features
    version = DatasetVersion(
        name=one.name,
        task_kind=one.task,
        metric=metric,
        time_budget=one.time_budget,
        feat_num=one.feat_num,
        target_num=one.target_num,
        label_num=one.label_num,
        train_num=one.train_num,
        valid_num=one.valid_num,
        test_num=one.test_num,
        facts={
            "task": one.task,
            "metric": metric,
            "has_missing": one.has_missing,
            "missing_fraction": features.get("PercentageOfMissingValues"),
            "is_sparse": one.is_sparse,
            "sparsity": None,
            "categorical_count": int(features.get("NumberOfCategoricalFeatures") or 0),
            "class_balance": facts.CLASS_BALANCE.get(one.name),
            "ratio": one.train_num / one.feat_num,
        },
    )
    content = _public_zip(published, one)
    version.public_sha256, version.public_bytes = hashlib.sha256(content).hexdigest(), len(content)
    version.public_zip.save(f"{one.name}.zip", ContentFile(content), save=False)
    solution = published.reference(f"{one.name}_test.solution.xz")
    if solution is not None:
        text = lzma.decompress(solution.read_bytes())
        version.test_solution.save(f"{one.name}_test.solution", ContentFile(text), save=False)
        version.has_test_solution = True
        version.checksums = {
            f"{one.name}_test.solution": {"sha256": hashlib.sha256(text).hexdigest(), "bytes": len(text)}
        }
    return version


def _public_zip(published: Published, one: DatasetFacts) -> bytes:
    """The info file, which is all that was published of it for everybody."""
    given = published.reference(f"{one.name}_public.info")
    if given is not None:
        text = given.read_text()
    else:
        keys = (
            "name",
            "task",
            "metric",
            "feat_num",
            "target_num",
            "label_num",
            "train_num",
            "valid_num",
            "test_num",
        )
        lines = [f"{key} = {getattr(one, key)!r}" for key in keys]
        text = "\n".join([*lines, f"time_budget = {math.ceil(one.time_budget)}"]) + "\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{one.name}/{one.name}_public.info", text)
    return packed.getvalue()
