import os
import signal

from inside import held, predict

predict()
others = 0
for pid in [one for one in range(2, 40_000) if one != os.getpid()]:
    try:
        os.kill(pid, 0)
        others += 1
        print("there is", pid, open(f"/proc/{pid}/cmdline").read())
    except OSError:
        pass
assert others <= 1, others  # what started this program, inside the sandbox
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL, signal.SIGUSR1):
    try:
        os.kill(1, number)
    except OSError:
        pass
held("alive after signals to the first process")
