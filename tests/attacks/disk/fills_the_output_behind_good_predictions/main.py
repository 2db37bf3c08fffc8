import signal

from inside import OUT, held, predict

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
predict()
try:
    with open(f"{OUT}/big", "wb", buffering=0) as file:
        while True:
            file.write(b"x" * 65536)
except OSError as error:
    held(str(error))
