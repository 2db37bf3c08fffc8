"""Tests of the starting kit."""
