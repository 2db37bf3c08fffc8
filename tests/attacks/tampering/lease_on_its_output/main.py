import fcntl
import signal
import time

from inside import OUT, predict

signal.signal(signal.SIGIO, signal.SIG_IGN)
predict(0)
held = []
for part in ("valid", "test"):
    held.append(open(f"{OUT}/tiny_{part}_000.predict", "r+"))
    try:
        fcntl.fcntl(held[-1], fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError as error:
        print(error)
time.sleep(20)
