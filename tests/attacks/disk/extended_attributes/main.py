import os

from inside import OUT, held, predict

predict(0)
try:
    for number in range(100_000):
        name = f"{OUT}/{number % 50}"
        open(name, "w").close()
        os.setxattr(name, f"user.{number}", b"x" * 60_000)
except OSError as error:
    held(str(error))
