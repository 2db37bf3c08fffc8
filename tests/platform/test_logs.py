"""Signed links open a file for minutes, so they must not stand in a log."""

import logging

from config.logs import WithoutLinks


def logged(message, *args):
    record = logging.LogRecord("gunicorn.access", logging.INFO, "", 0, message, args, None)
    assert WithoutLinks().filter(record)
    return record.getMessage()


def test_the_signed_part_of_a_link_is_left_out_of_a_log_line():
    text = logged('"GET /worker/files/%s HTTP/1.1" %s', ".eJxVjEsOwjAMBe:1vX:abc_-~", 200)
    assert text == '"GET /worker/files/… HTTP/1.1" 200'


def test_other_lines_stay_as_they_are():
    assert logged("GET %s", "/competitions/") == "GET /competitions/"
