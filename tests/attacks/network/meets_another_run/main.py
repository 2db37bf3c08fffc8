import ctypes
import os
import socket
import time

from inside import LIBC, must_be, predict

tcp = socket.create_server(("0.0.0.0", 45679))
unix = socket.socket(socket.AF_UNIX)
unix.bind("\0podium-meeting")
must_be("its port and its name are free", True)
for folder in ("/tmp", "/dev/shm", "/app/output"):
    os.close(os.open(f"{folder}/meeting", os.O_CREAT | os.O_EXCL))
    must_be(f"{folder} is its own", True)
segment = LIBC.shmget(4711, ctypes.c_size_t(4096), 0o3600)
must_be("a System V key is free, or there are none", segment >= 0 or ctypes.get_errno() == 38)
time.sleep(1)
must_be("it sees itself alone", len([one for one in os.listdir("/proc") if one.isdigit()]) <= 2)
predict()
