import glob
import os

from inside import held, must_be, must_fail, predict

for path in ("/etc/shadow", "/etc/sudoers", "/proc/1/root/etc/shadow", "/etc/ssh/ssh_host_rsa_key", "/etc/machine-id"):
    must_fail(path, lambda path=path: open(path).read() or 1 / 0 if os.path.getsize(path) else open("/nowhere"))
for pattern in ("/root/*", "/home/*", "/tmp/podium-run-*", "/var/lib/docker/*", "/mnt/*", "/media/*", "/srv/*", "/boot/*"):
    must_be(f"{pattern}: {glob.glob(pattern)[:3]}", not glob.glob(pattern))
must_be(f"/tmp is empty: {os.listdir('/tmp')}", os.listdir("/tmp") == [])
must_be("/dev/shm is empty", os.listdir("/dev/shm") == [])
must_be("/app/output is empty", os.listdir("/app/output") == [])
held("done")
predict()
