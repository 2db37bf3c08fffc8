"""What the organizers' table costs with 30,000 submissions, and the queue's page beside it.

    python benchmarks/studio.py [--submissions 30000] [--datasets 2] [--entrants 500] [--repeat 20]
                                [--home FOLDER] [--json]

Makes a competition in a data folder of its own, which `--home` keeps and uses again, and asks the site for pages
within this process: the time of a page is that of Django with its queries and templates, on SQLite, without a
network. Beside it, in the same run, the naive way: pages by OFFSET, as Django's paginator makes them, with the
same columns of the same rows. A time is by the wall clock, or that of the processor where it is less: the machine
had other work. Nothing here asserts on time; the table says which bars were met.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
# Run as a file, this folder would be searched first and this file taken for the package of its name.
sys.path[:] = [
    str(CHECKOUT),
    str(CHECKOUT / "platform"),
    *(entry for entry in sys.path if Path(entry or ".").resolve() != CHECKOUT / "benchmarks"),
]

PAGE_BAR, QUERY_BAR = 100.0, 10  # milliseconds, queries
TABLE = "/competitions/many/manage/submissions/"
QUEUE = "/competitions/many/manage/queue/"


def main() -> None:
    """Measure and print."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="podium-benchmark-") as folder:
        home = options.home or Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        _set_up(home)
        made = _made(options)
        results = {**_pages(made, options.repeat), **_rivals(made, options.repeat), **_works(made)}
    if options.json:
        print(json.dumps({"submissions": made.submissions, "runs": made.runs, "results": results}))
        return
    _print(results, made)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--submissions", type=int, default=30_000)
    parser.add_argument("--datasets", type=int, default=2)
    parser.add_argument("--entrants", type=int, default=500)
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--home", type=Path, help="data folder to keep and use again")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _set_up(home: Path) -> None:
    os.environ["PODIUM_HOME"] = str(home)
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    os.environ.pop("DATABASE_URL", None)
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def _made(options: argparse.Namespace) -> Any:
    from benchmarks import studio_data
    from competitions.models import Competition

    if Competition.objects.filter(slug=studio_data.SLUG).exists():
        return studio_data.found()
    print(f"making {options.submissions} submissions of {options.entrants} entrants", file=sys.stderr)
    return studio_data.make(submissions=options.submissions, datasets=options.datasets, entrants=options.entrants)


