import ctypes

from inside import must_be_denied, predict

buffer = ctypes.create_string_buffer(4096)
here = ctypes.c_char_p(b"/tmp")
for name, arguments in {
    "acct": (here,), "add_key": (here, here, buffer, 4, -1), "adjtimex": (buffer,), "bpf": (0, buffer, 128),
    "chroot": (here,), "clock_settime": (0, buffer), "clone3": (buffer, 88), "fanotify_init": (0, 0),
    "fsopen": (ctypes.c_char_p(b"tmpfs"), 0), "init_module": (buffer, 10, here), "io_setup": (1, buffer),
    "io_uring_setup": (8, buffer), "iopl": (3,), "kcmp": (1, 1, 0, 0, 0), "kexec_load": (0, 0, 0, 0),
    "keyctl": (0, -3, 1), "memfd_secret": (0,), "mount": (here, here, ctypes.c_char_p(b"tmpfs"), 0, 0),
    "move_pages": (0, 0, 0, 0, 0, 0), "name_to_handle_at": (-100, here, buffer, buffer, 0),
    "open_by_handle_at": (3, buffer, 0), "open_tree": (-100, here, 1), "perf_event_open": (buffer, 0, -1, -1, 0),
    "pidfd_getfd": (3, 0, 0), "pivot_root": (here, here), "process_vm_readv": (1, buffer, 1, buffer, 1, 0),
    "process_vm_writev": (1, buffer, 1, buffer, 1, 0), "ptrace": (0, 0, 0, 0), "quotactl": (0, 0, 0, 0),
    "reboot": (0xFEE1DEAD, 672274793, 0), "request_key": (here, here, 0, -3), "sethostname": (here, 4),
    "setns": (0, 0), "settimeofday": (buffer, 0), "swapon": (here, 0), "syslog": (3, buffer, 4096),
    "umount2": (here, 2), "unshare": (0x10000000,), "userfaultfd": (1,),
}.items():  # fmt: skip
    must_be_denied(name, *arguments)
predict()
