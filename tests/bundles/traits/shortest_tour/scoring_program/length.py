"""The length of the tour in res/tour.txt through the cities in ref/cities.txt."""

import math
import os
import sys

source, target = sys.argv[1:]
with open(os.path.join(source, "ref", "cities.txt")) as file:
    cities = [tuple(map(float, line.split())) for line in file]
with open(os.path.join(source, "res", "tour.txt")) as file:
    tour = [int(word) for word in file.read().split()]
if sorted(tour) != list(range(len(cities))):
    sys.exit("A tour visits every city once.")
length = sum(math.dist(cities[a], cities[b]) for a, b in zip(tour, tour[1:] + tour[:1]))
with open(os.path.join(target, "scores.txt"), "w") as file:
    file.write("length:%s\nstops: %d\n" % (length, len(tour)))
