"""Text that strangers wrote, made safe to show."""

import re
import unicodedata

from competitions.markdown import render_markdown

__all__ = ["plain_log", "render_markdown"]

# CSI and OSC sequences, then any other escape with its one following character.
ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?|\x9b[0-?]*[ -/]*[@-~]")


def plain_log(text: str) -> str:
    """A program's output as plain lines: no terminal colours, no cursor tricks, no control characters.

    Of a line that was rewritten by carriage returns, as progress bars do, the last state is kept.
    """
    lines = (line.rstrip("\r").rsplit("\r", 1)[-1] for line in ANSI.sub("", text).split("\n"))
    return "\n".join("".join(letter for letter in line if _is_shown(letter)) for line in lines)


def _is_shown(letter: str) -> bool:
    """Whether a character may reach a page: control and format characters (also bidi overrides) may not."""
    return letter == "\t" or unicodedata.category(letter) not in ("Cc", "Cf", "Cs")
