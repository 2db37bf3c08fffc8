import glob
import os

from inside import held, must_fail, predict

for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/vm/overcommit_memory", "/proc/sysrq-trigger",
             "/proc/self/uid_map", "/proc/self/gid_map", "/proc/self/setgroups", "/proc/1/oom_score_adj",
             "/proc/self/attr/current", "/sys/kernel/mm/transparent_hugepage/enabled"):  # fmt: skip
    must_fail(path, lambda path=path: os.write(os.open(path, os.O_WRONLY), b"-1"))
for path in glob.glob("/sys/fs/cgroup/*/*limit*")[:10] + glob.glob("/sys/fs/cgroup/**/cgroup.procs", recursive=True)[:10]:
    must_fail(path, lambda path=path: os.write(os.open(path, os.O_WRONLY), b"1"))
for path in glob.glob("/sys/fs/cgroup/**/release_agent", recursive=True):
    must_fail(path, lambda path=path: os.write(os.open(path, os.O_WRONLY), b"/tmp/x"))
held("done")
predict()
