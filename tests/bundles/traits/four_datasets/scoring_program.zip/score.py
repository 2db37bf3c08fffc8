"""1 less the distance to the right number, for every dataset; and how long the ingestion program took."""

import os
import sys

import yaml

source, target = sys.argv[1:]
with open(os.path.join(source, "res", "metadata")) as file:
    duration = yaml.safe_load(file)["ingestionElapsedTime"]
with open(os.path.join(target, "scores.txt"), "w") as scores:
    for number, name in enumerate(sorted(os.listdir(os.path.join(source, "ref")))):
        with open(os.path.join(source, "ref", name)) as file:
            right = float(file.read())
        with open(os.path.join(source, "res", name.replace(".solution", ".predict"))) as file:
            found = float(file.read())
        scores.write("set%d_score: %r\n" % (number + 1, 1 - abs(right - found)))
    scores.write("duration: %r\n" % duration)
