"""Fixtures of all tests of the platform."""

from tests.platform.clock import clock  # noqa: F401
