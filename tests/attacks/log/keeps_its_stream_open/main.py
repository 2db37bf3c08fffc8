import os
import time

from inside import predict

predict()
if os.fork() == 0:
    os.setsid()
    while True:
        os.write(1, b"still here\n")
        time.sleep(0.001)
