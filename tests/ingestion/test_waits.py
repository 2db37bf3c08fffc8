"""Waiting for what is away: pauses grow, and logs thin out."""

import itertools

from ingestion.waits import Thinned, growing


def test_pauses_grow_up_to_a_minute():
    assert list(itertools.islice(growing(), 8)) == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_trouble_that_lasts_is_said_ever_more_rarely_and_once_when_it_is_over():
    now, said = [0.0], []
    silence = Thinned(said.append, clock=lambda: now[0])
    for second in range(600):
        now[0] = float(second)
        silence.trouble("nobody answers")
    assert [text.removeprefix("nobody answers") for text in said] == [
        "",
        " (for 10 s now)",
        " (for 30 s now)",
        " (for 70 s now)",
        " (for 150 s now)",
        " (for 310 s now)",
    ]
    silence.over("it answers again")
    silence.over("it answers again")
    assert said[-1] == "it answers again after 599 s"
    silence.trouble("nobody answers")
    assert said[-1] == "nobody answers", "the next trouble is said at once"
