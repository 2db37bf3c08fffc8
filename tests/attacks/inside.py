"""Lies beside every hostile program in its sandbox: honest predictions, and a ledger of what was tried.

A line `held: ...` says that an attempt was refused, `BREACH: ...` that it went through. Standard library alone.
"""

import ctypes
import errno
import os
import platform

OUT, IN = "/app/output", "/app/input_data"
ROWS = {"valid": 3, "test": 4}
LIBC = ctypes.CDLL(None, use_errno=True)
# Numbers of system calls on x86-64, and on arm64 where they differ in kind; None where there is no such call.
CALLS = {
    "x86_64": {
        "add_key": 248, "bpf": 321, "chroot": 161, "clock_settime": 227, "clone": 56, "clone3": 435,
        "fanotify_init": 300, "fsopen": 430, "init_module": 175, "io_setup": 206, "io_uring_setup": 425,
        "kcmp": 312, "kexec_load": 246, "keyctl": 250, "memfd_secret": 447, "mount": 165, "move_pages": 279,
        "name_to_handle_at": 303, "open_by_handle_at": 304, "open_tree": 428, "perf_event_open": 298,
        "pidfd_getfd": 438, "pidfd_open": 434, "pivot_root": 155, "process_vm_readv": 310,
        "process_vm_writev": 311, "ptrace": 101, "quotactl": 179, "reboot": 169, "request_key": 249,
        "setns": 308, "settimeofday": 164, "swapon": 167, "syslog": 103, "umount2": 166, "unshare": 272,
        "userfaultfd": 323, "iopl": 172, "acct": 163, "sethostname": 170, "adjtimex": 159,
    },
    "aarch64": {
        "add_key": 217, "bpf": 280, "chroot": 51, "clock_settime": 112, "clone": 220, "clone3": 435,
        "fanotify_init": 262, "fsopen": 430, "init_module": 105, "io_setup": 0, "io_uring_setup": 425,
        "kcmp": 272, "kexec_load": 104, "keyctl": 219, "memfd_secret": 447, "mount": 40, "move_pages": 239,
        "name_to_handle_at": 264, "open_by_handle_at": 265, "open_tree": 428, "perf_event_open": 241,
        "pidfd_getfd": 438, "pidfd_open": 434, "pivot_root": 41, "process_vm_readv": 270,
        "process_vm_writev": 271, "ptrace": 117, "quotactl": 60, "reboot": 142, "request_key": 218,
        "setns": 268, "settimeofday": 170, "swapon": 224, "syslog": 116, "umount2": 39, "unshare": 97,
        "userfaultfd": 282, "iopl": None, "acct": 89, "sethostname": 161, "adjtimex": 171,
    },
}  # fmt: skip


def predict(number=None, value="0.5"):
    """Write complete predictions of both parts, each renamed into place."""
    for part, rows in ROWS.items():
        stem = f"tiny_{part}" + ("" if number is None else f"_{number:03d}")
        with open(f"{OUT}/.{stem}", "w") as file:
            file.write(f"{value}\n" * rows)
        os.replace(f"{OUT}/.{stem}", f"{OUT}/{stem}.predict")


def held(what):
    """Note that an attempt was refused."""
    print(f"held: {what}", flush=True)


def breach(what):
    """Note that an attempt went through."""
    print(f"BREACH: {what}", flush=True)


def must_fail(what, function, *arguments, **options):
    """Try something that an operating system refuses by an OSError; whatever else it gives is a breach."""
    try:
        result = function(*arguments, **options)
    except (OSError, ValueError) as error:
        held(f"{what}: {error}")
    else:
        breach(f"{what} gave {result!r}")


def must_be(what, condition):
    """Note whether something is as it should be."""
    (held if condition else breach)(what)


def call(name, *arguments):
    """(result, errno) of a system call by its number."""
    number = CALLS[platform.machine()][name]
    if number is None:
        return -1, errno.ENOSYS
    ctypes.set_errno(0)
    longs = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    longs += [ctypes.c_long(0)] * (6 - len(longs))
    return LIBC.syscall(ctypes.c_long(number), *longs), ctypes.get_errno()


def must_be_denied(name, *arguments):
    """A system call must be refused by the filter (EPERM, ENOSYS) or for want of rights (EACCES)."""
    result, error = call(name, *arguments)
    if result == -1 and error in (errno.EPERM, errno.ENOSYS, errno.EACCES):
        held(f"{name}: {errno.errorcode[error]}")
    else:
        breach(f"{name} gave {result}, {errno.errorcode.get(error, error)}")
