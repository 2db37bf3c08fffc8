import os
import time

from inside import IN, must_be, must_fail

must_be("the budget is told", os.environ["PODIUM_TIME_BUDGET"] == "1.5")
os.environ["PODIUM_TIME_BUDGET"] = "1000000"
must_fail("changing the info file", open, f"{IN}/tiny_public.info", "a")
time.sleep(1000)
