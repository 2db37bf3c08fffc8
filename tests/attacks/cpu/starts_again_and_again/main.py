import os
import sys

if os.fork():
    os.wait()
try:
    os.setsid()
except OSError:
    pass
os.execv(sys.executable, [sys.executable, "-S", *sys.argv])
