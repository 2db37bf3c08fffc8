import os
import socket
import stat

from inside import breach, held, must_fail, predict

for path in ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket",
             "/run/systemd/private", "/dev/log", "/run/podman/podman.sock"):  # fmt: skip
    must_fail(path, socket.socket(socket.AF_UNIX).connect, path)
abstract = [line.split()[-1] for line in open("/proc/net/unix").read().splitlines()[1:] if " @" in line]
held("no abstract socket") if not abstract else breach(str(abstract))
for folder, folders, files in os.walk("/"):
    if folder == "/":
        folders[:] = [one for one in folders if one not in ("proc", "sys", "usr", "opt")]
    for name in files:
        mode = os.lstat(f"{folder}/{name}").st_mode
        if stat.S_ISSOCK(mode) or stat.S_ISBLK(mode):
            breach(f"{folder}/{name}")
predict()
