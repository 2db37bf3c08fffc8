import fcntl
import os

from inside import held, predict

predict(0)
ends = []
try:
    while True:
        reading, writing = os.pipe2(os.O_NONBLOCK)
        ends += [reading, writing]
        try:
            fcntl.fcntl(writing, 1031, 1024 * 1024)  # F_SETPIPE_SZ
        except OSError:
            pass
        try:
            while os.write(writing, b"x" * 65536):
                pass
        except BlockingIOError:
            pass
except OSError as error:
    held(f"{len(ends)} ends: {error}")
