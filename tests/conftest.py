"""Rules for the whole suite: where every part must be present, a skipped test is a failed one."""

import os
from pathlib import Path

import pytest
from django.conf import settings

from tests.chromium import browser  # noqa: F401  (fixtures of the whole suite)
from tests.services.fixtures import postgresql, rabbitmq, redis  # noqa: F401

TESTS = Path(__file__).parent
# Tests that start sandboxes or whole installations wait more than they compute. They go first, in both processes
# of the whole suite, then the files with the longest tests, in the order named here; what is short fills the end.
WAITING = ("attacks", "browser", "end_to_end", "ingestion", "starting_kit")
LONGEST = ("test_on_postgresql", "test_leaks", "test_access", "test_protocol")

REQUIRE_ALL = os.environ.get("PODIUM_REQUIRE_ALL") == "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests in the order in which several processes of pytest-xdist, one by one, are best kept busy."""

    def place(item: pytest.Item) -> int:
        if item.path.relative_to(TESTS).parts[0] in WAITING:
            return 0
        return 1 + (LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))

    items.sort(key=place)


def pytest_report_header() -> str:
    """Say on which database the suite runs."""
    return f"database: {settings.DATABASES['default']['ENGINE'].rpartition('.')[2]}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    """Turn a skip into a failure when PODIUM_REQUIRE_ALL=1, so that CI cannot pass by testing nothing."""
    outcome = yield
    report = outcome.get_result()
    if REQUIRE_ALL and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"PODIUM_REQUIRE_ALL=1 and this test was skipped: {reason}"
