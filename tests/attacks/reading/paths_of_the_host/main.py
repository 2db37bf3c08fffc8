import os
import re

from inside import must_be, predict

text = open("/proc/self/mountinfo").read() + open("/proc/self/cgroup").read()
must_be("no home or checkout", not re.search(r"/(root|home|work)/", text))
must_be("no archive or dataset by its own name", "attack-" not in text and "tiny" not in text)
must_be("one run alone", len(set(re.findall(r"podium-run-[^/ ]+", text))) <= 1)
os.stat("/proc/self/root")
predict()
