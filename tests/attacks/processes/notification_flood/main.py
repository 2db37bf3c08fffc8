import ctypes
import os

from inside import LIBC, call, held, must_be_denied, predict

must_be_denied("io_setup", 1000, ctypes.byref(ctypes.c_ulong(0)))
watching = LIBC.inotify_init1(0)
watches = sum(LIBC.inotify_add_watch(watching, f"/proc/{n}".encode(), 0xFFF) >= 0 for n in range(1, 2000))
instances = 0
while LIBC.inotify_init1(0) >= 0 and instances < 100_000:
    instances += 1
held(f"{instances} instances, {watches} watches")
descriptors = []
try:
    while len(descriptors) < 1_000_000:
        descriptors.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error:
    held(f"{len(descriptors)} descriptors: {error}")
for descriptor in descriptors:
    os.close(descriptor)
call("clone3", 0, 0)
predict()
