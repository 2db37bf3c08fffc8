import os
import sys

os.write(
    1,
    b"\x1b[31mred\x1b[0m \x1b[2J\x1b[H\x1b]0;owned\x07 \x1b]8;;https://evil.example/\x1b\\link text\x1b]8;;\x1b\\"
    b"\x1b]52;c;cm0gLXJm\x07 \x1b[6n \x1bc \x9b31m over\rwritten \b\b\b \x1b(0 \x1b#8 \x1b]1337;File=:AAAA\x07\x1b[\n",
)
sys.exit(1)
