import os

from inside import OUT

for number, target in enumerate(("/etc/passwd", "/proc/self/mem", "../../tiny/tiny_test.solution", "/tmp", "tiny_valid.predict")):
    os.symlink(target, f"{OUT}/tiny_test_{number}.predict")
    open(f"{OUT}/tiny_valid_{number}.predict", "w").write("0.5\n" * 3)
