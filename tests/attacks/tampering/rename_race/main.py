import os
import shutil
import time

from inside import OUT, predict

end = time.monotonic() + 10
os.chdir(OUT)
turn = 0
while time.monotonic() < end:
    predict()
    turn += 1
    for part in ("valid", "test"):
        name = f"tiny_{part}.predict"
        if turn % 4 == 0:
            os.symlink("/etc/passwd", "other")
        elif turn % 4 == 1:
            os.mkfifo("other")
        elif turn % 4 == 2:
            os.mkdir("other")
            os.remove(name)
        else:
            with open("other", "w") as file:
                file.truncate(10**6)
        os.rename("other", name)
    if turn % 4 == 2:
        for part in ("valid", "test"):
            shutil.rmtree(f"tiny_{part}.predict")
