import os

from inside import IN

while True:
    for folder in (IN, "/proc", "/usr/bin"):
        os.listdir(folder)
    os.urandom(1_000_000)
