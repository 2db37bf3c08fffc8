import os

from inside import predict

predict()
for _ in range(1000):
    try:
        if os.fork() == 0:
            os.fork()
            os._exit(0)
    except OSError:
        break
