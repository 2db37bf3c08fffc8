"""Says what a program finds where it runs: 1 where it is as promised, else 0."""

import os
import socket

os.chdir("/app/input/res")
import colorsys  # the submission brings a file of this name  # noqa: E402


def can_write(path):
    try:
        with open(path, "a") as file:
            file.write("")
    except OSError:
        return False
    return True


def reaches(host, port):
    try:
        socket.create_connection((host, port), timeout=2).close()
    except OSError:
        return False
    return True


found = {
    "own_copy": can_write("/app/program/note.txt") and can_write("/app/program/look.py"),
    "nobody": os.getuid() != 0 and os.getgid() != 0,
    "home": os.environ["HOME"] == "/tmp" and can_write("/tmp/note.txt"),
    "alone": not reaches("192.0.2.1", 80),
    "only_read": not can_write("/app/input/res/colorsys.py") and not can_write("/app/input/ref/labels.txt"),
    "own_modules": hasattr(colorsys, "rgb_to_hsv"),
    "labels": open("/app/input/ref/labels.txt").read() == "hush\n",
}
with open("/app/output/scores.txt", "w") as scores:
    for key, value in found.items():
        scores.write("%s:%d\n" % (key, value))
