"""Signed links open a file for minutes, so they must not stand in a log."""

import logging
import socket
import struct
from types import SimpleNamespace

from config.gunicorn import SILENCE_SECONDS, when_ready
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


def test_a_link_whose_colons_were_escaped_is_left_out_as_a_whole():
    assert logged("PUT /worker/files/.eJw%3A1xX%3Asig?a=1 500") == "PUT /worker/files/…?a=1 500"


def test_both_logs_of_the_server_are_filtered_and_its_connections_have_limits():
    listener = socket.create_server(("127.0.0.1", 0))
    logs = SimpleNamespace(access_log=logging.Logger("access"), error_log=logging.Logger("error"))
    when_ready(SimpleNamespace(log=logs, LISTENERS=[SimpleNamespace(sock=listener)]))
    assert [type(log.filters[0]) for log in (logs.access_log, logs.error_log)] == [WithoutLinks, WithoutLinks]
    with listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            limit = connection.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, 16)
            assert struct.unpack("ll", limit)[0] == SILENCE_SECONDS
