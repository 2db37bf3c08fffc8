"""Gives every dataset to the participant's model and writes what it predicts."""

import os
import sys

source, target, submission = sys.argv[1:]
sys.path.append(submission)
from model import predict  # noqa: E402

for name in sorted(os.listdir(source)):
    with open(os.path.join(source, name)) as file:
        values = [float(line) for line in file]
    with open(os.path.join(target, name.replace(".data", ".predict")), "w") as file:
        file.write("%r\n" % predict(values))
    print("Predicted", name)
