import os
import random
import sys

os.write(1, b"before\n\0\0\xff\xfe\xc3\x28\xed\xa0\x80\xf8\x88\x80\x80\x80\n")
os.write(1, bytes(random.Random(0).randrange(256) for _ in range(20_000)))
os.write(2, b"\nafter\n")
sys.exit(1)
