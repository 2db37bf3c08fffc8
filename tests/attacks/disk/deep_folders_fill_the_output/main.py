import os
import sys

from inside import OUT

os.chdir(OUT)
try:
    while True:
        os.mkdir("d")
        os.chdir("d")
except OSError:
    sys.exit(1)
