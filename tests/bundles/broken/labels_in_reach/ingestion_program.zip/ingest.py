"""Shows the participant's answer and the labels to each other, as games against the labels do."""

import os
import shutil
import sys

hidden, submission, target = sys.argv[1:]
with open(os.path.join(hidden, "answer.txt")) as file:
    print(len(file.read().split()), "labels")
shutil.copy(os.path.join(submission, "answer.txt"), os.path.join(target, "answer.txt"))
