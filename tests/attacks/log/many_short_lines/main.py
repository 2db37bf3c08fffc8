import os

from inside import predict

os.write(1, b"the beginning\n")
for number in range(60_000):
    os.write(1 + number % 2, b"%d\n" % number)
predict()
os.write(1, b"the end\n")
