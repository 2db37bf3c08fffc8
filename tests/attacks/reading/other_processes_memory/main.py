import os

from inside import breach, held, predict

for pid in [one for one in os.listdir("/proc") if one.isdigit() and int(one) != os.getpid()]:
    for name in ("mem", "environ", "maps", "io", "auxv", "syscall", "stack", "pagemap", "fd/0", "cwd", "root", "exe"):
        path = f"/proc/{pid}/{name}"
        try:
            given = os.readlink(path) if name in ("cwd", "root", "exe", "fd/0") else os.open(path, os.O_RDWR)
            breach(f"{path} gives {given}")
        except OSError:
            pass
held("looked")
predict()
