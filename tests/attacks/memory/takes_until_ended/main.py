import os

blocks = []
while True:
    blocks.append(os.urandom(1024) * 4096)
