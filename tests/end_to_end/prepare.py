"""Fills a fresh installation for the end-to-end tests; runs as a process of its own on that data folder."""

import datetime as dt
import os
import tempfile
from pathlib import Path

import numpy as np

TIME_BUDGET = 10


def write_datasets(folder: Path) -> list[Path]:
    """A binary and a regression dataset that a simple model learns."""
    from ingestion.dataset import write_dataset

    rng = np.random.default_rng(11)
    features = rng.normal(size=(600, 6))
    signal = features @ np.array([2.0, -1.0, 0.5, 0.0, 0.0, 0.0]) + rng.normal(scale=0.8, size=600)
    targets = {
        "circle": ("binary.classification", "AUC", (signal > 0).astype(int)),
        "slope": ("regression", "R2", signal),
    }
    for name, (task, metric, target) in targets.items():
        cuts = slice(0, 300), slice(300, 400), slice(400, 600)
        train, valid, test = ((features[cut], target[cut]) for cut in cuts)
        write_dataset(
            folder / name,
            name,
            task=task,
            metric=metric,
            time_budget=TIME_BUDGET,
            train=train,
            valid=valid,
            test=test,
        )
    return [folder / name for name in targets]


def main() -> None:
    """Migrate, and make the trial competition: one open phase, one closed, one with a quota of one."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.core.management import call_command
    from django.utils import timezone

    from accounts.models import User
    from competitions.models import Competition, Organizer, Phase, Round, Task
    from datasets.actions import import_dataset
    from tests.end_to_end.installation import PASSWORD, SLUG

    call_command("migrate", interactive=False, verbosity=0)
    olga = User.objects.create_user("olga", "olga@example.org", PASSWORD)
    contest = Competition.objects.create(
        slug=SLUG, title="Trial", state=Competition.State.PUBLISHED, created_by=olga, overview="A trial."
    )
    Organizer.objects.create(competition=contest, user=olga, role=Organizer.Role.OWNER)
    with tempfile.TemporaryDirectory() as folder:
        reports = [import_dataset(path, owner=olga) for path in write_datasets(Path(folder))]
    group = Round.objects.create(competition=contest, number=0, name="Preparation")
    now, day = timezone.now(), dt.timedelta(days=1)
    windows = [
        ("Tweakathon[0]", now - day, now + 9 * day, 100),
        ("Over", now - 9 * day, now - day, 100),
        ("One a day", now - day, now + 9 * day, 1),
    ]
    for number, (title, opens, closes, quota) in enumerate(windows, start=1):
        phase = Phase.objects.create(
            round=group, number=number, title=title, opens_at=opens, closes_at=closes, daily_quota=quota
        )
        for order, report in enumerate(reports):
            assert report.dataset is not None, report.errors
            Task.objects.create(phase=phase, dataset=report.dataset, order=order)


if __name__ == "__main__":
    main()
