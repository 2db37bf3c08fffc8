import stat
import zipfile

MAIN = '''
import glob, os, shutil, subprocess
from inside import held, must_be, predict
must_be("the bit was dropped", not any(os.stat(n).st_mode & 0o6000 for n in glob.glob("/app/submission/*")))
shutil.copy(shutil.which("id"), "/tmp/id")
os.chmod("/tmp/id", 0o6755)
must_be("own program", subprocess.run(["/tmp/id", "-u"], capture_output=True, text=True).stdout.strip() != "0")
status = open("/proc/self/status").read()
must_be("no new privileges", "NoNewPrivs:\\t1" in status)
found = [n for n in glob.glob("/usr/bin/*") + glob.glob("/usr/sbin/*")
         if os.path.exists(n) and os.stat(n).st_mode & 0o4000]
for name in ("su", "mount", "sudo", "pkexec", "newgrp"):
    if shutil.which(name):
        subprocess.run([name, "-c", "id -u"] if name == "su" else [name], stdin=subprocess.DEVNULL, timeout=20)
held(f"{len(found)} programs of the system with the bit")
predict()
'''


def build(archive):
    from tests.attacks.cases import HERE

    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("metadata", "command: python3 $program/main.py\n")
        file.writestr("main.py", MAIN)
        file.write(HERE / "inside.py", "inside.py")
        entry = zipfile.ZipInfo("root-shell")
        entry.external_attr = (stat.S_IFREG | 0o6755) << 16
        file.writestr(entry, b"#!/bin/sh\nid -u\n")
