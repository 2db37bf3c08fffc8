import os
import sys

for _ in range(20):
    os.write(1, b"x" * 1_000_000)
os.write(1, b" the end")
sys.exit(1)
