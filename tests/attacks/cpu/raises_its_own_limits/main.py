import os
import resource

from inside import must_fail, predict

must_fail("nice", os.nice, -5)
must_fail("priority", os.setpriority, os.PRIO_PROCESS, 0, -5)
must_fail("real-time", os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(10))
must_fail("files", resource.setrlimit, resource.RLIMIT_NOFILE, (1_000_000, 1_000_000))
must_fail("file size", resource.setrlimit, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
must_fail("core size", resource.setrlimit, resource.RLIMIT_CORE, (1_000_000, 1_000_000))
must_fail("locked memory", resource.setrlimit, resource.RLIMIT_MEMLOCK, (2**40, 2**40))
must_fail("prlimit", resource.prlimit, os.getppid(), resource.RLIMIT_NOFILE, (1_000_000, 1_000_000))
must_fail("out of memory score", os.write, os.open("/proc/self/oom_score_adj", os.O_WRONLY), b"-1000")
predict()
