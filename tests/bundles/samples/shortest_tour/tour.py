"""Every order of the cities is tried."""

import itertools
import math
import os
import sys

source, target = sys.argv[1:]
place = os.path.join(source, "cities.txt")
if not os.path.exists(place):
    place = "/app/input_data/cities.txt"
with open(place) as file:
    cities = [tuple(map(float, line.split())) for line in file]


def length(tour):
    return sum(math.dist(cities[a], cities[b]) for a, b in zip(tour, tour[1:] + tour[:1]))


best = min(itertools.permutations(range(len(cities))), key=length)
with open(os.path.join(target, "tour.txt"), "w") as file:
    file.write(" ".join(map(str, best)))
