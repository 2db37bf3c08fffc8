import os

block = b"x" * 99 + b"\n"
while True:
    os.write(1, block * 640)
