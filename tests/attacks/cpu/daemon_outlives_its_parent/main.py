import os
import time

from inside import OUT, predict

predict()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        # Waits for the collector, and would then put other predictions into place.
        while True:
            time.sleep(0.01)
            with open(f"{OUT}/.later", "w") as file:
                file.write("0.9\n" * 4)
            os.replace(f"{OUT}/.later", f"{OUT}/tiny_test_999.predict")
    os._exit(0)
