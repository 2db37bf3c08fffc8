"""What the pages of the analyses cost for a long series: the first time, and every time after it.

    python benchmarks/analysis.py [--entrants 600] [--datasets 30] [--repeat 3] [--section KEY]
                                  [--home FOLDER] [--json]

Makes a series of six rounds in a data folder of its own, which `--home` keeps and uses again. For each section, of
all phases of a kind together where it can be about them: the time to load its inputs, which each look at the page
needs to know whether a result still holds; to compute the result, which the site's worker does once; and of the
whole page from then on, as Django makes it on SQLite within this process, without a network. The rival, in the
same run, is the page without the cache: loading and computing at every look. A time is by the wall clock, or that
of the processor where it is less: the machine had other work. Nothing here asserts on time; the table says which
bars were met.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
# Run as a file, this folder would be searched first and this file taken for the package of its name.
sys.path[:] = [
    str(CHECKOUT),
    str(CHECKOUT / "platform"),
    *(entry for entry in sys.path if Path(entry or ".").resolve() != CHECKOUT / "benchmarks"),
]

LATER_BAR, FIRST_BAR = 2.0, 30.0  # seconds of one page; of all sections about one kind of phases the first time


@dataclass
class Cost:
    """Seconds of one section: loading, computing, the page from then on; its queries and size in bytes."""

    section: str
    load: float
    build: float
    page: float
    queries: int
    page_bytes: int
    kept_bytes: int


def main() -> None:
    """Measure and print."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="podium-benchmark-") as folder:
        home = options.home or Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        _set_up(home)
        contest = _made(options)
        costs = _costs(contest, options)
    if options.json:
        print(json.dumps({"entrants": options.entrants, "results": [asdict(cost) for cost in costs]}))
        return
    _print(costs)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--entrants", type=int, default=600)
    parser.add_argument("--datasets", type=int, default=30)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--section", help="only this one")
    parser.add_argument("--home", type=Path, help="data folder to keep and use again")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _set_up(home: Path) -> None:
    os.environ["PODIUM_HOME"] = str(home)
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    os.environ["ALLOWED_HOSTS"] = "testserver"
    os.environ.pop("DATABASE_URL", None)
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def _made(options: argparse.Namespace) -> Any:
    from benchmarks import analysis_data
    from competitions.models import Competition

    found = Competition.objects.filter(slug=analysis_data.SLUG).first()
    return found or analysis_data.make(entrants=options.entrants, datasets=options.datasets)


def _costs(contest: Any, options: argparse.Namespace) -> list[Cost]:
    from analysis.models import Computed
    from analysis.sections import SECTIONS

    Computed.objects.filter(competition=contest).delete()
    wanted = [section for section in SECTIONS if options.section in (None, section.key)]
    return [
        _cost(contest, section, audience, query, options.repeat)
        for section in wanted
        for audience, query in _asked(contest, section)
    ]


def _asked(contest: Any, section: Any) -> list[tuple[Any, dict[str, str]]]:
    """What a section is asked about: all phases of each kind together by their test scores, or everything."""
    from analysis.inputs.audience import Audience, scopes
    from competitions import clock

    if not section.of_phase:
        return [(Audience(), {})]
    found = scopes(contest, Audience(), clock.now(contest))
    return [
        (one.audience, {"phase": one.phase, "part": one.part})
        for one in found
        if one.is_combined and one.part == "test"
    ]


def _cost(contest: Any, section: Any, audience: Any, query: dict[str, str], repeat: int) -> Cost:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from analysis import work
    from analysis.models import Computed
    from competitions import clock

    now = clock.now(contest)
    load, loaded = _seconds(lambda: section.load(contest, audience, now), 1)
    build, _ = _seconds(lambda: section.build(loaded, lambda share, what: None), 1)
    work.compute_now(contest, section, audience)
    client, address = Client(), f"{contest.get_absolute_url()}analysis/{section.key}/"
    client.get(address, query)
    page, answer = _seconds(lambda: client.get(address, query), repeat)
    with CaptureQueriesContext(connection) as queries:
        client.get(address, query)
    row = Computed.objects.filter(competition=contest, section=section.key).order_by("-pk").first()
    kept = len(row.content or b"") if row else 0
    name = f"{section.key} {query.get('phase', '').removeprefix('all-')}".strip()
    cost = Cost(name, load, build, page, len(queries), len(answer.content), kept)
    print(f"{name}: load {load:.2f} s, compute {build:.2f} s, page {page:.2f} s", file=sys.stderr)
    return cost


def _seconds(call: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """The best time of some calls, by the wall clock or the processor's, and what the last one gave."""
    best = float("inf")
    for _ in range(repeat):
        wall, processor = time.perf_counter(), time.process_time()
        result = call()
        best = min(best, time.perf_counter() - wall, time.process_time() - processor)
    return best, result


def _print(costs: list[Cost]) -> None:
    heads = (("load", 8), ("compute", 9), ("page", 8), ("without cache", 15), ("queries", 9), ("page kB", 9))
    print(f"{'section':<24}" + "".join(f"{head:>{width}}" for head, width in heads) + f"{'kept kB':>9}")
    for one in costs:
        rival = one.load + one.build + one.page
        print(
            f"{one.section:<24}{one.load:>7.2f}s{one.build:>8.2f}s{one.page:>7.2f}s{rival:>14.2f}s"
            f"{one.queries:>9}{one.page_bytes / 1000:>9.0f}{one.kept_bytes / 1000:>9.0f}"
        )
    kinds = sorted({kind for one in costs if (kind := one.section.partition(" ")[2])})
    for kind in kinds or [""]:
        # What somebody sees who asks about one kind of phases: sections about that kind, and those about none.
        seen = [one for one in costs if one.section.partition(" ")[2] in ("", kind)]
        first = sum(one.load + one.build for one in seen)
        met = "met" if first < FIRST_BAR else "MISSED"
        print(f"all sections the first time, {kind or 'all'} phases: {first:.1f} s ({met}: {FIRST_BAR} s)")
    slowest = max(one.page for one in costs)
    print(
        f"all sections the first time: {first:.1f} s ({'met' if first < FIRST_BAR else 'MISSED'}: {FIRST_BAR} s)"
    )
    print(
        f"slowest page from then on: {slowest:.2f} s ({'met' if slowest < LATER_BAR else 'MISSED'}: {LATER_BAR} s)"
    )


if __name__ == "__main__":
    main()
