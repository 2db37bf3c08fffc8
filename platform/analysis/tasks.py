"""The site's Celery tasks of the analyses: they take ids, look at the database again, and call."""

from celery import shared_task
from django.utils import timezone

from analysis import meta, other_scores, work
from analysis.benchmarks import work as reading
from analysis.drawing import bundle


@shared_task(name="analysis.compute")  # type: ignore[untyped-decorator]
def compute(computed_id: int) -> None:
    """Compute one section that waits, and make ready what draws its figures."""
    work.process(computed_id)
    bundle.prepared()


@shared_task(name="analysis.reconcile")  # type: ignore[untyped-decorator]
def reconcile() -> None:
    """Look after computations whose deadline has passed."""
    work.reconcile()
    reading.reconcile()


@shared_task(name="analysis.read_benchmark")  # type: ignore[untyped-decorator]
def read_benchmark(benchmark_id: int) -> None:
    """Read one benchmark that waits."""
    reading.process(benchmark_id)


@shared_task(name="analysis.sweep")  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Remove what nobody looks at any more."""
    work.sweep()


@shared_task(name="analysis.score_by_common_metric")  # type: ignore[untyped-decorator]
def score_by_common_metric() -> None:
    """Score what stands on the boards of phases that are over under the common metrics, some at a time."""
    other_scores.score_due(timezone.now())


@shared_task(name="analysis.meta_features")  # type: ignore[untyped-decorator]
def meta_features() -> None:
    """Measure datasets of which no meta-features are known, some at a time."""
    meta.compute_due(timezone.now())
