import os

from inside import OUT, predict

predict()
os.chdir(OUT)
for _ in range(5000):
    os.mkdir("d")
    os.chdir("d")
