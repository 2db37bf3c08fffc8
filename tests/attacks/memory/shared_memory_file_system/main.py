import os

from inside import breach, held, predict

predict(0)
written = 0
try:
    with open("/dev/shm/hoard", "wb", buffering=0) as file:
        while written < 2**30:
            written += file.write(os.urandom(1024) * 1024)
    breach(f"{written} bytes")
except OSError as error:
    held(f"after {written} bytes: {error}")
