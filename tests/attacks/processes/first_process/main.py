import os
import resource

from inside import must_be_denied, must_fail, predict

must_fail("memory", open, "/proc/1/mem", "r+b", buffering=0)
must_fail("environment", lambda: open("/proc/1/environ", "rb").read())
must_fail("descriptors", os.listdir, "/proc/1/fd")
must_fail("maps", lambda: open("/proc/1/maps").read())
must_be_denied("ptrace", 16, 1, 0, 0)
try:
    # The same user may set these; a first process that is ended by one takes its sandbox with it.
    resource.prlimit(1, resource.RLIMIT_CPU, (1, 1))
except OSError:
    pass
predict()
