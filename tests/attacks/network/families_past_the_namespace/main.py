import socket

from inside import breach, held, predict

for family in range(64):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            socket.socket(family, kind).close()
        except OSError as error:
            if kind == socket.SOCK_RAW:
                held(f"family {family}: {error}")
            continue
        if family not in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6) or kind == socket.SOCK_RAW != 3 and family:
            if (family, kind) != (socket.AF_UNIX, socket.SOCK_RAW):  # the kernel makes it a datagram socket
                breach(f"family {family} kind {kind}")
predict()
