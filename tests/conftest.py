"""Rules for the whole suite: where every part must be present, a skipped test is a failed one."""

import os

import pytest
from django.conf import settings

from tests.chromium import browser  # noqa: F401  (fixtures of the whole suite)
from tests.services.fixtures import postgresql, rabbitmq, redis  # noqa: F401

REQUIRE_ALL = os.environ.get("PODIUM_REQUIRE_ALL") == "1"


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
