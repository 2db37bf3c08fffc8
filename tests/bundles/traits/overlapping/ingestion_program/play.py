"""Lets the participant's player guess, and gives it the answers of the scoring program."""

import os
import sys
import time

submission, shared = sys.argv[1:]
sys.path.append(submission)
from player import Player  # noqa: E402

player, answer, number = Player(), "", 0
while answer != "right":
    path = os.path.join(shared, "guess-%d" % number)
    with open(path + ".new", "w") as file:
        file.write(str(player.guess(answer)))
    os.rename(path + ".new", path)
    while not os.path.exists(path + ".answer"):
        time.sleep(0.02)
    with open(path + ".answer") as file:
        answer = file.read()
    number += 1
