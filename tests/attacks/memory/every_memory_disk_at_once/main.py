import os
import sys

from inside import OUT

for path in ("/tmp/a", "/dev/shm/b", f"{OUT}/c"):
    try:
        with open(path, "wb", buffering=0) as file:
            while True:
                file.write(os.urandom(1024) * 1024)
    except OSError:
        pass
sys.exit(1)
