"""The property test of the whole protocol.

PODIUM_PROTOCOL_EXAMPLES asks for a longer search, with examples drawn anew each time.
"""

import os

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.platform.protocol.machine import Protocol

ASKED = int(os.environ.get("PODIUM_PROTOCOL_EXAMPLES", "0"))
STEPS = int(os.environ.get("PODIUM_PROTOCOL_STEPS", "30"))


@pytest.mark.django_db(transaction=True)
def test_whatever_people_workers_and_the_clock_do_the_protocol_holds():
    run_state_machine_as_test(
        Protocol,
        settings=settings(
            max_examples=ASKED or 6,
            stateful_step_count=STEPS,
            derandomize=not ASKED,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
