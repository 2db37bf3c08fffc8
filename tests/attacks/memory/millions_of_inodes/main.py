import os

from inside import OUT, held, predict

predict(0)
for folder in (OUT, "/tmp", "/dev/shm"):
    count = 0
    try:
        for count in range(3_000_000):
            os.close(os.open(f"{folder}/{count}", os.O_CREAT))
    except OSError as error:
        held(f"{folder} after {count} files: {error}")
