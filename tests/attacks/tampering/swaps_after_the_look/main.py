import os
import time

from inside import OUT, predict

predict(0)
time.sleep(1)
for part, rows in (("valid", 3), ("test", 4)):
    path = f"{OUT}/tiny_{part}_000.predict"
    before = os.stat(path)
    with open(path, "r+") as file:
        file.write("0.9\n" * rows)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
