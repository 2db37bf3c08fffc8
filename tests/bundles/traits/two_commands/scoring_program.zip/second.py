"""The share of lines of res/answer.txt that are those of ref/answer.txt."""

import json
import os
import sys

source, target = sys.argv[1:3]


def lines(part):
    with open(os.path.join(source, part, "answer.txt")) as file:
        return file.read().split()


right, found = lines("ref"), lines("res")
score = sum(one == other for one, other in zip(right, found)) / len(right)
with open(os.path.join(target, "scores.json"), "w") as file:
    json.dump({"accuracy": score, "lines": len(found)}, file)
