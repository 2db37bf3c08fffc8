import os
import re

from inside import must_be, predict

KNOWN = {"PATH", "HOME", "LANG", "PODIUM_TIME_BUDGET", "PODIUM_SEED", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
         "MKL_NUM_THREADS", "HOSTNAME", "PWD", "LC_CTYPE"}  # fmt: skip
SECRET = re.compile(r"token|secret|password|key|aws|amqp|redis|postgres|https?://|podium-run|/root|/home|\.sock", re.I)
must_be(f"environment {set(os.environ) - KNOWN}", set(os.environ) <= KNOWN)
must_be("its values", not SECRET.search(" ".join(os.environ.values())))


def read(path):
    try:
        return open(path, errors="replace").read()
    except OSError:
        return ""


pids = [one for one in os.listdir("/proc") if one.isdigit()]
must_be(f"few processes: {pids}", len(pids) <= 4)
for name in ("environ", "cmdline", "comm"):
    text = " ".join(read(f"/proc/{pid}/{name}") for pid in pids)
    must_be(f"{name}: {text!r}", not SECRET.search(text))
opened = {}
for number in os.listdir("/proc/self/fd"):
    try:
        opened[number] = os.readlink(f"/proc/self/fd/{number}")
    except OSError:
        pass
must_be(f"descriptors {opened}", set(opened) <= {"0", "1", "2", "3"})
predict()
