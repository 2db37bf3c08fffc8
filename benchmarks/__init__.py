"""Measurements beside other people's programs; run by hand, never a part of the tests."""
