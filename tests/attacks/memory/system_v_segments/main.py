import ctypes
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
while True:
    segment = libc.shmget(0, ctypes.c_size_t(8 * 2**20), 0o1600)
    if segment < 0:
        sys.exit(1)
    address = libc.shmat(segment, None, 0)
    ctypes.memset(address, 1, 8 * 2**20)
    libc.shmdt(ctypes.c_void_p(address))
