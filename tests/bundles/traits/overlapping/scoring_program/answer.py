"""Answers guesses with "more" or "less" until one is right; the scores are rewritten after every guess."""

import json
import os
import sys
import time

hidden, shared, target = sys.argv[1:]
with open(os.path.join(hidden, "number.txt")) as file:
    number = int(file.read())
found, guesses = False, 0
while not found:
    path = os.path.join(shared, "guess-%d" % guesses)
    while not os.path.exists(path):
        time.sleep(0.02)
    with open(path) as file:
        guess = int(file.read())
    found, guesses = guess == number, guesses + 1
    with open(os.path.join(target, "scores.json"), "w") as file:
        json.dump({"guesses": guesses, "found": int(found)}, file)
    answer = "right" if found else "more" if guess < number else "less"
    with open(path + ".new", "w") as file:
        file.write(answer)
    os.rename(path + ".new", path + ".answer")