def _pages(made: Any, repeat: int) -> dict[str, dict[str, float]]:
    """Time, size and queries of the pages that organizers wait for."""
    from django.test import Client

    from competitions.models import Task
    from submissions.models import Submission

    owner, reviewer = (Client(SERVER_NAME="localhost") for _ in range(2))
    owner.force_login(made.owner)
    reviewer.force_login(made.reviewer)
    every = Submission.objects.filter(phase__round__competition=made.competition).order_by("-received_at", "-pk")
    deep = every.values_list("pk", flat=True)[made.submissions * 9 // 10]
    task = Task.objects.filter(phase__round__competition=made.competition).first()
    asked = {
        "page, first": "",
        "page, nine tenths down": f"?after={deep}",
        "page, nine tenths down, backwards": f"?before={deep}",
        "page, oldest first": "?order=oldest",
        "page, by entrant": "?order=entrant",
        "page, by entrant, deep": f"?order=entrant&after={deep}",
        "page, failed": "?state=failed",
        "page, failed on a dataset": f"?failed_on={task.pk if task else 0}",
        "page, for a reason": "?reason=out_of_memory",
        "page, one phase, code, finished": "?phase=2&kind=code&state=finished",
        "page, search for an entrant": "?q=baba",
        "page, search that finds nothing": "?q=nothing-of-that-name",
    }
    found = {
        name: _measured(lambda query=query: owner.get(TABLE + query), repeat) for name, query in asked.items()
    }  # type: ignore[misc]
    found["page, first, reviewer"] = _measured(lambda: reviewer.get(TABLE), repeat)
    found["queue"] = _measured(lambda: owner.get(QUEUE), max(3, repeat // 4))
    return found


def _rivals(made: Any, repeat: int) -> dict[str, dict[str, float]]:
    """The rows of a page by keys and by OFFSET, without the page around them."""
    from django.core.paginator import Paginator

    from pages import submission_table
    from submissions import selecting
    from submissions.models import Submission

    phases = list(made.competition.phases())
    every = Submission.objects.filter(phase__in=phases)
    last = Paginator(every, selecting.PER_PAGE).num_pages
    ids = list(every.order_by("-received_at", "-pk").values_list("pk", flat=True))
    loaded = submission_table.loaded

    def by_offset(number: int) -> list[Submission]:
        page = Paginator(loaded().filter(phase__in=phases).order_by("-received_at", "-id"), selecting.PER_PAGE)
        return list(page.get_page(number))

    def by_keys(number: int) -> list[Submission]:
        after = ids[(number - 1) * selecting.PER_PAGE - 1] if number > 1 else None
        page = selecting.page_of(every, selecting.Filter(), phases, after=after, load=loaded())
        return page.submissions

    found = {}
    for place, number in (("first", 1), ("middle", last // 2), ("last", last)):
        assert [one.pk for one in by_offset(number)] == [one.pk for one in by_keys(number)]
        found[f"rows, {place} page, by keys"] = _timed(partial(by_keys, number), repeat)
        found[f"rows, {place} page, by OFFSET"] = _timed(partial(by_offset, number), repeat)
    return found


def _works(made: Any) -> dict[str, dict[str, float]]:
    """Previewing the running again of everything, and one piece of doing it, which is undone."""
    from django.db import transaction

    from submissions import bulk
    from submissions.models import BulkWork, Submission

    every = Submission.objects.filter(phase__round__competition=made.competition)
    ids = every.order_by().values_list("pk", flat=True)
    with transaction.atomic():
        work = bulk.prepare(made.competition, by=made.owner, kind="rerun", chosen=ids, told="all")
        preview = _timed(lambda: bulk.outlook(work), 3)
        BulkWork.objects.filter(pk=work.pk).update(state=BulkWork.State.WORKING)
        piece = _timed(lambda: bulk.step(work.pk), 3)
        transaction.set_rollback(True)
    return {
        f"preview of running {work.total:,} again": preview,
        f"a piece of {bulk.CHUNK} of that": piece,
    }


def _measured(ask: Callable[[], Any], repeat: int) -> dict[str, float]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as captured:
        body = ask().content
    queries = len(captured)  # before other requests empty the log
    return {**_timed(ask, repeat), "kilobytes": len(body) / 1000, "queries": queries}


def _timed(ask: Callable[[], Any], repeat: int) -> dict[str, float]:
    taken = []
    for _ in range(repeat):
        wall, processor = time.perf_counter(), time.process_time()
        ask()
        taken.append(1000 * min(time.perf_counter() - wall, time.process_time() - processor))
    taken.sort()
    return {"median_ms": statistics.median(taken), "p95_ms": taken[min(len(taken) - 1, int(0.95 * len(taken)))]}


def _print(results: dict[str, dict[str, float]], made: Any) -> None:
    print(f"{made.submissions:,} submissions, {made.runs:,} runs, SQLite")
    print(f"{'':36}{'median':>11}{'p95':>11}{'size':>9}{'queries':>9}  bar")
    for name, found in results.items():
        size = f"{found['kilobytes']:.0f} KB" if "kilobytes" in found else ""
        queries = f"{found['queries']:.0f}" if "queries" in found else ""
        times = f"{found['median_ms']:>8.1f} ms{found['p95_ms']:>8.1f} ms"
        print(f"{name:36}{times}{size:>9}{queries:>9}  {_bar(name, found)}")


def _bar(name: str, found: dict[str, float]) -> str:
    if not name.startswith("page"):
        return ""
    met = found["median_ms"] <= PAGE_BAR and found["queries"] <= QUERY_BAR
    return f"{PAGE_BAR:.0f} ms and {QUERY_BAR} queries: {'met' if met else 'missed'}"


if __name__ == "__main__":
    main()
