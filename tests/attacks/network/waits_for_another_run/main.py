import os
import socket

from inside import must_fail, predict

must_fail("the port of an earlier run", socket.create_connection, ("127.0.0.1", 45678), 1)
must_fail("its abstract name", socket.socket(socket.AF_UNIX).connect, "\0podium-rendezvous")
tcp = socket.create_server(("0.0.0.0", 45678))
unix = socket.socket(socket.AF_UNIX)
unix.bind("\0podium-rendezvous")
unix.listen()
predict()
if os.fork() == 0:
    os.setsid()
    tcp.accept()
