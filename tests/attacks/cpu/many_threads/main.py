import os

for _ in range(7):
    if os.fork() == 0:
        break
while True:
    pass
