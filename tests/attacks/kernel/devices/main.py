import os
import stat

from inside import breach, held, must_fail, predict

for folder in ("/tmp", "/app/output", "/dev/shm", "/dev"):
    must_fail(f"block device in {folder}", os.mknod, f"{folder}/disk", stat.S_IFBLK | 0o666, os.makedev(254, 0))
    must_fail(f"memory device in {folder}", os.mknod, f"{folder}/memory", stat.S_IFCHR | 0o666, os.makedev(1, 1))
for name in ("mem", "kmsg", "fuse", "kvm", "vsock", "vhost-vsock", "net/tun", "loop-control", "vda", "sda"):
    must_fail(name, os.open, f"/dev/{name}", os.O_RDWR)
ALLOWED = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console"}
for name in os.listdir("/dev"):
    mode = os.lstat(f"/dev/{name}").st_mode
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and name not in ALLOWED):
        breach(name)
held("no other device")
predict()
