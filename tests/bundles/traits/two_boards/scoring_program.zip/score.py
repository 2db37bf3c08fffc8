"""Reads the submission's numbers and writes the columns, with the share of what is right."""

import os
import sys

source, target = sys.argv[1:]
with open(os.path.join(source, "ref", "most.txt")) as file:
    most = float(file.read())
with open(os.path.join(source, "res", "numbers.txt")) as file:
    north, south, error, seconds = [float(word) for word in file.read().split()]
with open(os.path.join(target, "scores.txt"), "w") as file:
    file.write("north_acc:%r\nsouth_acc: %r\nsouth_error:%r\n" % (north / most, south / most, error))
    file.write("seconds: %r\nsize: 17\n" % seconds)
