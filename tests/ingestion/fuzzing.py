"""Strangers' bytes: how they are made from right ones, and the bounds under which they are read.

`PODIUM_FUZZ=5000 pytest tests/ingestion -k fuzz` tries that many of each kind, other ones each time; without it
there are few, always the same.
"""

import contextlib
import os
import resource
import signal
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

ASKED = os.environ.get("PODIUM_FUZZ", "")
SECONDS = 60  # far above what any example takes: only a hang reaches it
MEMORY = 768 * 1024**2  # above what the process has; the largest right answer takes a thousandth of it

fuzz = settings(
    max_examples=int(ASKED) if ASKED else 50,
    deadline=None,
    derandomize=not ASKED,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)

# Words at which readers have gone wrong before: limits of types, other notations, other encodings, other layouts.
WORDS = [
    b"0",
    b"-1",
    b"1",
    b"2147483648",
    b"4294967296",
    b"9223372036854775808",
    b"999999999999",
    b"1000000000000000",
    b"1e308",
    b"1e400",
    b"-1e-400",
    b"nan",
    b"NaN",
    b"-inf",
    b"Infinity",
    b"1_000",
    b"0x10",
    b"1,5",
    b"1.2.3",
    b"--1",
    b"1e",
    b"e5",
    b".",
    b"+",
    b"'",
    b'"',
    b"=",
    b"#",
    b":",
    b"1:",
    b":1",
    b"1:1",
    b"0:1",
    b"999999999999:1",
    b"3:nan",
    b"1:2:3",
    b" ",
    b"\t",
    b"\n",
    b"\n\n",
    b"\r",
    b"\r\n",
    b"\x0b",
    b"\x0c",
    b"\x00",
    b"\x1a",
    b"\x1c",
    b"\x85",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xc3\x28",
    b"\xe2\x80\xa8",
    b"\xd9\xa1",
    b"9" * 400,
    b"0" * 70_000 + b"1",
    b"1 " * 5_000,
    b"\n" * 5_000,
    b"x" * 70_000,
]


@st.composite
def changed(draw, content):
    """The content with a few of its bytes flipped, cut out, doubled, or replaced by a troublesome word."""
    content = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(content)))
        end = min(len(content), begin + draw(st.integers(0, 40)))
        match draw(st.sampled_from(["flip", "word", "replace", "cut", "truncate", "double", "bytes"])):
            case "flip" if begin < len(content):
                content[begin] ^= 1 << draw(st.integers(0, 7))
            case "word":
                content[begin:begin] = draw(st.sampled_from(WORDS))
            case "replace":
                content[begin:end] = draw(st.sampled_from(WORDS))
            case "cut":
                del content[begin:end]
            case "truncate":
                del content[begin:]
            case "double":
                content[begin:begin] = content[begin:end] * draw(st.integers(1, 50))
            case "bytes":
                content[begin:end] = draw(st.binary(max_size=40))
    return bytes(content)


@contextlib.contextmanager
def bounded():
    """A block that may neither hang nor ask for memory out of all proportion: either raises in it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = signal.signal(signal.SIGALRM, _hangs)
    signal.alarm(SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Hang(BaseException):
    """Nothing that reads catches this."""


def _hangs(number, frame):
    raise Hang(f"not done after {SECONDS} s")
