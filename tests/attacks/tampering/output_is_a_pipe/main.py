import os
import time

from inside import OUT, predict

predict()
os.remove(f"{OUT}/tiny_test.predict")
os.mkfifo(f"{OUT}/tiny_test.predict")
time.sleep(1)
