import ctypes
import mmap
import os
import platform
import signal

from inside import LIBC, held, must_be, predict

if platform.machine() == "x86_64":
    # 32-bit: mov eax, 20 (getpid); int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    for what, attempt in (("int 0x80", function), ("x32", lambda: LIBC.syscall(ctypes.c_long(0x40000000 + 39)))):
        pid = os.fork()
        if pid == 0:
            os._exit(0 if attempt() > 0 else 1)
        status = os.waitpid(pid, 0)[1]
        ended = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGSYS, signal.SIGSEGV, signal.SIGKILL)
        must_be(f"{what}: status {status}", ended or os.WEXITSTATUS(status) == 1)
else:
    held("no other instruction set")
predict()
