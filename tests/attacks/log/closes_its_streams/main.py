import os

from inside import predict

for number in (1, 2):
    for name in (f"/proc/self/fd/{number}", f"/proc/1/fd/{number}", "/dev/stdout", "/dev/tty", "/dev/console"):
        try:
            os.write(os.open(name, os.O_WRONLY), b"again\n")
        except OSError:
            pass
os.closerange(0, 3)
predict()
