import os
import site
import sysconfig

from inside import must_be, must_fail, predict

must_be("no module of an earlier run", not os.path.exists("/tmp/.local"))
for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("stdlib"), sysconfig.get_path("scripts")}:
    must_fail(folder, open, f"{folder}/planted.pth", "w")
for folder in ("/etc", "/usr/lib", "/app/program/ingestion", "/app/submission"):
    must_fail(folder, open, f"{folder}/sitecustomize.py", "w")
user = site.getusersitepackages()
os.makedirs(user)
open(f"{user}/planted.pth", "w").write("import os")
predict()
